"""Jobs as steps of EMR: their arguments, from the addresses that the deployment knows.

The stacks use CDK tokens, the command line uses the outputs of the deployed stack.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lake.aws.processing import STREAMER, Job, Processing, Size, Streamer
from lake.aws.rendering import STATE
from lake.aws.stack_outputs import StackOutputs as StackOutputs
from lake.aws.stack_outputs import parameter as parameter
from lake.aws.stack_outputs import remembered as remembered
from lake.aws.stack_outputs import remembered_key as remembered_key
from lake.aws.table_jobs import TableJob
from lake.config.refinement import REFINE, REFINED, Refinement
from lake.rendering import sales
from lake.rendering.kafka_login import IAM_LOGIN, by_secret, consumer_group, for_spark
from lake.rendering.spark import Place, continuous_arguments, kept_by_yarn, name_tag, spark_submit
from lake.rendering.streamer import STATUS, RunOptions, job_arguments
from lake.sources.postgres import roles

# Jars of the cluster. The second contains the first: never use both, as Hudi warns.
HUDI, HUDI_UTILITIES = "/usr/lib/hudi/hudi-spark-bundle.jar", "/usr/lib/hudi/hudi-utilities-bundle.jar"
COMPACT, LOAD = "compact", "load"
# Of spark_jobs/, those that are started as steps. LOAD only where rows may be loaded.
SCRIPTS = ("stream", "verify", COMPACT, REFINE, "topics", LOAD, STREAMER, sales.SCRIPT)
SALES_CHECKPOINTS = f"{STATE}/checkpoints/{sales.FOLDER}"  # in the bucket of artifacts
STARTERS = ("start_job", "stop_job", "run_job")
# Users of the source database, and where their jobs look for the password.
VERIFY_USER, VERIFY_PASSWORD = roles.VERIFY, "LAKE_VERIFY_PASSWORD"
HASH_PASSWORD = "LAKE_HASH_PASSWORD"  # the key of the hashes of columns
ADMIN_USER, LOAD_PASSWORD = roles.ADMIN, "LAKE_LOAD_PASSWORD"
# EMR's jar that runs a command. It is on every node: script-runner.jar would be read from a bucket of AWS's, with the
# rights of the nodes, which reach our own buckets only.
RUNNER = "command-runner.jar"
# Fetches a script and runs it with its arguments: $0 is the region, $1 the URL.
FETCH = 'script=$(aws s3 cp --region "$0" "$1" -) && exec bash -c "$script" "$@"'

Flags = tuple[str, ...]
CLUSTER: Flags = ("--deploy-mode", "cluster")
NOTHING: Mapping[str, str] = {}
NUMBER = "ClusterNumber"  # the parameter of the processing stack that another cluster needs


def another_cluster(environment: str, outputs: StackOutputs) -> str:
    """The command that deploys another cluster in place of one that has ended, and starts the jobs on it."""
    number = f"lake-{environment}-processing:{NUMBER}={int(outputs.number) + 1}"
    return f"npx cdk deploy --all -c env={environment} --parameters {number}"


def start(name: str, job: Job, outputs: StackOutputs) -> list[str]:
    """Start a continuous job in place of the one that runs; ends once YARN has accepted it."""
    return _started(name, outputs.templates[name], outputs, submit_stream(name, job, outputs, CLUSTER))


def submit_stream(
    name: str, job: Job, outputs: StackOutputs, flags: Flags = (), more: Mapping[str, str] = NOTHING
) -> list[str]:
    """The arguments of spark-submit for a continuous job. flags and more: options and settings of its place."""
    pipeline = outputs.remembered(name, "pipeline.json")
    place = _place("stream", flags, {**settings(job), **more}, outputs)
    return spark_submit("stream", name, place, continuous_arguments(pipeline, job.layers))


def start_streamer(options: RunOptions, size: Size, outputs: StackOutputs) -> list[str]:
    """Start HoodieStreamer on several tables in turn, in place of the one that runs."""
    return _streamed(STREAMER, options, size, outputs)


def _streamed(name: str, options: RunOptions, size: Size, outputs: StackOutputs) -> list[str]:
    """Start the job of HoodieStreamer under this name."""
    config = ["--config", outputs.remembered(name, "pipeline.json")]
    output = ["--output", outputs.remembered(name, "result.json")]
    place = _place(STREAMER, CLUSTER, {**settings(size), **kept_by_yarn(name)}, outputs)
    submit = spark_submit(STREAMER, name, place, [*config, *output, *streamer_words(options, outputs, name)])
    return _started(name, next(iter(outputs.templates.values())), outputs, submit)


def start_table(one: TableJob, streamer: Streamer, outputs: StackOutputs) -> list[str]:
    """Start HoodieStreamer on one table, in place of the one that runs: BULK_INSERT once, then --continuous."""
    options = replace(streamer.options, names=(one.table,), kinds=(one.kind,), continuous=True)
    return _streamed(one.name, options, streamer, outputs)


def streamer_words(options: RunOptions, outputs: StackOutputs, name: str = STREAMER) -> list[str]:
    """The arguments of spark_jobs/streamer.py on EMR, but for --config and --output."""
    status = outputs.remembered(name, f"once-{STATUS}" if options.once else STATUS)
    words = job_arguments(options, streamer=outputs.streamer["template"], status=status)
    return [*words, *(word for place in outputs.places.items() for word in ("--place", "=".join(place)))]


def start_sales(name: str, words: Sequence[str], size: Size, outputs: StackOutputs) -> list[str]:
    """Start a job about sales that streams, in place of the one that runs. words: of sales_words()."""
    submit = submit_sales(name, words, size, outputs, CLUSTER)
    return _started(name, next(iter(outputs.templates.values())), outputs, submit)


def submit_sales(
    name: str,
    words: Sequence[str],
    size: Size,
    outputs: StackOutputs,
    flags: Flags = (),
    more: Mapping[str, str] = NOTHING,
) -> list[str]:
    """The arguments of spark-submit for a job about sales that streams."""
    place = _place(sales.SCRIPT, flags, {**settings(size), **sales.SETTINGS, **kept_by_yarn(name), **more}, outputs)
    output = ["--output", outputs.remembered(name, "result.json")]
    return spark_submit(sales.SCRIPT, name, place, [*words, *output])


def sales_words(
    name: str, options: sales.SalesOptions, uris: Mapping[str, str], partitions: int, outputs: StackOutputs
) -> list[str]:
    """The arguments of a job about sales on EMR, except --output. uris: of its files, on S3."""
    address = {"bootstrap.servers": outputs.places["brokers"], "group.id": consumer_group(sales.group(name))}
    login = by_secret(outputs.region, outputs.kafka_secret) if outputs.kafka_secret else IAM_LOGIN
    artifacts = outputs.places["artifacts"]
    places = sales.SalesPlaces(
        kafka=for_spark({**address, **login}),
        partitions=partitions,
        registry=f"{outputs.places['registry']}/apis/ccompat/v7",
        results=f"s3://{outputs.places['silver']}/{sales.FOLDER}",
        checkpoints=f"s3://{artifacts}/{SALES_CHECKPOINTS}",
        state=f"s3://{artifacts}/{STATE}",
    )
    return sales.arguments(name, options, places, uris)


def stop(name: str, outputs: StackOutputs) -> list[str]:
    """End the application of a continuous job, if it runs."""
    return _script("stop_job", outputs, name_tag(name))


def run(script: str, outputs: StackOutputs, arguments: Sequence[str]) -> list[str]:
    """Run a job to its end. Its driver is on the primary node, so that its output is the log of the step."""
    submit = submit_once(script, script, outputs, arguments, ("--deploy-mode", "client"))
    secrets = secrets_of(script, outputs)
    return _script("run_job", outputs, outputs.region, ",".join(secrets.values()), ",".join(secrets), *submit)


def submit_once(
    script: str,
    name: str,
    outputs: StackOutputs,
    arguments: Sequence[str],
    flags: Flags = (),
    more: Mapping[str, str] = NOTHING,
) -> list[str]:
    """The arguments of spark-submit for a job that ends."""
    own = sales.SETTINGS if script == sales.SCRIPT else {}
    return spark_submit(script, name, _place(script, flags, {**own, **more}, outputs), arguments)


def secrets_of(script: str, outputs: StackOutputs) -> dict[str, str]:
    """The secrets of a job that ends, by the variables in which it looks for the passwords."""
    if script == LOAD:
        return {LOAD_PASSWORD: outputs.admin}
    return {VERIFY_PASSWORD: outputs.secret, **({HASH_PASSWORD: outputs.hashes} if outputs.hashes else {})}


def config(processing: Processing, outputs: StackOutputs) -> list[str]:
    """The argument that names the pipeline file of the job that writes the tables."""
    (job,) = [name for name, one in processing.layered.items() if "silver" in one.layers]
    return ["--config", outputs.remembered(job, "pipeline.json")]


def login(outputs: StackOutputs) -> list[str]:
    """The arguments with which verify.py finds the source. Its password comes from run_job.sh."""
    return ["--jdbc-url", outputs.source, "--user", VERIFY_USER]


def refine_words(wanted: Refinement, outputs: StackOutputs) -> list[str]:
    """The arguments of spark_jobs/refine.py, but for --config and --output."""
    return ["--path", f"s3://{outputs.places['silver']}/{REFINED}", *wanted.arguments()]


def step(name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """A step as the API of EMR takes it. Its failure ends no other step."""
    jar = {"Jar": RUNNER, "Args": list(arguments)}
    return {"Name": name, "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}


def _started(name: str, template: str, outputs: StackOutputs, submit: Sequence[str]) -> list[str]:
    """The arguments of start_job.sh."""
    fill = [template, outputs.remembered(name, "pipeline.json"), *outputs.places.values()]
    return _script("start_job", outputs, outputs.region, outputs.starters["stop_job"], name_tag(name), *fill, *submit)


def _script(name: str, outputs: StackOutputs, *arguments: str) -> list[str]:
    """The command that runs one of the start scripts."""
    return ["bash", "-c", FETCH, outputs.region, outputs.starters[name], *arguments]


def settings(size: Size) -> dict[str, str]:
    """The size of a continuous application, as Spark's settings."""
    return {
        "spark.driver.memory": size.driver_memory,
        "spark.executor.memory": size.executor_memory,
        "spark.executor.instances": str(size.executors),
        "spark.dynamicAllocation.enabled": "false",
        "spark.sql.shuffle.partitions": "4",  # batches are small: the default, 200, is 200 empty tasks
    }


def _place(script: str, flags: Flags, more: Mapping[str, str], outputs: StackOutputs) -> Place:
    hudi = (HUDI_UTILITIES, outputs.streamer["jar"]) if script == STREAMER else (HUDI,)
    jars = (*hudi, *outputs.jars)
    return Place(flags, outputs.scripts[script], outputs.pools, more, outputs.package, jars)
