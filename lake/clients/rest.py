"""HTTP questions to services on loopback, past any proxy that the user's environment names."""

import ssl
from collections.abc import Mapping
from functools import cache

import httpx

TIMEOUT_S = 2.0


def answers(url: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> bool:
    """Whether a request is answered with success."""
    try:
        answer = httpx.request(method, url, headers=headers, timeout=TIMEOUT_S, verify=trust(), trust_env=False)
        return answer.is_success
    except httpx.HTTPError:
        return False


@cache
def trust() -> ssl.SSLContext:
    """The authorities of every client in this process: httpx would read them anew for each, longer than it asks."""
    return ssl.create_default_context()
