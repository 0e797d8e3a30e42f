"""What CloudFormation takes at most of a template. Source: its user guide, "Understand CloudFormation quotas"."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import Refused

BODY_BYTES = 51_200  # of a template inside the request
OBJECT_BYTES = 1_000_000  # of a template on S3
NUMBERS = {"Resources": 500, "Parameters": 200, "Outputs": 200, "Mappings": 200}
NAME_LENGTH = 255  # of anything that a template declares
DESCRIPTION_BYTES = 1024
PARAMETER_BYTES = 4096
RESPONSE_BYTES = 4096  # of a custom resource
STACK_NAME = r"[a-zA-Z][-a-zA-Z0-9]{0,127}"


def check_body(text: str) -> None:
    if len(text.encode()) > BODY_BYTES:
        raise Refused(
            f"1 validation error detected: Value at 'templateBody' failed to satisfy constraint: "
            f"Member must have length less than or equal to {BODY_BYTES}"
        )


def check_object(text: str) -> None:
    if len(text.encode()) > OBJECT_BYTES:
        raise Refused(f"Template may not exceed {OBJECT_BYTES} bytes in size.")


def check_content(content: Mapping[str, Any]) -> None:
    """The numbers of what a template declares, and the lengths of its names."""
    for section, most in NUMBERS.items():
        found = content.get(section, {})
        if len(found) > most:
            kind = section.lower()
            raise Refused(
                f"Template format error: Number of {kind}, {len(found)}, is greater than maximum allowed, {most}"
            )
        for name in found:
            if not name.isalnum() or len(name) > NAME_LENGTH:
                raise Refused(f"Template format error: {section} name {name} is non alphanumeric or too long.")
    if len(content.get("Description", "").encode()) > DESCRIPTION_BYTES:
        raise Refused(f"Template format error: Description is longer than {DESCRIPTION_BYTES} bytes")


def check_parameters(values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if len(value.encode()) > PARAMETER_BYTES:
            raise Refused(f"Parameter {name} is longer than {PARAMETER_BYTES} bytes")


def check_response(attributes: Mapping[str, Any]) -> None:
    """What the function of a custom resource answers."""
    if len(json.dumps(attributes).encode()) > RESPONSE_BYTES:
        raise Refused("Response object is too long.")
