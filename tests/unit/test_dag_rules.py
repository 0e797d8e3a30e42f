"""The rules of examples/airflow for DAG files: the files keep them, and each rule refuses what it is for."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

AIRFLOW = Path(__file__).resolve().parents[2] / "examples/airflow"
FILES = sorted((AIRFLOW / "dags").glob("*.py"))
GOOD = """
with DAG(
    dag_id="lake__good",
    description="Compare all rows each night",
    catchup=False,
    max_active_runs=1,
    tags=["lake"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=5)},
):
    pass
"""


@pytest.fixture(scope="module")
def rules() -> ModuleType:
    """The file is no part of a package: users copy it."""
    spec = importlib.util.spec_from_file_location("dag_rules", AIRFLOW / "dag_rules.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_dag_file_breaks_no_rule(rules: ModuleType, path: Path) -> None:
    assert rules.broken(path) == []


def test_all_work_of_the_lake_and_of_the_lakehouse_has_a_dag() -> None:
    assert [path.stem for path in FILES if "__" in path.stem] == [
        *("lake__bulk_load", "lake__compact", "lake__refine", "lake__streaming_jobs", "lake__verify"),
        *("lakehouse__01_create_tables", "lakehouse__02_load", "lakehouse__03_merge"),
        "lakehouse__04_unload_and_query",
    ]


def test_a_good_file_is_accepted(rules: ModuleType, tmp_path: Path) -> None:
    assert judged(rules, tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('dag_id="lake__good"', 'dag_id="good"', "prefix"),
        ('dag_id="lake__good"', 'dag_id="lake__other"', "prefix"),
        ("with DAG(", "with DAG(dag_id='lake__b'):\n    pass\nwith DAG(", "prefix"),
        ('tags=["lake"]', "tags=[]", "tags"),
        ('    tags=["lake"],\n', "", "tags"),
        ("Compare all rows each night", "Compare all row", "description"),
        ("lake-operators", "airflow", "owner"),
        ("lake-operators", "Airflow", "owner"),
        ("lake-operators", "lakes", "owner"),
        ('"retries": 1', '"retries": 4', "retries"),
        ('"retries": 1', '"retries": True', "retries"),
        ('"retries": 1, ', "", "retries"),
        ('"retries": 1', '"retries": 1, "email": "a@b.de"', "mail"),
        ('"retries": 1', '"retries": 1, "email_on_failure": True', "mail"),
        ("with DAG", "from airflow.providers.smtp.operators.smtp import EmailOperator\nwith DAG", "mail"),
        ("    pass", "    Task(email='x')", "mail"),
        ("catchup=False", "catchup=True", "runs"),
        ("max_active_runs=1", "max_active_runs=2", "runs"),
        ("    pass", "    key = 'AKIAABCDEFGHIJKLMNOP'", "secret"),
        ("    pass", "    role = 'arn:aws:iam::123456789012:role/x'", "secret"),
        ("    pass", "    url = 'postgresql://me:secret@host/db'", "secret"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused(rules: ModuleType, tmp_path: Path, old: str, new: str, rule: str) -> None:
    assert old in GOOD
    assert {one.partition(":")[0] for one in judged(rules, tmp_path, GOOD.replace(old, new))} == {rule}


def test_a_dag_in_a_helper_is_refused(rules: ModuleType, tmp_path: Path) -> None:
    assert judged(rules, tmp_path, GOOD, "helper.py") != []


def test_the_command_ends_with_1_for_a_broken_rule(rules: ModuleType, tmp_path: Path) -> None:
    assert rules.main(AIRFLOW / "dags") == 0
    judged(rules, tmp_path, GOOD.replace("lake-operators", "me"))
    assert rules.main(tmp_path) == 1


def judged(rules: ModuleType, folder: Path, text: str, name: str = "lake__good.py") -> list[str]:
    (folder / name).write_text(text)
    return list(rules.broken(folder / name))
