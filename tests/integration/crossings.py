"""What loses, doubles or reorders rows elsewhere, done by real sessions in the database `lab` (F1 to F9)."""

from tests.integration.lab import Lab

TEXT = "(SELECT string_agg(md5((i * {seed})::text), '') FROM generate_series(1, 940) i)"  # 30,080 characters
DIGITS = "translate(t, 'abcdef', '123456')::numeric"
LARGE = (
    f"SELECT {{seed}}, 0, t, jsonb_build_object('k', t), t::bytea, string_to_array(t, 'a'), {DIGITS} FROM {TEXT} s(t)"
)


def happen(lab: Lab) -> None:
    """Everything below, in this order; returns when the lake holds it."""
    for happens in (
        crossing,
        one_large_transaction,
        messages_of_the_application,
        keys_that_change,
        keys_with_separators,
        large_values,
        deletes,
        nulls_beside_defaults,
    ):
        happens(lab)
    lab.drain()


def crossing(lab: Lab) -> None:
    lab.transaction("INSERT INTO hot VALUES (1, 'first')", "INSERT INTO moving VALUES (1, 'n', 'first')")
    lab.cross("hot", 1, "INSERT INTO hot VALUES (1, 'second')")
    lab.cross("moving", 1, "INSERT INTO moving VALUES (1, 's', 'second')")


def one_large_transaction(lab: Lab) -> None:
    """F4: all its changes have one commit time."""
    updates = [f"UPDATE hot SET v = 'u{n}' WHERE id BETWEEN 1001 AND 2000" for n in range(1, 6)]
    lab.transaction(
        "INSERT INTO hot SELECT i, 'u0' FROM generate_series(1001, 2000) i",
        *updates,
        "DELETE FROM hot WHERE id BETWEEN 1001 AND 2000 AND id % 2 = 1",
    )


def keys_that_change(lab: Lab) -> None:
    lab.transaction("INSERT INTO hot SELECT i, 'k' || i FROM generate_series(2001, 2008) i")
    lab.transaction(  # a chain, a swap through a third key, and a shift of four neighbours
        "UPDATE hot SET id = 2011 WHERE id = 2001",
        "UPDATE hot SET id = 2021 WHERE id = 2011",
        "UPDATE hot SET id = -1 WHERE id = 2002",
        "UPDATE hot SET id = 2002 WHERE id = 2003",
        "UPDATE hot SET id = 2003 WHERE id = -1",
        *[f"UPDATE hot SET id = {key + 1} WHERE id = {key}" for key in (2008, 2007, 2006, 2005)],
    )
    again = [
        statement
        for turn in range(100)
        for statement in ("DELETE FROM hot WHERE id = 2004", f"INSERT INTO hot VALUES (2004, 'turn {turn}')")
    ]
    lab.transaction(*again)


def messages_of_the_application(lab: Lab) -> None:
    """No table has them, and nothing waits for them."""
    emit = "SELECT pg_logical_emit_message({}, E'{}', repeat('x', {}))"
    for prefix, size in {"": 1, "app": 2_000_000, "app\\nof two lines": 1}.items():
        lab.transaction(emit.format("false", prefix, size), emit.format("true", prefix, size))


def keys_with_separators(lab: Lab) -> None:
    lab.transaction(
        "INSERT INTO pairs VALUES ('a,k2:b', 'c', 1, 'one'), ('a', 'b,k2:c', 1, 'other'), ('ключ,:', '日本', 2, 'u'), "
        "('\"', '\\', 3, 'quotes'), ('', '', 4, 'empty'), ('x', 'y', 5, 'swap 5'), ('y', 'x', 5, 'swap 5 back'), "
        "('w,b:y', 'z', 7, 'joined by Hudi'), ('w', 'y,b:z', 7, 'to the same text')"
    )
    lab.transaction(
        "DELETE FROM pairs WHERE a = 'a,k2:b'",
        "UPDATE pairs SET v = 'changed' WHERE a IN ('a', '')",
        "UPDATE pairs SET n = 6 WHERE a = 'x'",
        "UPDATE pairs SET a = 'x', b = 'y' WHERE a = 'y'",
        "UPDATE pairs SET a = 'y', b = 'x', n = 5 WHERE n = 6",
    )


def large_values(lab: Lab) -> None:
    """F8: large values that a change leaves alone, in one batch with changes that do not."""
    lab.transaction(*[f"INSERT INTO big {LARGE.format(seed=key)}" for key in (1, 2, 3)])
    lab.transaction("UPDATE big SET n = 1 WHERE id IN (1, 2)")
    lab.transaction(f"UPDATE big SET n = 2, t = {TEXT.format(seed=77)} WHERE id = 1")
    lab.transaction("UPDATE big SET n = 3 WHERE id = 1")
    lab.transaction(f"INSERT INTO big {LARGE.format(seed=4)}", "UPDATE big SET n = 9 WHERE id = 4")
    lab.transaction("DELETE FROM big WHERE id = 3")
    # A key's bytes begin with the id of its schema, which depends on earlier tests: a few keys may share a partition.
    lab.transaction("INSERT INTO big (id) SELECT generate_series(101, 130)")


def deletes(lab: Lab) -> None:
    lab.transaction(
        "INSERT INTO bare SELECT i, '2024-02-29', i * 7, 'name ' || i, i * 1.25, 'n' FROM generate_series(1, 3) i",
        "INSERT INTO moving SELECT i, 'n', 'v' || i FROM generate_series(11, 13) i",
        "INSERT INTO gone SELECT i, 'name ' || i, 'secret ' || i FROM generate_series(1, 4) i",
    )
    lab.transaction("DELETE FROM bare WHERE id IN (1, 2)", "DELETE FROM gone WHERE id IN (1, 2)")
    lab.transaction(
        "INSERT INTO bare VALUES (2, '2025-01-01', 5, 'again', 0, NULL)",
        "INSERT INTO gone VALUES (2, 'again', 'new secret')",
    )
    for place in ("s", "n", "e"):
        lab.transaction(f"UPDATE moving SET part = '{place}', v = v || '{place}' WHERE id IN (11, 12)")
    lab.transaction("DELETE FROM moving WHERE id IN (12, 13)", "UPDATE gone SET name = 'changed' WHERE id = 3")


def nulls_beside_defaults(lab: Lab) -> None:
    names = lab.names("defaults")[1:]
    lab.transaction(
        f"INSERT INTO defaults VALUES (1{', NULL' * len(names)})",
        "INSERT INTO defaults (id) VALUES (2)",
        "INSERT INTO defaults (id) VALUES (3)",
        f"UPDATE defaults SET {', '.join(f'{name} = NULL' for name in names)} WHERE id IN (3, 10)",
    )
