"""How long policies and values may be. White space of a policy does not count."""

import json
from typing import Any

from tests.emulated_account.errors import Refused


def size(document: Any) -> int:
    """Of a policy, as IAM counts."""
    return len(json.dumps(document, separators=(",", ":")))


def check_size(what: str, found: int, most: int) -> None:
    """Refused above the most."""
    if found > most:
        raise Refused(f"{what} has {found} bytes, more than the maximum of {most} (HandlerErrorCode: InvalidRequest)")
