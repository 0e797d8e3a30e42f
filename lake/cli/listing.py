"""Rows for people: a table where it fits, otherwise a list. No name, address or reason is ever cut."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

Cell = str | Text
GAP = "  "
NUMBER = re.compile(r"-?[\d,]+(\.\d+)?")


class Listing:
    """Rows under named columns. Columns without a value are left out.

    The last column is a note if it has no name: where the line has no room for it, it stands below its row. A table
    that is too wide becomes a list: the first cell as a heading, then each value with the name of its column.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        cells = [[_literal(cell) for cell in row] for row in rows]
        kept = [place for place in range(len(columns)) if place == 0 or any(row[place].plain for row in cells)]
        self._columns = [columns[place] for place in kept]
        self._rows = [[row[place] for place in kept] for row in cells]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if self._width(self._all) <= width:
            return self._table(self._all)
        beside = len(self._columns) - 1
        if self._has_notes and self._width(beside) <= width:
            return self._table(beside, width)
        return self._list(width)

    @property
    def _all(self) -> int:
        return len(self._columns)

    @property
    def _has_notes(self) -> bool:
        return len(self._columns) > 1 and not self._columns[-1]

    @cached_property
    def _widths(self) -> list[int]:
        cells = [[row[place].plain for row in self._rows] for place in range(self._all)]
        return [max(map(cell_len, [name, *own])) for name, own in zip(self._columns, cells, strict=True)]

    def _width(self, columns: int) -> int:
        return sum(self._widths[:columns]) + len(GAP) * (columns - 1)

    def _table(self, columns: int, width: int = 0) -> Iterator[RenderableType]:
        """The first columns of all rows; what is left of a row is its note, which stands below it."""
        if any(self._columns[:columns]):
            yield self._line([Text(name, "bold") for name in self._columns[:columns]])
        for row in self._rows:
            yield self._line(row[:columns])
            for note in row[columns:]:
                yield from _wrapped(note.plain, width, note.style)

    def _line(self, cells: Sequence[Text]) -> Text:
        line = Text(GAP).join(self._padded(place, cell) for place, cell in enumerate(cells))
        line.rstrip()
        return line

    def _padded(self, place: int, cell: Text) -> Text:
        room = Text(" " * (self._widths[place] - cell_len(cell.plain)))
        return room + cell if self._is_number[place] else cell + room

    @cached_property
    def _is_number(self) -> list[bool]:
        cells = [[row[place].plain for row in self._rows] for place in range(self._all)]
        return [
            place > 0 and all(NUMBER.fullmatch(one) for one in own if one not in ("", "-"))
            for place, own in enumerate(cells)
        ]

    def _list(self, width: int) -> Iterator[RenderableType]:
        for heading, *values in self._rows:
            yield heading
            named = [f"{name}: {cell.plain}" for name, cell in zip(self._columns[1:], values, strict=True) if name]
            told = [text for text, cell in zip(named, values, strict=False) if cell.plain]
            yield from _wrapped("; ".join(told), width)
            if self._has_notes:
                yield from _wrapped(values[-1].plain, width, values[-1].style)


def _literal(cell: Cell) -> Text:
    """A text is taken literally, never as markup."""
    return Text(cell) if isinstance(cell, str) else cell


def _wrapped(text: str, width: int, style: object = "") -> Iterator[Text]:
    """Lines below a row. A word that is longer than a line stays whole: a terminal breaks it without loss."""
    lines = textwrap.wrap(
        text, width, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        yield Text(line, str(style))
