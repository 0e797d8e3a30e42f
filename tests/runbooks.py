"""The pages of docs/runbooks and docs/posts: their blocks of commands, and what these print."""

import doctest
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lake.config.environment import PROJECT
from tests.clocks import HANG_S

FOLDER = PROJECT / "docs/runbooks"
WALKS = PROJECT / "docs/posts"
# A block without a language right below is the output.
BLOCK = re.compile(
    r"^ *```sh( here)?\n(.*?)^ *```$(?:\n+```\n(.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"`(lake [^`\n]+)`")
QUOTED = re.compile(r"\"(?:\\.|[^\"])*\"|'[^']*'")
# Where a shell begins another command.
PARTS = re.compile(r"\||&&|;|\bdo\b")


@dataclass(frozen=True)
class Block:
    """One block of a page; here: it is run against a local lake; output: with "..." for what differs each time."""

    page: str
    here: bool
    text: str
    output: str = ""

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command."""
        whole = self.text.replace("\\\n", " ")
        lines = [part.strip() for line in whole.splitlines() for part in split(line)]
        return [shlex.split(line.removeprefix("until ").strip()) for line in lines if line and line != "done"]


def pages(folder: Path = FOLDER) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(page.stem, bool(one[1]), one[2], one[3] or "") for one in found]


def run_block(block: Block, cwd: Path, environment: dict[str, str]) -> str:
    """What the block prints; fails with all of it unless every command succeeds."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def as_told(block: Block, printed: str) -> bool:
    """Whether this is the page's output: "..." stands for anything, and spaces do not count."""
    how = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return not block.output or doctest.OutputChecker().check_output(block.output, printed, how)


def inline(page: Path) -> list[list[str]]:
    """The commands that stand in a sentence, with their arguments."""
    return [shlex.split(found[1]) for found in INLINE.finditer(page.read_text(encoding="utf-8"))]


def split(line: str) -> Iterator[str]:
    """The commands of a line; what is quoted stays whole."""
    held, places = QUOTED.findall(line), count()
    outside = QUOTED.sub(lambda _: f"\0{next(places)}\0", line)
    for part in PARTS.split(outside):
        yield re.sub(r"\0(\d+)\0", lambda found: held[int(found[1])], part)
