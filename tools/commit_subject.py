"""Refuses a commit whose subject is empty, too long, or followed by text without an empty line.

.venv/bin/python tools/commit_subject.py .git/COMMIT_EDITMSG  # .pre-commit-config.yaml runs it
"""

import sys
from pathlib import Path

LONGEST = 72  # git log --oneline and web pages cut longer ones


def problem(message: str) -> str | None:
    """What is wrong with a message, or None. Lines that begin with '#' are git's own."""
    lines = [line for line in message.strip().splitlines() if not line.startswith("#")]
    subject = lines[0].strip() if lines else ""
    if not subject:
        return "the subject is empty; write what the commit does"
    if len(subject) > LONGEST:
        return f"the subject has {len(subject)} characters, {LONGEST} are allowed; move the rest below an empty line"
    if len(lines) > 1 and lines[1].strip():
        return "the second line is not empty; git takes both lines for the subject"
    return None


def main(path: str) -> int:
    found = problem(Path(path).read_text(encoding="utf-8"))
    if found:
        print(f"commit message: {found}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
