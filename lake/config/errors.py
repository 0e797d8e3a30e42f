"""The errors a user can meet: each says what is wrong, where, and what to do now."""

from collections.abc import Iterator
from contextlib import contextmanager


class LakeError(Exception):
    """Something failed; str() is the one line shown to the user."""

    exit_code = 1

    def __init__(self, what: str, where: str, now: str) -> None:
        super().__init__(what, where, now)
        self.what = what
        self.where = where
        self.now = now

    def __str__(self) -> str:
        return " ".join(f"{self.what}; {self.where}; {self.now}".split())


class BadInput(LakeError):
    """The input or its surroundings are wrong; nothing was changed."""

    exit_code = 2


@contextmanager
def in_the_middle(command: str) -> Iterator[None]:
    """Turns BadInput into LakeError once a command has begun its changes.

    BadInput means that nothing was changed, so it is right only before the first change.
    """
    try:
        yield
    except BadInput as error:
        now = f"{error.now}; then run: {command}, which continues from there"
        raise LakeError(f"{error.what}, and part of the work may be done", error.where, now) from None
