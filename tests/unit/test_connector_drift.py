"""What differs between the connector that runs and its definition, setting by setting."""

from lake.operate.connector_commands import Drift, drift


def test_equal_settings_do_not_differ() -> None:
    assert drift("c", {"a": "1"}, {"a": "1"}) == []


def test_a_changed_a_missing_and_a_foreign_setting_are_shown() -> None:
    found = drift("c", {"a": "1", "foreign": "x"}, {"a": "2", "new": "y"})
    assert found == [Drift("c", "a", "1", "2"), Drift("c", "foreign", "x", None), Drift("c", "new", None, "y")]


def test_a_connector_that_is_not_there_lacks_all() -> None:
    assert drift("c", None, {"name": "c"}) == [Drift("c", "name", None, "c")]
