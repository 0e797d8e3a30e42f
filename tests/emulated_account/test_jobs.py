"""Jobs on the emulated cluster: started, watched, failed, cancelled, stopped."""

import pytest

from tests.emulated_account.operated import Operated
from tests.emulated_account.worked import REASON, Worked

pytestmark = [pytest.mark.account, pytest.mark.operations]


@pytest.fixture
def worked(operated: Operated) -> Worked:
    return operated.worked


def test_a_job_that_the_deployment_started_is_found(worked: Worked) -> None:
    (job,) = [one for one in worked.before if one.continuous]
    assert (job.name, job.state) == ("stream", "starting")
    assert job.id.startswith("s-")


def test_a_submitted_job_is_running_once_it_reports(worked: Worked) -> None:
    assert worked.submitted.state == "running"
    assert worked.status.facts["cluster"] == "WAITING"
    assert {one.name for one in worked.status.facts["tables"]} == {
        "moma_cow.artists",
        "moma_mor.artists",
        "moma_cow.artworks",
        "moma_mor.artworks",
        "moma_mor.departments",
    }
    assert worked.status.healthy


def test_a_failure_shows_the_reason_and_the_end_of_the_log(worked: Worked) -> None:
    assert "stream failed" in worked.failure and worked.failure.count(REASON) == 2
    assert worked.failed_log == [REASON]


def test_a_step_is_cancelled(worked: Worked) -> None:
    assert (worked.cancelled.name, worked.cancelled.state) == ("verify", "cancelled")


def test_a_stopped_job_says_so_although_it_reported_just_now(worked: Worked) -> None:
    assert worked.stopped.state == "stopped"


def test_topics_are_asked_for_by_a_step(worked: Worked) -> None:
    assert worked.topics == [{"topic": "moma.public.artists"}]


def test_an_unknown_job_is_refused(worked: Worked) -> None:
    assert "no continuous job 'gold'" in worked.unknown and "choose from: stream, streamer" in worked.unknown


def test_a_step_that_really_runs_fails_with_sparks_own_words(worked: Worked) -> None:
    """run_job.sh, the secret, spark-submit with EMR's arguments, and a pipeline file that is not there."""
    assert "topics failed" in worked.really_refused
    assert "FileNotFoundException" in worked.really_refused and "pipeline.json" in worked.really_refused


def test_a_second_start_replaces_the_first_and_a_stop_leaves_none(worked: Worked) -> None:
    first, second = worked.really_started
    assert first != second
    assert worked.really_stopped == []


def test_hoodie_streamer_is_started_and_stopped_by_hand(worked: Worked) -> None:
    assert "streamer" not in {one.name for one in worked.before}
    assert [(one.name, one.continuous, one.state) for one in worked.streamer] == [
        ("streamer", True, "running"),
        ("streamer", True, "stopped"),
    ]


def test_a_job_about_sales_that_ends_is_a_step_with_a_result(worked: Worked) -> None:
    assert worked.batch["orders"] == 250


def test_a_stream_of_sales_is_started_and_stopped_by_hand(worked: Worked) -> None:
    assert not [one for one in worked.before if one.name.startswith("sales-")]
    assert [(one.name, one.continuous, one.state) for one in worked.sales] == [
        ("sales-regions", True, "running"),
        ("sales-regions", True, "stopped"),
    ]


def test_a_stream_that_begins_anew_has_its_file_and_no_checkpoint(worked: Worked) -> None:
    assert set(worked.sent) == {"state/sales-regions/regions.csv", "state/sales-regions/status.json"}


def test_hoodie_streamer_really_runs_as_far_as_the_registry(worked: Worked) -> None:
    """Its files with all places filled in, the claim on S3, the result: only that nobody answers under that name."""
    ((name, table),) = worked.really_streamed["tables"].items()
    assert (name, table["state"], table["commits"]) == ("moma_mor_streamer.artists", "failed", 0)
    assert "does not answer" in table["reason"]
