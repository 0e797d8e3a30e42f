"""What a command prints where no terminal is: whole cells, for the programs that read them."""

import os
import subprocess
import sys

WIDE = "from lake.cli import options; options.out.print(options.table(['', ''], [['a ' * 60, 'b']]))"


def lines(**variables: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | variables
    done = subprocess.run([sys.executable, "-c", WIDE], env=environment, capture_output=True, text=True, check=True)
    return len(done.stdout.strip().splitlines())


def test_a_wide_row_is_one_line() -> None:
    assert lines() == 1


def test_columns_says_how_wide_a_line_is() -> None:
    assert lines(COLUMNS="80") > 1
