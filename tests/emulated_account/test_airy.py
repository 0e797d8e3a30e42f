"""A lake on EMR Serverless: the deployment starts its jobs, the command line knows them, and nothing is left of it."""

import pytest

from tests.emulated_account.airy import REASON, Airy
from tests.emulated_account.test_one import PARTS

pytestmark = [pytest.mark.account, pytest.mark.operations]


def test_it_is_deployed(airy: Airy) -> None:
    assert airy.stacks == {f"lake-airy-{part}": "CREATE_COMPLETE" for part in PARTS}
    assert airy.same.code == 0, airy.same.text
    assert airy.application["type"] == "SPARK" and airy.application["state"] == "STARTED"


def test_the_deployment_starts_the_job_with_its_pipeline_file(airy: Airy) -> None:
    (job,) = airy.before
    assert (job.name, job.continuous, job.state) == ("stream", True, "starting")
    assert airy.pipeline["kafka"]["kafka.bootstrap.servers"].endswith(":9098")
    assert "@" not in airy.pipeline["registry"] and airy.pipeline["registry"].startswith("http://k8s-lake-")


def test_the_lake_is_healthy(airy: Airy) -> None:
    assert airy.status.healthy
    assert airy.status.facts["cluster"] == "STARTED"


def test_the_command_line_starts_what_the_deployment_started(airy: Airy) -> None:
    assert airy.resubmitted_run == airy.deployed_run
    assert airy.deployed_run["mode"] == "STREAMING"


def test_a_submitted_job_replaces_the_one_that_runs(airy: Airy) -> None:
    assert airy.submitted.state == "running" and airy.submitted.id != airy.before[0].id
    assert airy.ended == {airy.before[0].id: "CANCELLED", airy.submitted.id: "RUNNING"}


def test_a_failure_shows_the_reason_and_the_end_of_the_log(airy: Airy) -> None:
    assert "stream failed" in airy.failure and airy.failure.count(REASON) == 2
    assert airy.failed_log == [REASON]


def test_the_rows_are_verified_by_a_job_run(airy: Airy) -> None:
    assert airy.verified["equal"] is True


def test_a_stopped_job_says_so_although_it_reported_just_now(airy: Airy) -> None:
    assert airy.stopped.state == "stopped"


def test_other_limits_make_another_application_that_takes_the_jobs_over(airy: Airy) -> None:
    assert airy.another["maximumCapacity"] == {"cpu": "64 vCPU", "memory": "256 GB"}
    assert airy.moved == {airy.another["name"]: ["stream"]}
    assert airy.another["name"] != airy.application["name"]


def test_a_teardown_with_a_running_job_leaves_nothing(airy: Airy) -> None:
    assert airy.left == []
    assert {one for one in airy.remains if not one.startswith("logs/")} == set()
