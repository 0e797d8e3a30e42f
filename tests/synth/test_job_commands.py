"""The command line of a job here is the one that EMR gets: only places, sizes and the catalogue differ."""

import json
from dataclasses import replace

import pytest

from lake.aws import steps
from lake.aws.environment import load_aws_environment
from lake.aws.processing import Size
from lake.config.environment import PROJECT, load_environment
from lake.local import sales as local_sales
from lake.local.spark_submit import spark_submit_command
from lake.local.stream import LAYERS, Stream
from lake.rendering import sales
from lake.rendering.sales import SalesOptions
from lake.rendering.spark import kept_by_yarn
from lake.rendering.streamer import RunOptions
from lake.rendering.streamer import job_arguments as streamer_arguments
from tests.synth.rights import text
from tests.synth.synthesis import Synthesized

# What is of a place alone, with the reason.
OF_A_PLACE = {
    "spark.driver.bindAddress": "loopback",
    "spark.driver.extraClassPath": "the jars lie in a folder",
    "spark.driver.defaultJavaOptions": "two cores; UTC, which a cluster has; path",
    "spark.driver.extraJavaOptions": "two cores; path",
    "spark.driver.host": "loopback",
    "spark.driver.memory": "size",
    "spark.dynamicAllocation.enabled": "size",
    "spark.executor.instances": "size",
    "spark.executor.memory": "size",
    "spark.hadoop.hive.metastore.uris": "catalogue",
    "spark.local.dir": "path",
    "spark.scheduler.allocation.file": "path",
    "spark.sql.catalogImplementation": "catalogue",
    "spark.sql.shuffle.partitions": "size",
    "spark.sql.streaming.checkpointFileManagerClass": "checkpoints lie in a folder",
    "spark.sql.ui.retainedExecutions": "nobody looks",
    "spark.sql.warehouse.dir": "path",
    "spark.storage.blockManagerHeartbeatTimeoutMs": "the driver is the executor",
    "spark.ui.enabled": "nobody looks",
    "spark.ui.retainedJobs": "nobody looks",
    "spark.ui.retainedStages": "nobody looks",
    "spark.ui.retainedTasks": "nobody looks",
}


def settings(command: list[str]) -> dict[str, str]:
    """The --conf of a spark-submit, less what is of its place and how it reaches its storage."""
    pairs = [command[at + 1].partition("=") for at, flag in enumerate(command) if flag == "--conf"]
    found = {name: value for name, _, value in pairs}
    return {k: v for k, v in found.items() if k not in OF_A_PLACE and not k.startswith("spark.hadoop.fs.s3a.")}


def job_arguments(command: list[str], script: str) -> list[str]:
    """What the job itself gets; the path of the pipeline file is the place's."""
    found = command[command.index(script) + 1 :]
    return ["<path>" if before == "--config" else one for before, one in zip(["", *found], found, strict=False)]


@pytest.fixture
def step(dev: Synthesized) -> list[str]:
    return [text(one) for one in dev.only("AWS::EMR::Step")["HadoopJarStep"]["Args"]]


def test_the_stream_has_the_same_settings_and_arguments(step: list[str]) -> None:
    home = load_environment()
    here = Stream(home).program().command
    assert settings(here) == settings(step)
    main = next(one for one in step if one.endswith((".py", ".py>")))
    assert job_arguments(here, str(home.root / "spark_jobs/stream.py")) == job_arguments(step, main)
    assert here[here.index("--name") + 1] == step[step.index("--name") + 1] == "stream"


@pytest.mark.parametrize("script", ["verify", "compact", "refine", "topics", "load", "streamer"])
def test_a_job_that_ends_has_the_same_settings_and_arguments(script: str) -> None:
    arguments = ["--config", "x", "--output", "y"]
    here = spark_submit_command(load_environment(), script, arguments)
    there = steps.run(script, outputs(), arguments)
    assert settings(here) == settings(there)
    assert here[-4:] == there[-4:] == arguments


def test_the_command_line_starts_what_the_deployment_started(dev: Synthesized, step: list[str]) -> None:
    """From what the stack tells it renders the very arguments that the stack gave EMR."""
    parameters = {one.get("Name"): one["Value"] for _, one in dev.resources("AWS::SSM::Parameter")}
    told = json.loads(text(parameters[steps.parameter("dev")]))
    job = load_aws_environment(PROJECT, "dev").processing.jobs["stream"]
    assert steps.start("stream", job, steps.StackOutputs(**told)) == step


def test_the_local_stream_writes_what_one_job_on_aws_does() -> None:
    assert load_aws_environment(PROJECT, "dev").processing.jobs["stream"].layers == LAYERS


def outputs() -> steps.StackOutputs:
    names = {name: f"s3://x/{name}" for name in (*steps.SCRIPTS, *steps.STARTERS)}
    files = ("s3://x/p.zip", "s3://x/pools.xml", ["s3://x/a.jar"])
    streamer = {"jar": "s3://x/lake-streamer.jar", "template": "s3://x/streamer.json"}
    places = {"brokers": "k:9098", "registry": "http://r", "artifacts": "a", "silver": "s", "bronze": "b"}
    templates = {"stream": "s3://x/template.json"}
    return steps.StackOutputs(
        "r", "j-1", "1", *files, names, names, templates, streamer, places, reporter={}, source="", secret="", admin=""
    )


def test_hoodie_streamer_has_the_same_settings_and_arguments() -> None:
    """Both ways: run to its end, and for ever."""
    options = RunOptions(names=["moma.artists"], kinds=["mor"], replay=True)
    here = spark_submit_command(load_environment(), "streamer", streamer_arguments(options, streamer="x", status="y"))
    there = steps.start_streamer(options, Size(), outputs())
    kept = kept_by_yarn("streamer")
    assert settings(there) == {**settings(here), **kept}
    assert [word for word in words(there) if word not in ("x", "y")] == words(here)
    once = steps.run("streamer", outputs(), steps.streamer_words(RunOptions(once=True), outputs()))
    assert settings(once) == settings(here)


def words(command: list[str]) -> list[str]:
    """What spark_jobs/streamer.py is asked for; its files and the places in them are the place's."""
    of_place = ("--config", "--output", "--streamer", "--status", "--place")
    main = next(at for at, word in enumerate(command) if word.endswith(("/streamer.py", "/streamer")))
    given = command[main + 1 :]
    pairs = zip(["", *given], given, strict=False)
    return [word for before, word in pairs if before not in of_place and word not in of_place]


def test_hoodie_streamer_comes_with_the_clusters_own_bundle_alone() -> None:
    """The bundle of the utilities holds that of Spark: both at once would be two of each class."""
    for command in (steps.run("streamer", outputs(), []), steps.start_streamer(RunOptions(), Size(), outputs())):
        jars = command[command.index("--jars") + 1].split(",")
        assert jars == [steps.HUDI_UTILITIES, "s3://x/lake-streamer.jar", "s3://x/a.jar"]


def test_hoodie_streamer_is_known_to_yarn_and_replaces_the_one_that_runs() -> None:
    command = steps.start_streamer(RunOptions(), Size(), outputs())
    fetched = ["bash", "-c", steps.FETCH, "r"]
    assert command[:8] == [*fetched, "s3://x/start_job", "r", "s3://x/stop_job", "lake-streamer"]
    assert steps.stop("streamer", outputs()) == [*fetched, "s3://x/stop_job", "lake-streamer"]
    assert "s3://a/state/streamer/pipeline.json" in command[: command.index("--deploy-mode")]


@pytest.mark.parametrize("name", sales.JOBS)
def test_a_job_about_sales_gets_the_same_words_but_for_their_places(name: str) -> None:
    """All that names a place differs, and the login."""
    options = SalesOptions()
    here = local_sales.arguments(load_environment(), name, options)
    uris = {key: f"s3://a/state/{name}/{key}.csv" for key in sales.files(name, options)}
    there = steps.sales_words(name, options, uris, 1, outputs())
    assert words_of_sales(there) == words_of_sales(here)
    kafka = dict(there[at + 1].split("=", 1) for at, word in enumerate(there) if word == "--kafka")
    assert kafka == {
        "kafka.bootstrap.servers": "k:9098",
        "kafka.group.id": "lake_sales" if sales.JOBS[name].ends else f"lake_{name}",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "AWS_MSK_IAM",
        "kafka.sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
        "kafka.sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
    }


def test_a_job_about_sales_names_the_secret_of_its_user_where_there_are_users() -> None:
    deployed = replace(outputs(), kafka_secret="AmazonMSK_lake-dev-jobs")
    words = steps.sales_words("sales-totals", SalesOptions(), {}, 1, deployed)
    kafka = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--kafka")
    assert kafka["kafka.sasl.mechanism"] == "SCRAM-SHA-512"
    assert kafka["kafka.config.providers.secrets.param.secrets"] == "kafka=AmazonMSK_lake-dev-jobs"
    assert 'password="${secrets:kafka:password}"' in kafka["kafka.sasl.jaas.config"]


def words_of_sales(words: list[str]) -> list[str]:
    """The arguments without those that name a place."""
    of_place = ("--kafka", "--registry", "--sales", "--regions", "--results", "--checkpoint", "--status")
    pairs = zip(["", *words], words, strict=False)
    return [word for before, word in pairs if before not in of_place and word not in of_place]


def test_a_stream_of_sales_is_known_to_yarn_and_replaces_the_one_that_runs() -> None:
    words = steps.sales_words("sales-totals", SalesOptions(), {}, 1, outputs())
    command = steps.start_sales("sales-totals", words, Size(executors=1), outputs())
    assert command[4:8] == ["s3://x/start_job", "r", "s3://x/stop_job", "lake-sales-totals"]
    assert "spark.executor.instances=1" in command and "spark.yarn.tags=lake-sales-totals" in command
    main = command.index("s3://x/sales_job")
    assert command[main + 1 :] == [*words, "--output", "s3://a/state/sales-totals/result.json"]
    assert command[command.index("--checkpoint") + 1] == "s3://a/state/checkpoints/sales/sales-totals"


def test_a_producer_tries_no_task_twice() -> None:
    """A task that is tried again sends its sales again."""
    assert "spark.task.maxFailures=1" in steps.run("sales_job", outputs(), ["seed"])
