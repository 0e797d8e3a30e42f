"""In what a template differs from another one: a line per value that only one of them has."""

import json
import re
from collections.abc import Iterator
from typing import Any

from lake.aws.part import LAKE_TAG

ENV = "<env>"


def difference(name: str, base: str, template: dict[str, Any], base_template: dict[str, Any]) -> str:
    """Lines "- path = value" of the base and "+ path = value" of the other one; names of environments are left out."""
    mine, others = set(leaves(unnamed(name, template))), set(leaves(unnamed(base, base_template)))
    lines = [(line, "-") for line in others - mine] + [(line, "+") for line in mine - others]
    return "".join(f"{sign} {line}\n" for line, sign in sorted(lines)) or "the same\n"


def unnamed(name: str, template: dict[str, Any]) -> Any:
    """The template with <env> where the environment's name is a part of another name."""
    tag = json.dumps({"Key": LAKE_TAG, "Value": name})
    text = json.dumps(template).replace(tag, tag.replace(name, ENV))
    return json.loads(re.sub(rf"(lake[-/_]){name}\b", rf"\1{ENV}", text))


def leaves(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for index, one in enumerate(value):
            yield from leaves(one, f"{path}[{index}]")
    else:
        yield f"{path} = {json.dumps(value)}"
