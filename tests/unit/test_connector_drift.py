"""What differs between the connector that runs and its definition, setting by setting."""

from lake.clients.connect import runs
from lake.deployments.connectors import Difference, differences


def test_equal_settings_do_not_differ() -> None:
    assert differences({"c": {"running": {"a": "1"}, "defined": {"a": "1"}}}) == []


def test_a_changed_a_missing_and_a_foreign_setting_are_shown() -> None:
    found = differences({"c": {"running": {"a": "1", "foreign": "x"}, "defined": {"a": "2", "new": "y"}}})
    assert found == [
        Difference("c", "a", "1", "2"),
        Difference("c", "foreign", "x", None),
        Difference("c", "new", None, "y"),
    ]


def test_a_connector_that_is_not_there_lacks_all() -> None:
    assert differences({"c": {"running": None, "defined": {"name": "c"}}}) == [Difference("c", "name", None, "c")]


def test_a_connector_runs_when_it_and_all_of_its_tasks_do() -> None:
    running, failed = {"state": "RUNNING"}, {"state": "FAILED"}
    assert runs({"connector": running, "tasks": [running]})
    assert not runs({"connector": running, "tasks": [running, failed]})
    assert not runs({"connector": running, "tasks": []})
    assert not runs({})
