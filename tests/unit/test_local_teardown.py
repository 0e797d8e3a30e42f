"""The teardown of a local lake, in folders without services: what goes, what stays, and what is not touched."""

from pathlib import Path

import pytest

from lake.config.environment import load_environment
from lake.config.errors import BadInput, LakeError
from lake.deployments import rebuild as rebuilding
from lake.deployments.local import LocalDeployment
from lake.deployments.teardown import described, plan, teardown

SAID: list[str] = []


def say(line: str) -> None:
    SAID.append(line)


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalDeployment:
    """A lake that is down, with something in its bucket."""
    data = tmp_path / "lake"
    for part in ("postgres", "s3/lake/silver", "rendered"):
        (data / part).mkdir(parents=True)
    (data / "s3/lake/silver/object").write_text("rows")
    (data / "secrets.json").write_text("{}")
    monkeypatch.setenv("LAKE_DATA_DIR", str(data))
    monkeypatch.setenv("LAKE_PORT_BASE", "28900")
    return LocalDeployment(load_environment())


def test_it_shows_what_is_lost(deployment: LocalDeployment) -> None:
    text = "\n".join(described(plan(deployment, False)))
    assert "LOST: the source databases with all their rows" in text
    assert "LOST: bronze and silver" in text


def test_nothing_is_left(deployment: LocalDeployment, tmp_path: Path) -> None:
    assert teardown(deployment, False, say, lambda _: True) == []
    assert list(tmp_path.iterdir()) == []
    assert teardown(deployment, False, say, lambda _: False) == []  # nothing to ask for


def test_no_means_no(deployment: LocalDeployment, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="not confirmed"):
        teardown(deployment, False, say, lambda _: False)
    assert (tmp_path / "lake/s3/lake/silver/object").exists()


def test_kept_data_are_named_and_outlive_the_next_teardown(deployment: LocalDeployment, tmp_path: Path) -> None:
    (left,) = teardown(deployment, True, say, lambda _: True)
    assert (Path(left.name) / "lake/silver/object").read_text() == "rows"
    (tmp_path / "lake/postgres").mkdir(parents=True)
    assert teardown(deployment, False, say, lambda _: True) == [left]


def test_an_interrupted_deletion_is_finished(deployment: LocalDeployment, tmp_path: Path) -> None:
    (tmp_path / "lake").rename(tmp_path / "lake.deleting")
    assert teardown(deployment, False, say, lambda _: True) == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_lake_is_not_deleted(deployment: LocalDeployment, tmp_path: Path) -> None:
    foreign = tmp_path / "home"
    foreign.mkdir()
    (foreign / "letter").write_text("dear")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKE_DATA_DIR", str(foreign))
        with pytest.raises(BadInput, match="holds no lake"):
            teardown(LocalDeployment(load_environment()), False, say, lambda _: True)
    assert (foreign / "letter").read_text() == "dear"


def test_a_rebuild_refuses_before_it_deletes(
    deployment: LocalDeployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definitions = tmp_path / "databases"
    definitions.mkdir()
    (definitions / "other.yaml").write_text("database: other\ntables:\n  public.t: {key: [id]}\n")
    monkeypatch.setenv("LAKE_DATABASES_DIR", str(definitions))
    with pytest.raises(BadInput, match="rows of other"):
        rebuilding.rebuild(deployment, say, lambda _: True)
    assert (tmp_path / "lake/secrets.json").exists()


def test_an_interrupted_rebuild_does_not_delete_again(
    deployment: LocalDeployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second run finds the lake half built, builds on, and forgets the mark once the proof is there."""
    built: list[str] = []
    monkeypatch.setattr(LocalDeployment, "build", lambda self, say: built.append("build"))
    results = iter([{"equal": False}, {"equal": True}])
    monkeypatch.setattr(LocalDeployment, "verify", lambda self, names, timeout_s, say: next(results))
    assert rebuilding.rebuild(deployment, say, lambda _: True) == {"equal": False}
    assert deployment.rebuilding() and not (tmp_path / "lake").exists()
    (tmp_path / "lake/postgres").mkdir(parents=True)
    assert rebuilding.rebuild(deployment, say, lambda _: False) == {"equal": True}
    assert (tmp_path / "lake/postgres").exists() and not deployment.rebuilding()
