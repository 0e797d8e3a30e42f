"""HTTP questions to services on loopback, past any proxy that the user's environment names."""

import httpx

TIMEOUT_S = 2.0


def answers(url: str) -> bool:
    """Whether a GET is answered with success."""
    try:
        return httpx.get(url, timeout=TIMEOUT_S, trust_env=False).is_success
    except httpx.HTTPError:
        return False
