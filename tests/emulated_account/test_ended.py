"""A cluster that ended itself, and a job that ended by itself."""

import pytest

from tests.emulated_account.ended import Ended
from tests.emulated_account.test_one import PARTS

pytestmark = [pytest.mark.account, pytest.mark.operations]


def test_the_end_of_a_cluster_is_seen(ended: Ended) -> None:
    assert ended.state == "TERMINATED"
    assert "the cluster is TERMINATED" in ended.status
    assert ended.unfinished <= {"COMPLETED", "CANCELLED", "INTERRUPTED"}


def test_a_job_is_refused_with_the_command_that_deploys_another_cluster(ended: Ended) -> None:
    assert "the cluster is TERMINATED" in ended.refused and ended.first in ended.refused
    assert "npx cdk deploy --all -c env=demo --parameters lake-demo-processing:ClusterNumber=2" in ended.refused


def test_that_command_makes_another_cluster_with_the_jobs_on_it(ended: Ended) -> None:
    assert ended.second != ended.first
    assert ended.steps == ["stream"]
    assert {part: state.rpartition("_")[2] for part, state in ended.stacks.items()} == {
        f"lake-demo-{part}": "COMPLETE" for part in PARTS
    }


def test_other_stacks_watch_the_new_cluster(ended: Ended) -> None:
    assert ended.watched == ended.second


def test_the_number_is_kept_for_later_deployments(ended: Ended) -> None:
    assert ended.same.code == 0, ended.same.text


def test_a_job_that_yarn_gave_up_is_started_as_it_was(ended: Ended) -> None:
    assert ended.started_again == ["stream"]
    first, second = ended.arguments
    assert first == second and first[:2] == ["bash", "-c"]


def test_a_job_that_ends_again_and_again_calls_a_person(ended: Ended) -> None:
    assert "not started again after 4 starts" in ended.given_up and "stream" in ended.given_up


def test_a_job_that_was_stopped_stays_stopped(ended: Ended) -> None:
    assert ended.after_a_stop == []
