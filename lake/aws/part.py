"""The base of every part of an AWS environment, and the values that several parts share."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr


class Part(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def refuse_beside(self, key: str, others: Iterable[str]) -> None:
        """ValueError if another key is written together with this one, where it has no effect."""
        written = sorted(self.model_fields_set & set(others))
        if written:
            raise ValueError(f"'{written[0]}' has no effect with {key} | remove {' and '.join(written)}")


def _network(text: str, example: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a network | write an address with its host bits 0, as {example}") from None


def _private_network(text: str) -> str:
    network = _network(text, "10.20.0.0/16")
    if not network.is_private:
        raise ValueError(f"'{text}' is public address space | take one of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16")
    if not 16 <= network.prefixlen <= 22:
        raise ValueError(f"'{text}' has no room or too much | AWS allows /16; the subnets need at least /22")
    return text


def _allowed_network(text: str) -> str:
    if _network(text, "203.0.113.0/24").prefixlen < 16:
        raise ValueError(f"'{text}' lets in most of the internet | name the networks of your operators, /16 or smaller")
    return text


def _tag_key(text: str) -> str:
    if text == LAKE_TAG or text.lower().startswith("aws:"):
        raise ValueError(f"the tag '{text}' is taken | the lake and AWS set it themselves: choose another key")
    return text


def _policy(text: str) -> str:
    if not re.fullmatch(rf"(arn:aws[a-z-]*:iam::([0-9]{{12}}|aws):policy/)?({IAM_NAME}/)*{IAM_NAME}", text):
        what = f"'{text}' is neither the name nor the ARN of a policy"
        raise ValueError(f"{what} | write Boundary, developers/Boundary or arn:aws:iam::...:policy/Boundary")
    return text


def overlap(one: str, other: str) -> bool:
    return ipaddress.IPv4Network(one).overlaps(ipaddress.IPv4Network(other))


LAKE_TAG = "lake"  # on all resources, with the name of the environment
TAG_TEXT = r"^[\w .:/=+@-]*$"  # what AWS allows
IAM_NAME = r"[\w+=,.@-]{1,128}"

Count = Annotated[StrictInt, Field(ge=1)]
Cidr = Annotated[StrictStr, AfterValidator(_private_network)]
AllowedNetwork = Annotated[StrictStr, AfterValidator(_allowed_network)]
SubnetId = Annotated[StrictStr, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]
GroupId = Annotated[StrictStr, Field(pattern=r"^sg-[0-9a-f]{8,17}$")]
Memory = Annotated[StrictStr, Field(pattern=r"^[1-9][0-9]*[mg]$")]
PolicyName = Annotated[StrictStr, AfterValidator(_policy)]
# A role of this account, by its name, or its path and name.
Role = Annotated[StrictStr, Field(pattern=r"^([\w+=,.@-]+/)*[\w+=,.@-]{1,64}$")]
TagKey = Annotated[StrictStr, Field(min_length=1, max_length=128, pattern=TAG_TEXT), AfterValidator(_tag_key)]
TagValue = Annotated[StrictStr, Field(max_length=256, pattern=TAG_TEXT)]
