"""A new source engine is a folder in each half, its connector template, and few lines elsewhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests/toy_engine"
TREE = ("lake", "spark_jobs", "connector_configs", "databases", "environments")
FOLDERS = ("lake/sources/toy/", "spark_jobs/sources/toy/")
MOST = 6  # tracked files outside of the engine's own folders
SHOP = "database: shop\nengine: toy\ntables:\n  main.items: {key: [id]}\n"
TWIN_LIVES = """\
import json
from types import SimpleNamespace
from spark_jobs.sources.columns import lake_columns
from spark_jobs.sources.engine import engine
toy = engine("toy")
schema = {"fields": [{"name": "id", "type": "long"}]}
print(json.dumps([toy.column_type(SimpleNamespace(type="INTEGER")).lake, lake_columns(schema, "", toy.convert)]))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree as Git would have it, and the toy planted."""
    root = tmp_path_factory.mktemp("tree") / "lake"
    for name in TREE:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "-c", "user.name=toy", "-c", "user.email=toy@localhost", "commit", "--quiet", "--message", "The tree")
    plant(root)
    git(root, "add", "--all")
    return root


def plant(root: Path) -> None:
    for folder in FOLDERS:
        (root / folder).mkdir()
        (root / folder / "__init__.py").write_text('"""The toy."""\n')
    shutil.copy(TOY / "engine.py", root / "lake/sources/toy")
    shutil.copy(TOY / "twin.py", root / "spark_jobs/sources/toy/engine.py")
    shutil.copy(TOY / "source_toy_kafka.json", root / "connector_configs")
    (root / "databases/shop.yaml").write_text(SHOP)
    replace(
        root / "lake/sources/engines.py",
        ("import POSTGRES\n", "import POSTGRES\nfrom lake.sources.toy.engine import TOY\n"),
        ("(POSTGRES,)", "(POSTGRES, TOY)"),
    )


def replace(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text()
    for before, after in changes:
        assert text.count(before) == 1, (path, before)
        text = text.replace(before, after)
    path.write_text(text)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout


def run(root: Path, *arguments: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(root), "LAKE_DATABASES_DIR": "databases"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def lived(copy: Path) -> dict[str, Any]:
    found: dict[str, Any] = run(copy, str(TOY / "life.py"))
    return found


def test_few_files_change_outside_of_its_folders(copy: Path) -> None:
    changed = git(copy, "diff", "--cached", "--name-only").split()
    others = [path for path in changed if not path.startswith(FOLDERS)]
    assert others == ["connector_configs/source_toy_kafka.json", "databases/shop.yaml", "lake/sources/engines.py"]
    assert len(others) <= MOST


def test_its_plan_is_carried_out_and_then_empty(lived: dict[str, Any]) -> None:
    kinds = [(change["kind"], change["action"], change["object"]) for change in lived["changes"]]
    assert kinds == [
        ("source", "create table", "lake_log"),
        ("source", "create trigger", "lake_items"),
        ("connector", "create", "source_toy_shop"),
        ("pipeline", "write", "pipeline.json"),
    ]
    assert lived["later"] == ["connector", "pipeline"]


def test_its_connector_is_made_of_its_template(lived: dict[str, Any]) -> None:
    settings = lived["connector"]
    expected = {
        "name": "source_toy_shop",
        "connector.class": "toy.Connector",
        "sqlite.file": "shop.sqlite",
        "topic.prefix": "shop",
        "table.include.list": "main.items",
    }
    assert {key: settings[key] for key in expected} == expected
    assert "acks" in lived["overrides"]


def test_its_types_and_positions_are_its_own(lived: dict[str, Any]) -> None:
    assert "the lake can't keep outline" in lived["refused"]
    assert lived["lag"] == ["source_toy_shop before #2"]
    assert lived["pipeline"]["engine"] == "toy"


def test_its_twin_in_spark_jobs_maps_its_types(copy: Path) -> None:
    assert run(copy, "-c", TWIN_LIVES) == ["bigint", ["`id` AS `id`"]]
