"""A cluster of others on EKS: the charts are installed there, and nothing else of it is changed."""

import json
from typing import Any

import pytest

from tests.existing import EXISTING_CLUSTER, EXISTING_VPC
from tests.synth.rights import text
from tests.synth.synthesis import Synthesized, described, synthesize


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    content: dict[str, Any] = {
        "name": "hosted",
        "region": "eu-central-1",
        "keep_data": False,
        "network": {"existing": EXISTING_VPC},
        "connect": {"existing": EXISTING_CLUSTER, "administrators": ["Operators"]},
        "operations": {"budget_usd": 100},
    }
    return synthesize("hosted", described(tmp_path_factory.mktemp("hosted"), content))


def test_nothing_of_a_cluster_is_made(hosted: Synthesized) -> None:
    made = {one["Type"] for one in hosted.templates["connect"]["Resources"].values()}
    assert not made & {"AWS::EKS::Cluster", "AWS::EKS::Addon", "Custom::AWSCDK-EKS-KubernetesResource"}
    assert hosted.failure == ""


def test_the_charts_go_to_the_cluster_with_its_load_balancers(hosted: Synthesized) -> None:
    charts = {one["Release"]: one for _, one in hosted.resources("Custom::AWSCDK-EKS-HelmChart")}
    assert len(charts) == 3 and {one["ClusterName"] for one in charts.values()} == {"shared"}
    balancer = json.loads(text(charts["apicurio-registry"]["Values"]))["internalLoadBalancer"]
    assert balancer["class"] == "service.k8s.aws/nlb"


def test_helm_is_admitted_before_the_first_chart(hosted: Synthesized) -> None:
    resources = hosted.templates["connect"]["Resources"]
    entries = {id: one["Properties"] for id, one in resources.items() if one["Type"] == "AWS::EKS::AccessEntry"}
    scopes = {id: [policy["AccessScope"]["Type"] for policy in one["AccessPolicies"]] for id, one in entries.items()}
    (helm,) = [id for id, found in scopes.items() if found == ["cluster"]]
    assert sorted(scopes.values()) == [["cluster"], ["namespace"]]
    charts = [one for one in resources.values() if one["Type"].endswith("HelmChart")]
    assert all(helm in one["DependsOn"] for one in charts)


def test_its_pods_reach_database_and_brokers(hosted: Synthesized) -> None:
    rules = [rule for _, rule in hosted.resources("AWS::EC2::SecurityGroupIngress")]
    ports = {rule["FromPort"] for rule in rules if rule["SourceSecurityGroupId"] == EXISTING_CLUSTER["security_group"]}
    assert ports == {5432, 9098}


def test_pods_get_their_roles_there(hosted: Synthesized) -> None:
    found = [one for _, one in hosted.resources("AWS::EKS::PodIdentityAssociation")]
    assert len(found) == 5 and {one["ClusterName"] for one in found} == {"shared"}


def test_failures_are_counted_in_the_logs_of_the_cluster(hosted: Synthesized) -> None:
    groups = {text(one["LogGroupName"]) for _, one in hosted.resources("AWS::Logs::MetricFilter")}
    assert groups == {"/aws/containerinsights/shared/application"}
