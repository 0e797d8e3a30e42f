"""The pages of docs/runbooks: their blocks of commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lake.config.environment import PROJECT

FOLDER = PROJECT / "docs/runbooks"
BLOCK = re.compile(r"^ *```sh( here)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(lake [^`\n]+)`")
QUOTED = re.compile(r"\"(?:\\.|[^\"])*\"|'[^']*'")
# Where a shell begins another command.
PARTS = re.compile(r"\||&&|;|\bdo\b")


@dataclass(frozen=True)
class Block:
    """One block of a page; here: it is run against a local lake."""

    page: str
    here: bool
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command."""
        lines = [part.strip() for line in self.text.splitlines() for part in split(line)]
        return [shlex.split(line.removeprefix("until ").strip()) for line in lines if line and line != "done"]


def pages() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def blocks(page: Path) -> list[Block]:
    return [Block(page.stem, bool(found[1]), found[2]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def inline(page: Path) -> list[list[str]]:
    """The commands that stand in a sentence, with their arguments."""
    return [shlex.split(found[1]) for found in INLINE.finditer(page.read_text(encoding="utf-8"))]


def split(line: str) -> Iterator[str]:
    """The commands of a line; what is quoted stays whole."""
    held, places = QUOTED.findall(line), count()
    outside = QUOTED.sub(lambda _: f"\0{next(places)}\0", line)
    for part in PARTS.split(outside):
        yield re.sub(r"\0(\d+)\0", lambda found: held[int(found[1])], part)
