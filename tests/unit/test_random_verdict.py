"""When a random database counts as equal, as refused, as told, and as wrong."""

import pytest

from tests.random_databases.database import random_database
from tests.random_databases.verdict import Outcome, judge

SAME, OTHER = {"equal": True, "differences": []}, {"equal": False, "differences": [{"where": "mor"}]}
ONE = {"public.a": "keyed"}


def test_a_database_is_equal_if_each_table_that_was_captured_is() -> None:
    shapes = {**ONE, "public.v": "view"}
    found = judge(Outcome(shapes, {"public.v": "public.v is a view"}, verify={"public.a": SAME}))
    assert (found.kind, found.faults) == ("equal", ())


def test_it_is_refused_if_nothing_was_captured_for_a_reason_that_its_shape_allows() -> None:
    assert judge(Outcome({"public.v": "view"}, {"public.v": "not a table"})).kind == "refused"


@pytest.mark.parametrize("told", [{"public.a": "stopped"}, {"": "the connector failed"}])
def test_a_difference_is_told_or_it_is_wrong(told: dict[str, str]) -> None:
    assert judge(Outcome(ONE, verify={"public.a": OTHER}, told=told)).kind == "told"
    assert judge(Outcome(ONE, verify={"public.a": OTHER}, told={"public.b": "stopped"})).kind == "wrong"


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(ONE, {"public.a": "row-level security may hide rows"}),
        Outcome({"public.v": "view"}, {"public.v": "its name is too long"}),
        Outcome({"public.v": "view"}),
        Outcome(ONE, harmed=("does not have a replica identity",), verify={"public.a": SAME}),
    ],
    ids=["a table is no view", "another reason", "nothing was said", "the application was refused"],
)
def test_what_no_shape_allows_is_wrong(outcome: Outcome) -> None:
    found = judge(outcome)
    assert found.kind == "wrong" and len(found.faults) == 1


def test_a_seed_makes_the_same_database_each_time() -> None:
    one, again, other = random_database(7), random_database(7), random_database(8)
    assert (one.first, one.steps, one.settings) == (again.first, again.steps, again.settings)
    assert one.first != other.first


def test_the_databases_have_what_people_have() -> None:
    many = [random_database(seed) for seed in range(200)]
    shapes = {shape for one in many for shape in [*one.shapes.values(), *one.obstacles.values()]}
    statements = "\n".join(statement for one in many for part in [one.first, *one.steps] for statement in part)
    assert {"keyed", "composite", "generated", "partitioned", "indexed", "keyless", "deferrable", "child"} <= shapes
    assert {"view", "foreign", "unlogged", "row-level security", "materialized view"} <= shapes
    for part in (
        "VACUUM FULL",
        "TRUNCATE",
        "ADD VALUE",
        "RENAME VALUE",
        "DETACH",
        "STORED",
        "VIRTUAL",
        "größe",
        '"select"',
    ):
        assert part in statements
