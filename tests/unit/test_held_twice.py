"""Which messages of a transaction are left out where two rows hold one key for a moment."""

import random

import pytest

from spark_jobs.events.held_twice import STORED, Event, superfluous


def events(story: str) -> list[Event]:
    """ "c:a d:b": each message with the content of its row, in their order."""
    found = [one.split(":") for one in story.split()]
    return [Event(place, op, 10 + place, 1, content) for place, (op, content) in enumerate(found)]


@pytest.mark.parametrize(
    ("story", "left"),
    [
        ("c:a d:b", ["c:a"]),  # a swap: the late delete is that of the other row
        ("d:a c:b", ["c:b"]),
        ("c:a d:a", []),  # a chain passes by: who had the key before has it now
        ("d:b c:a d:a", ["d:b"]),
        ("c:a d:a c:c d:b", ["c:c"]),
        ("c:a u:b d:b", []),
        ("u:c d:c", ["u:c", "d:c"]),
        ("c:a c:b d:a d:z", ["c:b"]),
    ],
)
def test_what_is_left(story: str, left: list[str]) -> None:
    told = events(story)
    dropped = superfluous(told)
    assert [f"{one.op}:{one.content}" for one in told if one.order not in dropped] == left


def test_a_transaction_goes_on_in_the_next_batch() -> None:
    first = Event(1, "c", 10, STORED, "a")
    assert superfluous([first, Event(2, "d", 12, 1, "b")]) == [2]
    assert superfluous([first, Event(2, "d", 12, 1, "a")]) == [1]


def test_what_is_sent_again() -> None:
    again = [Event(5, "c", 10, 1, "a"), Event(6, "d", 12, 1, "a")]
    assert 6 not in superfluous([Event(1, "c", 10, STORED, "a"), *again])
    assert superfluous([Event(1, "c", 10, 1, "a"), *again]) == [1, 5, 6]


def test_an_altered_column_is_no_other_row() -> None:
    assert superfluous([Event(1, "c", 10, 1, "a"), Event(2, "d", 12, 2, "a and a default")]) == [1]


@pytest.mark.parametrize("seed", range(200))
def test_any_changes_of_keys_under_a_deferred_constraint(seed: int) -> None:
    """Against a model that moves rows as PostgreSQL does, and demands one row per key at the end of a transaction."""
    random.seed(seed)
    rows = {number: number for number in range(4)}  # a row by its name: the key that it has
    lake = dict(rows)
    for number in range(5):
        sent = _transaction(rows, number * 100)
        kept = {order for key in range(6) for order in superfluous([one for at, one in sent if at == key])}
        for key, one in sent:
            if one.order in kept:
                continue
            lake = {row: at for row, at in lake.items() if at != key}
            if one.op == "c":
                lake[int(one.content)] = key
    assert lake == rows


def _transaction(rows: dict[int, int], begin: int) -> list[tuple[int, Event]]:
    """Moves, creates and deletes rows until each key has one row at most; the messages with their keys."""
    sent: list[tuple[int, Event]] = []

    def tell(key: int, op: str, row: int) -> None:
        place = begin + len(sent)
        sent.append((key, Event(place, op, place, 1, str(row))))

    while True:
        for _ in range(random.randint(1, 5)):
            row, key = random.choice([*rows, begin + 50 + len(sent)]), random.randrange(6)
            if row in rows:
                tell(rows.pop(row), "d", row)
            if random.random() < 0.8:
                tell(key, "c", row)
                rows[row] = key
        if len(set(rows.values())) == len(rows) and rows:
            return sent
