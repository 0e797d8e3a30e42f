"""HTTP questions to services on loopback, past any proxy that the user's environment names."""

from collections.abc import Mapping

import httpx

TIMEOUT_S = 2.0


def answers(url: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> bool:
    """Whether a request is answered with success."""
    try:
        return httpx.request(method, url, headers=headers, timeout=TIMEOUT_S, trust_env=False).is_success
    except httpx.HTTPError:
        return False
