"""HTTP requests to services on loopback. They ignore the proxies of the user's environment."""

import urllib.request
from collections.abc import Mapping
from http.client import HTTPException

TIMEOUT_S = 2.0


def answers(url: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> bool:
    """True if a request is answered with success."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=dict(headers or {}), method=method), timeout=TIMEOUT_S):
            return True
    except (OSError, HTTPException):
        return False
