"""EMR Serverless by option: the same jobs with the same arguments and rights, and nothing of a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from lake.aws import runs, steps
from lake.aws.cost import estimate, load_prices
from lake.aws.environment import load_aws_environment
from lake.rendering.spark import SESSION
from tests.synth.rights import allowed, listed, statements, text
from tests.synth.synthesis import ROOT, Synthesized, changed, described, synthesize, varied
from tests.synth.test_cost import read

DEV = load_aws_environment(ROOT, "dev")
KIND = {"kind": "serverless", "release": "emr-7.10.0", "sales": {"executors": 1}}
NODES_ALONE = {"ssm", "cloudwatch", "secretsmanager"}  # the reporter on the primary node; start scripts
# Options of spark-submit that only one of the two has: where the driver runs, and the sizes of workers.
OF_ITS_PLACE = ("spark.driver.cores", "spark.executor.cores")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return described(tmp_path_factory.mktemp("serverless"), changed("dev", {"processing": KIND}))


@pytest.fixture(scope="module")
def lake(folder: Path) -> Synthesized:
    return synthesize("dev", folder)


def outputs(lake: Synthesized) -> steps.StackOutputs:
    """What the stack tells the command line."""
    parameters = {one.get("Name"): one["Value"] for _, one in lake.resources("AWS::SSM::Parameter")}
    return steps.StackOutputs(**json.loads(text(parameters[steps.parameter(lake.name)])))


def run_of(lake: Synthesized) -> dict[str, Any]:
    """The request with which the deployment starts the stream."""
    return dict(json.loads(text(lake.only("Custom::LakeJobRun")["Run"])))


def submit(run: dict[str, Any]) -> list[str]:
    driver = run["jobDriver"]["sparkSubmit"]
    return [*driver["sparkSubmitParameters"].split(" "), driver["entryPoint"], *driver["entryPointArguments"]]


def without(words: list[str], *settings: str) -> list[str]:
    """A command without --deploy-mode and some settings."""
    pairs = list(zip(words, [*words[1:], ""], strict=True))
    dropped = {at for at, (word, after) in enumerate(pairs) if word == "--conf" and after.partition("=")[0] in settings}
    dropped |= {at for at, (word, _) in enumerate(pairs) if word == "--deploy-mode"}
    return [word for at, word in enumerate(words) if at not in dropped and at - 1 not in dropped]


def test_there_is_no_cluster(lake: Synthesized) -> None:
    kinds = {one["Type"] for template in lake.templates.values() for one in template["Resources"].values()}
    assert not {one for one in kinds if one.startswith("AWS::EMR::")}
    assert outputs(lake).starters == {}


def test_the_application_has_its_release_limits_network_and_logs(lake: Synthesized) -> None:
    application = lake.only("AWS::EMRServerless::Application")
    assert (application["ReleaseLabel"], application["Type"]) == ("emr-7.10.0", "SPARK")
    assert application["MaximumCapacity"] == {"Cpu": "32 vCPU", "Memory": "128 GB"}
    assert len(application["NetworkConfiguration"]["SubnetIds"]) == 2
    logs = application["MonitoringConfiguration"]
    assert text(logs["S3MonitoringConfiguration"]["LogUri"]).endswith("/emr/")
    assert logs["ManagedPersistenceMonitoringConfiguration"] == {"Enabled": False}


def test_it_encrypts_what_workers_send_and_keep(lake: Synthesized) -> None:
    (settings,) = lake.only("AWS::EMRServerless::Application")["RuntimeConfiguration"]
    assert settings["Properties"]["spark.ssl.internode.enabled"] == "true"
    assert settings["Properties"]["spark.io.encryption.enabled"] == "true"
    assert SESSION.items() <= settings["Properties"].items()
    assert "Glue" in settings["Properties"]["spark.hadoop.hive.metastore.client.factory.class"]


def test_a_job_has_the_arguments_of_a_step(lake: Synthesized) -> None:
    """Of the same lake: what start_job.sh would give spark-submit."""
    there = steps.submit_stream("stream", DEV.processing.jobs["stream"], outputs(lake), steps.CLUSTER)
    assert without(submit(run_of(lake)), *OF_ITS_PLACE) == without(there)
    assert len(without(there)) > 60


def test_a_streaming_job_is_kept_alive(lake: Synthesized) -> None:
    run = run_of(lake)
    assert run["mode"] == "STREAMING"
    assert run["retryPolicy"] == {"maxFailedAttemptsPerHour": 5}
    assert run["executionTimeoutMinutes"] == 0  # the default is twelve hours
    assert run["tags"] == {"lake": "dev"}


def test_the_command_line_starts_what_the_deployment_started(lake: Synthesized) -> None:
    job = DEV.processing.jobs["stream"]
    assert runs.start("stream", job, outputs(lake)) == run_of(lake)


def test_the_pipeline_file_is_filled_in_with_every_place(lake: Synthesized) -> None:
    job = lake.only("Custom::LakeJobRun")
    places = json.loads(text(job["Places"]))
    assert set(places) == {"brokers", "registry", "artifacts", "silver", "bronze"}
    assert text(job["Pipeline"]).endswith("/state/stream/pipeline.json")
    assert text(job["Pipeline"]) in submit(run_of(lake))


def test_the_jobs_have_the_rights_that_they_have_on_a_cluster(lake: Synthesized, dev: Synthesized) -> None:
    """Less those of the nodes themselves, the files of a cluster, and a look at the logs."""
    here = actions(lake, "JobRole")
    there = {one: found for one, found in actions(dev, "Nodes").items() if one.partition(":")[0] not in NODES_ALONE}
    disks = {"kms:Encrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"}
    assert set(here) == set(there) - disks
    of_logs = {"s3:ListBucket", "s3:GetBucketLocation"}
    for action in set(here) - {"s3:GetObject", "kms:Decrypt", "kms:GenerateDataKey", *of_logs}:
        assert here[action] == there[action], action


def actions(lake: Synthesized, role: str) -> dict[str, set[str]]:
    template = lake.templates["processing"]
    services = {action.partition(":")[0] for one in statements(template, role) for action in listed(one["Action"])}
    return {
        f"{service}:{action}": found
        for service in services
        for action, found in allowed(template, role, service).items()
    }


def test_only_applications_of_the_account_take_the_role(lake: Synthesized) -> None:
    (trust,) = dict(lake.resources("AWS::IAM::Role"))[logical_id(lake, "JobRole")]["AssumeRolePolicyDocument"][
        "Statement"
    ]
    assert trust["Principal"] == {"Service": "emr-serverless.amazonaws.com"}
    assert text(trust["Condition"]["ArnLike"]["aws:SourceArn"]).endswith(":/applications/*")
    assert text(trust["Condition"]["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"


def logical_id(lake: Synthesized, start: str) -> str:
    (found,) = [id for id, _ in lake.resources("AWS::IAM::Role") if id.startswith(start)]
    return found


def test_the_function_starts_and_ends_runs_of_this_lake_alone(lake: Synthesized) -> None:
    template = lake.templates["processing"]
    found = {action: one for one in statements(template, "JobRunsRole") for action in listed(one["Action"])}
    for name in ("StartJobRun", "CancelJobRun", "GetApplication", "ListJobRuns", "StopApplication"):
        assert found[f"emr-serverless:{name}"]["Condition"] == {"StringEquals": {"aws:ResourceTag/lake": "dev"}}
    tagged = found["emr-serverless:TagResource"]
    assert tagged["Condition"] == {"StringEquals": {"aws:RequestTag/lake": "dev"}}
    assert text(found["iam:PassRole"]["Resource"]).startswith("<JobRole")
    assert {one.rpartition(">/")[2] for one in allowed(template, "JobRunsRole", "s3")["PutObject"]} == {
        "state/stream/pipeline.json"
    }
    (read,) = allowed(template, "JobRunsRole", "s3")["GetObject"]
    assert read.endswith(".json")


def test_a_password_is_a_reference_that_emr_serverless_resolves(lake: Synthesized) -> None:
    told = outputs(lake)
    run = runs.run("verify", told, ["--output", "x"])
    (settings,) = run["configurationOverrides"]["applicationConfiguration"]
    assert settings["properties"] == {"spark.emr-serverless.driverEnv.LAKE_VERIFY_SECRET": f"EMR.secret@{told.secret}"}
    assert (run["mode"], run["name"]) == ("BATCH", "verify")
    policies = [one["ResourcePolicy"]["Statement"] for _, one in lake.resources("AWS::SecretsManager::ResourcePolicy")]
    assert len(policies) == 2  # of the user that verifies, and of the administrator
    for (statement,) in policies:
        assert statement["Principal"] == {"Service": "emr-serverless.amazonaws.com"}
        assert text(statement["Condition"]["ArnLike"]["aws:SourceArn"]).endswith(":/applications/*")


def test_on_a_cluster_no_secret_has_a_policy(dev: Synthesized) -> None:
    assert dev.resources("AWS::SecretsManager::ResourcePolicy") == []


def test_the_routines_are_requests_of_job_runs(lake: Synthesized) -> None:
    prefix = "/lake/dev/steps/"
    found = {text(one["Name"]): one for _, one in lake.resources("AWS::SSM::Parameter") if "Name" in one}
    ready = {name.removeprefix(prefix): json.loads(text(one["Value"])) for name, one in found.items() if prefix in name}
    assert sorted(ready) == ["compact", "start-stream", "verify"]
    assert ready["start-stream"] == run_of(lake)
    assert ready["verify"]["name"] == "verify"


def test_another_release_or_limit_makes_another_application(lake: Synthesized, tmp_path: Path) -> None:
    """Of one that runs, CloudFormation can change nothing."""
    here = lake.only("AWS::EMRServerless::Application")["Name"]
    limits = {"limits": {"vcpus": 40, "memory_gb": 160}}
    names = {
        varied(tmp_path / str(at), "dev", {"processing": {**KIND, **more}}).only("AWS::EMRServerless::Application")[
            "Name"
        ]
        for at, more in enumerate(({"release": "emr-7.9.0"}, limits))
        if (tmp_path / str(at)).mkdir() is None
    }
    assert len(names | {here}) == 3


def test_the_function_that_reports_has_the_program_of_the_nodes(lake: Synthesized) -> None:
    (function,) = [one for _, one in lake.resources("AWS::Lambda::Function") if "report_jobs" in one["Handler"]]
    (code,) = lake.folder.glob(f"asset.{Path(function['Code']['S3Key']).stem}")
    files = sorted(path.relative_to(code).as_posix() for path in code.rglob("*") if path.is_file())
    names = ("__init__.py", "functions/report_jobs.py", "scripts/report_freshness.py")
    assert files == [f"lake_constructs/{name}" for name in names]


def test_the_function_that_starts_jobs_is_alone_in_its_code(lake: Synthesized) -> None:
    (function,) = [one for _, one in lake.resources("AWS::Lambda::Function") if one.get("Handler") == "job_run.handler"]
    (code,) = lake.folder.glob(f"asset.{Path(function['Code']['S3Key']).stem}")
    assert [path.name for path in code.iterdir()] == ["job_run.py"]
    assert function["Timeout"] == 900


def test_somebody_is_told_of_a_run_that_is_not_started_again(lake: Synthesized) -> None:
    patterns = [one["EventPattern"] for _, one in lake.resources("AWS::Events::Rule") if "EventPattern" in one]
    (failed,) = [one for one in patterns if one["source"] == ["aws.emr-serverless"]]
    assert failed["detail"]["state"] == ["FAILED"]
    assert not [id for id, _ in lake.resources("AWS::CloudWatch::Alarm") if "JobNotRestarted" in id]
    assert [id for id, _ in lake.resources("AWS::CloudWatch::Alarm") if "SilentJob" in id]


def test_no_stack_imports_the_id_of_the_application(lake: Synthesized) -> None:
    """CloudFormation changes no output that another stack imports, and so would never replace the application."""
    exported = lake.templates["processing"].get("Outputs", {}).values()
    assert [one for one in exported if "Application" in json.dumps(one["Value"])] == []


def test_the_estimate_counts_the_workers_of_the_jobs(lake: Synthesized, folder: Path) -> None:
    found = {one.what: one.count for one in estimate(load_aws_environment(folder, "dev"), load_prices())}
    assert found["vCPU of the jobs on EMR Serverless"] == 1 + 2 * 2
    assert found["GB of their memory"] == 3 + 2 * 5
    assert not [what for what in found if what.startswith("EMR ")]
    assert found["KMS key"] == len(lake.resources("AWS::KMS::Key"))
    assert found["metric with an alarm"] == sum(len(read(one)) for _, one in lake.resources("AWS::CloudWatch::Alarm"))


def test_the_security_rules_find_nothing(lake: Synthesized) -> None:
    assert lake.failure == ""


def test_each_role_of_it_may_have_a_boundary(tmp_path: Path) -> None:
    content = {**changed("dev", {"processing": KIND}), "permissions_boundary": "Boundary"}
    limited = synthesize("dev", described(tmp_path, content))
    found = {text(role.get("PermissionsBoundary", "")) for _, role in limited.resources("AWS::IAM::Role")}
    assert found == {"arn:<AWS::Partition>:iam::<AWS::AccountId>:policy/Boundary"}


def test_a_schedule_starts_the_run_of_its_routine(lake: Synthesized, tmp_path: Path) -> None:
    changes = {"processing": KIND, "operations.schedule": {"verify": "rate(1 day)"}}
    timed = varied(tmp_path, "dev", changes)
    schedule = timed.only("AWS::Scheduler::Schedule")
    assert text(schedule["Target"]["Arn"]).endswith(":scheduler:::aws-sdk:emrserverless:startJobRun")
    wish, ready = json.loads(text(schedule["Target"]["Input"])), runs.run("verify", outputs(timed), [])
    assert (wish["Name"], wish["Mode"], wish["ClientToken"]) == ("verify", "BATCH", "<aws.scheduler.execution-id>")
    assert wish["ApplicationId"] == ready["applicationId"] and wish["Tags"] == ready["tags"]
    (settings,) = wish["ConfigurationOverrides"]["ApplicationConfiguration"]
    assert settings["Properties"] == ready["configurationOverrides"]["applicationConfiguration"][0]["properties"]
    driver = wish["JobDriver"]["SparkSubmit"]
    assert driver["SparkSubmitParameters"] == ready["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"]
    rights = {
        action for one in statements(timed.templates["processing"], "SchedulesRole") for action in listed(one["Action"])
    }
    assert rights == {"emr-serverless:StartJobRun", "emr-serverless:TagResource", "iam:PassRole"}
    assert timed.failure == ""
