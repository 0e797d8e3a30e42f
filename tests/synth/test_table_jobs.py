"""HoodieStreamer's jobs of a deployment: one per table and type, where an environment asks for them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lake.aws import steps
from lake.aws.environment import load_aws_environment
from lake.aws.processing import Processing
from lake.aws.table_jobs import MOST, TableJob, table_jobs
from lake.config.definition import Database, load_databases
from lake.config.errors import BadInput
from tests.synth.rights import allowed, text
from tests.synth.synthesis import ROOT, Synthesized, changed, described, scrubbed, synthesize

TYPES = {"artists": ("cow", "mor"), "artworks": ("cow", "mor"), "departments": ("mor",)}
ALL = [f"streamer.moma.{table}.{kind}" for table, kinds in TYPES.items() for kind in kinds]
JOBS = ["stream", "streamer"]
TWICE = {"key": ["id"], "types": ["cow", "mor"]}
LARGEST_PARAMETER = 8192  # bytes of an advanced parameter of Systems Manager
LARGEST_ENVIRONMENT = 4096  # bytes of the variables of a Lambda function


def with_processing(folder: Path, processing: dict[str, Any]) -> Path:
    return described(folder, changed("dev", {"processing": processing}))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_processing(tmp_path_factory.mktemp("followed"), {"jobs": JOBS})


@pytest.fixture(scope="module")
def followed(place: Path) -> Synthesized:
    return synthesize("dev", place)


def commands(lake: Synthesized) -> dict[str, list[str]]:
    return {
        step["Name"]: [text(one) for one in step["HadoopJarStep"]["Args"]]
        for _, step in lake.resources("AWS::EMR::Step")
    }


def sheet(lake: Synthesized) -> dict[str, Any]:
    (found,) = [one for _, one in lake.resources("AWS::SSM::Parameter") if one.get("Name") == "/lake/dev/sheet"]
    return dict(json.loads(text(found["Value"])))


def test_the_deployment_starts_one_for_each_table_and_type(followed: Synthesized) -> None:
    assert sorted(commands(followed)) == ["stream", *ALL]
    assert followed.failure == ""


def test_each_follows_its_table_alone(followed: Synthesized) -> None:
    command = commands(followed)["streamer.moma.artists.mor"]
    assert "--table=moma.artists" in command
    assert command[command.index("--types") + 1] == "mor"
    assert "--continuous" in command and "--once" not in command
    assert command[command.index("--name") + 1] == "streamer.moma.artists.mor"
    assert "spark.yarn.tags=lake-streamer.moma.artists.mor" in command
    files = [word for word in command if "/state/streamer.moma.artists.mor/" in word]
    assert [word.rpartition("/")[2] for word in files] == [
        "pipeline.json",
        "pipeline.json",
        "result.json",
        "status.json",
    ]


def test_the_command_line_starts_what_the_deployment_started(followed: Synthesized, place: Path) -> None:
    outputs = steps.StackOutputs(**sheet(followed))
    streamer = load_aws_environment(place, "dev").processing.streamer
    for name, command in commands(followed).items():
        if name != "stream":
            _, database, table, kind = name.split(".")
            job = TableJob(f"{database}.{table}", "cow" if kind == "cow" else "mor")
            assert steps.start_table(job, streamer, outputs) == command


def test_whoever_watches_the_jobs_knows_them(followed: Synthesized) -> None:
    assert sheet(followed)["reporter"]["jobs"] == ["stream", *ALL]
    (function,) = [one for _, one in followed.resources("AWS::Lambda::Function") if "JOBS" in str(one)]
    assert function["Environment"]["Variables"]["JOBS"].split(",") == ["stream", *ALL]


def test_they_change_no_cluster_and_no_other_stack(followed: Synthesized, dev: Synthesized) -> None:
    assert followed.only("AWS::EMR::Cluster") == dev.only("AWS::EMR::Cluster")
    changed = [part for part in dev.templates if scrubbed(followed.templates[part]) != scrubbed(dev.templates[part])]
    assert changed == ["processing"]


def test_as_many_as_possible_fit_into_the_parameter_and_the_variables(tmp_path: Path) -> None:
    tables = {f"public.table_with_a_rather_long_name_{number}": TWICE for number in range(MOST // 2)}
    for name in ("build", "jars", "node_modules", "helm", "connector_configs", "pom.xml", "spark_jobs"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "databases").mkdir()
    (tmp_path / "databases/shop.yaml").write_text(yaml.safe_dump({"database": "shop", "tables": tables}))
    lake = synthesize("dev", with_processing(tmp_path, {"jobs": JOBS}), tmp_path)
    assert len(commands(lake)) == MOST + 1
    assert len(json.dumps(sheet(lake))) < LARGEST_PARAMETER * 0.9  # the addresses of AWS are longer than their tokens
    (function,) = [one for _, one in lake.resources("AWS::Lambda::Function") if "JOBS" in str(one)]
    assert len(json.dumps(function["Environment"]["Variables"])) < LARGEST_ENVIRONMENT


def test_they_may_read_the_layout_of_the_sink_connector_where_they_do(dev: Synthesized) -> None:
    assert not [one for one in allowed(dev.templates["processing"], "Nodes", "s3")["GetObject"] if "s3-sink" in one]


@pytest.mark.parametrize(
    ("streamer", "names"),
    [
        ({}, ALL),
        ({"tables": ["moma.artists"]}, ALL[:2]),
        ({"tables": ["moma.artists", "moma"], "types": ["mor"]}, [ALL[1], ALL[3], ALL[4]]),
    ],
)
def test_tables_are_named_as_in_the_other_commands(streamer: dict[str, Any], names: list[str]) -> None:
    processing = Processing.model_validate({"jobs": JOBS, "streamer": streamer})
    assert [one.name for one in table_jobs(processing, load_databases(ROOT))] == names


def test_without_the_job_there_are_none() -> None:
    assert table_jobs(Processing(), load_databases(ROOT)) == []


def test_a_table_that_is_not_captured_is_refused() -> None:
    processing = Processing.model_validate({"jobs": JOBS, "streamer": {"tables": ["moma.visitors"]}})
    with pytest.raises(BadInput, match=r"no table or database 'moma.visitors'; key processing.streamer.tables"):
        table_jobs(processing, load_databases(ROOT))


def test_more_applications_than_a_cluster_bears_are_refused() -> None:
    tables = {f"public.t{number}": TWICE for number in range(MOST)}
    shop = Database.model_validate({"database": "shop", "tables": tables})
    with pytest.raises(BadInput, match=r"40 tables for the job streamer.* 1 to 20 are possible.*lake streamer run"):
        table_jobs(Processing.model_validate({"jobs": JOBS}), [shop])
