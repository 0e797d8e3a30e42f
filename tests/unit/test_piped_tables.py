"""What a command prints where no terminal is: whole cells, for the programs that read them."""

import os
import subprocess
import sys

WIDE, LONG = "'a ' * 60", "'a' * 120"


def lines(cell: str = WIDE, **variables: str) -> list[str]:
    program = f"from lake.cli import options; options.out.print(options.table(['', ''], [[{cell}, 'b']]))"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | variables
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()


def test_a_wide_row_is_one_line() -> None:
    assert len(lines()) == 1


def test_columns_says_how_wide_a_line_is() -> None:
    assert len(lines(COLUMNS="80")) > 1


def test_a_word_that_is_too_long_is_folded_and_not_cut() -> None:
    shown = lines(LONG, COLUMNS="80")
    assert "".join(shown).count("a") == 120
    assert max(map(len, shown)) <= 80
