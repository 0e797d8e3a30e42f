"""tools/commit_subject.py, which git runs on each commit message."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "commit_subject.py"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Add a table\n", ""),
        ("a" * 72 + "\n\nAnd a body of any length " + "b" * 100, ""),
        ("Add a table\n# git's own line\n", ""),
        ("a" * 73, "has 73 characters, 72 are allowed"),
        ("", "is empty"),
        ("\n\nAdd a table", ""),
        ("# git's own line\n", "is empty"),
        ("Add a table\nand another one", "the second line is not empty"),
    ],
)
def test_a_subject(tmp_path: Path, message: str, said: str) -> None:
    (tmp_path / "message").write_text(message)
    done = subprocess.run([sys.executable, str(TOOL), str(tmp_path / "message")], capture_output=True, text=True)
    assert done.returncode == (1 if said else 0)
    assert said in done.stderr
