"""The connectors' hook inside helm's own course, by the command with which CDK installs the charts on AWS.

The Job that the server keeps is run with the ConfigMaps that the server keeps, against a Connect of dictionaries.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.charts import hook
from tests.charts.fake_connect import LOGIN, POSTGRES, FakeConnect
from tests.charts.rendering import Manifest, Values, chart_of, scenarios
from tests.kube_api import stand_in
from tests.kube_api.kube import Kube
from tests.kube_api.release import Done, Release

SCENARIO = scenarios("kafka-connect")[0]
SCRAM = scenarios("kafka-connect")[-1]
OF_SCENARIO = "source_postgres_moma"
MORE: Values = {"connectors": {"another": f'{{"connector.class": "{POSTGRES}"}}'}}
Deploy = Callable[..., Done]


@pytest.fixture
def own(release: Callable[..., Release]) -> Release:
    return release("kafka-connect", "admin")


@pytest.fixture
def deploy(kube: Kube, own: Release, connect: FakeConnect, tmp_path: Path) -> Iterator[Deploy]:
    """Creates or updates the release as the stack does; the pods are stood in for."""

    def run(job: Manifest) -> bool:
        return hook.run(job, kube.all("v1", "ConfigMap"), connect.url, tmp_path, LOGIN).returncode == 0

    with stand_in.at_work(kube, run):
        yield lambda values=None: own.deploy(chart_of(SCENARIO), SCENARIO, values)


def job(kube: Kube) -> Manifest:
    (found,) = kube.all("batch/v1", "Job")
    return found


def test_a_release_is_deployed_once_its_connectors_are_put(
    deploy: Deploy, own: Release, kube: Kube, connect: FakeConnect
) -> None:
    done = deploy()
    assert done.returncode == 0, done.stderr
    assert set(connect.connectors) == {OF_SCENARIO}
    assert connect.connectors[OF_SCENARIO]["lake.owner"] == f"{kube.namespace}/kafka-connect"
    assert own.history() == ["deployed"]


def test_each_release_runs_a_job_of_its_own(deploy: Deploy, kube: Kube, connect: FakeConnect) -> None:
    """A Job can't be changed: the old one must go before the new one comes, and the last one stays."""
    assert deploy().returncode == 0
    before = job(kube)["metadata"]["uid"]
    assert deploy(MORE).returncode == 0
    assert set(connect.connectors) == {OF_SCENARIO, "another"}
    assert job(kube)["metadata"]["uid"] != before


def test_a_rollback_takes_the_connectors_back(deploy: Deploy, own: Release, connect: FakeConnect) -> None:
    assert deploy().returncode == deploy(MORE).returncode == 0
    assert own.rollback(1, hooks=True).returncode == 0
    assert set(connect.connectors) == {OF_SCENARIO}


def test_a_first_release_whose_connectors_are_refused_is_taken_away(
    deploy: Deploy, own: Release, kube: Kube, connect: FakeConnect
) -> None:
    connect.errors = {OF_SCENARIO: ["The connection attempt failed."]}
    assert deploy().returncode != 0
    assert connect.changes() == []
    assert kube.all("apps/v1", "Deployment") == kube.all("v1", "ConfigMap") == kube.all("v1", "Secret") == []
    assert job(kube)["status"]["conditions"][-1]["type"] == "Failed"  # its log says why


def test_a_release_whose_connectors_are_refused_gives_way_to_the_one_before(
    deploy: Deploy, own: Release, connect: FakeConnect
) -> None:
    assert deploy().returncode == 0
    connect.errors = {"another": ["The connection attempt failed."]}
    put = connect.changes()
    assert deploy(MORE).returncode != 0
    assert connect.changes() == put
    assert own.history() == ["superseded", "failed", "deployed"]


def test_an_uninstalled_release_leaves_its_last_job_only(deploy: Deploy, own: Release, kube: Kube) -> None:
    """helm does not count hooks among what it removes."""
    assert deploy().returncode == 0
    assert own.uninstall().returncode == 0
    assert kube.all("apps/v1", "Deployment") == kube.all("v1", "ConfigMap") == []
    assert job(kube)["metadata"]["name"] == "kafka-connect-connectors"


def test_the_users_of_kafka_get_their_rights_before_the_workers_start(
    own: Release, kube: Kube, connect: FakeConnect, tmp_path: Path
) -> None:
    """Of what that Job needs nothing is left, as helm would not uninstall it."""
    scenario, seen = SCRAM, []

    def run(found: Manifest) -> bool:
        if found["metadata"]["name"] != "kafka-connect-rights":
            return hook.run(found, kube.all("v1", "ConfigMap"), connect.url, tmp_path, LOGIN).returncode == 0
        names = [one["metadata"]["name"] for one in kube.all("v1", "ConfigMap")]
        seen.append(("kafka-connect-rights" in names, kube.all("apps/v1", "Deployment")))
        return True

    with stand_in.at_work(kube, run):
        done = own.deploy(chart_of(scenario), scenario)
    assert done.returncode == 0, done.stderr
    assert seen == [(True, [])]
    assert {one["metadata"]["name"] for one in kube.all("batch/v1", "Job")} == {
        "kafka-connect-rights",
        "kafka-connect-connectors",
    }
    kinds = [("v1", "ConfigMap"), ("v1", "ServiceAccount"), ("networking.k8s.io/v1", "NetworkPolicy")]
    left = {one["metadata"]["name"] for kind in kinds for one in kube.all(*kind)}
    assert "kafka-connect-rights" not in left


def test_without_their_rights_no_worker_starts(own: Release, kube: Kube) -> None:
    with stand_in.at_work(kube, lambda _: False):
        assert own.deploy(chart_of(SCRAM), SCRAM).returncode != 0
    assert kube.all("apps/v1", "Deployment") == []
