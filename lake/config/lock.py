"""One process at a time, by a lock on a file that ends with the process."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lake.config.errors import LakeError
from lake.config.waiting import wait_until


@contextmanager
def locked(path: Path, otherwise: str) -> Iterator[None]:
    """Holds the lock. Raises LakeError with the text `otherwise` when another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LakeError(otherwise, str(path.parent), "wait for it") from None
        yield


def await_free(path: Path, otherwise: str, within_s: float) -> None:
    """Returns once no other process holds the lock. Makes no file."""
    late = LakeError(otherwise, str(path.parent), "wait for it")
    wait_until(lambda: not path.exists() or not is_locked(path), within_s, late)


def is_locked(path: Path) -> bool:
    """Whether another process holds the lock now."""
    try:
        with locked(path, ""):
            return False
    except LakeError:
        return True
