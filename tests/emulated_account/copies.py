"""A copy of the account, to try in: a fork of this process, with the account's memory and its server on the same port.

One deployment serves many trials: none sees what another did.
"""

import json
import os
from collections.abc import Callable
from typing import Any, NoReturn

from tests.emulated_account.account import Door


def in_copy(door: Door, act: Callable[[], Any]) -> Any:
    """What the act returns, as JSON carries it. RuntimeError when it fails, or meets what is not emulated."""
    reader, writer = os.pipe()
    door.close()
    copy = os.fork()
    if copy == 0:
        _try(door, act, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(copy, 0)
    door.open()
    result, failure = json.loads(text)
    if failure:
        raise RuntimeError(failure)
    return result


def _try(door: Door, act: Callable[[], Any], writer: int) -> NoReturn:
    try:
        door.open()
        outcome = [act(), "\n".join(door.account.journal.take())]
    except BaseException as failure:
        outcome = [None, repr(failure)]
    with os.fdopen(writer, "w") as pipe:
        json.dump(outcome, pipe)
    os._exit(0)
