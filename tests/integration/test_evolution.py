"""ALTER TABLE under a running lake: additions flow, what can't be kept stops its own table, and nothing is lost."""

import psutil
import pytest

from tests.integration.lab import Lab

pytestmark = [pytest.mark.integration, pytest.mark.slow]
REFUSED = {
    "strict": "lab_mor.strict: NOT NULL column must was dropped",
    "retyped": "lab_mor.retyped: column amount is int in the lake and arrives as string",
}
STOPPED_WITHIN = "the table does not stop"


@pytest.fixture(scope="module")
def grown(lab: Lab) -> Lab:
    """A column more in one batch with rows that lack it, and a wider type, without a restart."""
    job = psutil.Process(lab.stack.supervisors["stream"].state().pid)
    lab.transaction("INSERT INTO grown VALUES (4, 4)")
    lab.transaction("ALTER TABLE grown ADD note text", "INSERT INTO grown VALUES (5, 5, 'five')")
    lab.transaction("UPDATE grown SET note = 'one' WHERE id = 1")
    lab.drain()
    lab.transaction("ALTER TABLE grown ALTER amount TYPE bigint", "INSERT INTO grown VALUES (6, 1099511627776, 'wide')")
    lab.transaction("ALTER TABLE grown DROP note", "UPDATE grown SET amount = 22 WHERE id = 2")
    lab.drain()
    assert job.is_running(), "the streaming job was not started again"
    return lab


def test_what_flows(grown: Lab) -> None:
    assert grown.differences("grown") == {}
    for kind in ("cow", "mor"):
        rows = {row["id"]: (row["amount"], row["note"]) for row in grown.stored("grown", kind).collect()}
        assert rows == {
            1: (1, "one"),
            2: (22, None),
            3: (3, None),
            4: (4, None),
            5: (5, "five"),
            6: (1099511627776, "wide"),
        }


@pytest.mark.parametrize("name", ["lab_cow.grown", "lab_mor.grown_rt", "lab_mor.grown_ro"])
def test_the_metastore_knows_the_column_and_the_type(grown: Lab, name: str) -> None:
    kinds = grown.catalogued(name)
    assert (kinds["amount"], kinds["note"]) == ("bigint", "string")


@pytest.fixture(scope="module")
def stopped(grown: Lab) -> Lab:
    grown.transaction(
        "ALTER TABLE strict DROP must", "INSERT INTO strict VALUES (4)", "DELETE FROM strict WHERE id = 3"
    )
    grown.transaction(
        "ALTER TABLE retyped ALTER amount TYPE text",
        "UPDATE retyped SET amount = '22' WHERE id = 2",
        "INSERT INTO retyped VALUES (4, 'four'), (5, 'five')",
        "DELETE FROM retyped WHERE id IN (3, 5)",
    )
    for table in REFUSED:
        grown.until(lambda name=f"lab_mor.{table}": grown.facts(name).get("state") == "stopped", STOPPED_WITHIN)  # type: ignore[misc]
    return grown


@pytest.mark.parametrize("table", REFUSED)
def test_what_can_not_be_kept_stops_the_table_by_name(stopped: Lab, table: str) -> None:
    facts = stopped.facts(f"lab_mor.{table}")
    assert REFUSED[table] in facts["reason"]
    column = {"strict": "must", "retyped": "amount"}[table]
    rows = stopped.stored(table, "mor").where("__deleted = 'false'").collect()
    assert {row["id"]: row[column] for row in rows} == {1: 1, 2: 2, 3: 3}  # as they were when it stopped


def test_the_others_go_on(stopped: Lab) -> None:
    stopped.transaction("INSERT INTO hot VALUES (3001, 'meanwhile')", "INSERT INTO grown VALUES (7, 7)")
    stopped.drain(*REFUSED)
    assert stopped.live("hot", "mor")[(3001,)] == (3001, "meanwhile")
    assert stopped.differences("grown") == {}


def test_put_right_it_catches_up(stopped: Lab) -> None:
    stopped.transaction(
        "ALTER TABLE strict ADD must int",
        "UPDATE strict SET must = id * 10",
        "ALTER TABLE strict ALTER must SET NOT NULL",
    )
    stopped.transaction(
        "ALTER TABLE retyped ALTER amount TYPE int USING CASE amount WHEN 'four' THEN 44 ELSE amount::int END",
        "UPDATE retyped SET amount = amount",
    )
    stopped.drain()
    assert stopped.differences(*REFUSED) == {}
    assert stopped.source("strict") == {(1,): (1, 10), (2,): (2, 20), (4,): (4, 40)}
    assert stopped.source("retyped") == {(1,): (1, 1), (2,): (2, 22), (4,): (4, 44)}
    for table, gone in (("strict", {3}), ("retyped", {3, 5})):
        assert set(stopped.deleted(table, "mor")) == gone
        assert stopped.facts(f"lab_mor.{table}")["state"] == "running"


def test_a_column_that_came_and_went_is_refused_too(stopped: Lab) -> None:
    """The schema without it has the id it had before: what counts is that the messages are new."""
    stopped.transaction("ALTER TABLE strict ADD brief int NOT NULL DEFAULT 5", "UPDATE strict SET must = must")
    stopped.drain()
    assert stopped.differences("strict") == {}
    stopped.transaction("ALTER TABLE strict DROP brief", "INSERT INTO strict VALUES (5, 50)")
    stopped.until(lambda: stopped.facts("lab_mor.strict").get("state") == "stopped", STOPPED_WITHIN)
    assert "NOT NULL column brief is gone" in stopped.facts("lab_mor.strict")["reason"]
    stopped.transaction("ALTER TABLE strict ADD brief int NOT NULL DEFAULT 5", "UPDATE strict SET must = must")
    stopped.drain()
    assert stopped.differences("strict") == {}
