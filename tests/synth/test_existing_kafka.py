"""A cluster of others on MSK: the lake writes its topics there, and changes nothing else of it."""

import json
from typing import Any

import pytest

from tests.existing import EXISTING_KAFKA, EXISTING_VPC
from tests.synth.rights import allowed, text
from tests.synth.synthesis import Synthesized, described, synthesize

ARN, GROUP = EXISTING_KAFKA["arn"], EXISTING_KAFKA["security_group"]
TOPICS = ARN.partition(":cluster/")[2]


def with_brokers(folder: Any, streaming: dict[str, Any]) -> Synthesized:
    content: dict[str, Any] = {
        "name": "guest",
        "region": "eu-central-1",
        "keep_data": False,
        "network": {"existing": EXISTING_VPC},
        "streaming": streaming,
        "operations": {"budget_usd": 100},
    }
    return synthesize("guest", described(folder, content))


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return with_brokers(tmp_path_factory.mktemp("guest"), {"existing": EXISTING_KAFKA})


def test_no_cluster_and_no_group_is_made(guest: Synthesized) -> None:
    made = {one["Type"] for one in guest.templates["streaming"]["Resources"].values()}
    assert made <= {"AWS::Logs::LogGroup", "Custom::AWS", "AWS::Lambda::Function", "AWS::IAM::Role", "AWS::IAM::Policy"}
    assert guest.failure == ""


def test_the_addresses_are_those_of_the_cluster(guest: Synthesized) -> None:
    (call,) = [
        one["Create"] for _, one in guest.resources("Custom::AWS") if "getBootstrapBrokers" in text(one["Create"])
    ]
    assert json.loads(text(call))["parameters"] == {"ClusterArn": ARN}


def test_workers_and_jobs_are_let_in(guest: Synthesized) -> None:
    rules = [rule for _, rule in guest.resources("AWS::EC2::SecurityGroupIngress") if rule["GroupId"] == GROUP]
    assert [rule["FromPort"] for rule in rules] == [9098, 9098]


def test_rights_are_on_the_topics_of_that_cluster(guest: Synthesized) -> None:
    written = allowed(guest.templates["connect"], "ConnectRole", "kafka-cluster")["WriteData"]
    assert {one.partition(":topic/")[2].removeprefix(TOPICS) for one in written} >= {
        "/moma.*",
        "/lake-guest-connect-offsets",
    }
    assert allowed(guest.templates["processing"], "Nodes", "kafka-cluster")["Connect"] == {ARN}


def test_the_workers_have_a_group_of_their_own(guest: Synthesized) -> None:
    (values,) = [
        json.loads(text(one["Values"]))
        for _, one in guest.resources("Custom::AWSCDK-EKS-HelmChart")
        if one["Release"] == "kafka-connect"
    ]
    assert values["group"] == "lake-guest-connect"
    groups = allowed(guest.templates["connect"], "ConnectRole", "kafka-cluster")["AlterGroup"]
    assert {one.rpartition("/")[2] for one in groups} == {values["group"]}


def test_alarms_look_at_its_brokers(guest: Synthesized) -> None:
    read = [
        one["MetricStat"]["Metric"]
        for _, alarm in guest.resources("AWS::CloudWatch::Alarm")
        for one in alarm.get("Metrics", [])
        if "MetricStat" in one
    ]
    brokers = [{one["Name"]: one["Value"] for one in metric["Dimensions"]} for metric in read]
    assert {one["Broker ID"] for one in brokers} == {"1", "2", "3"}
    assert {one["Cluster Name"] for one in brokers} == {"shared"}


def test_a_serverless_one_has_heartbeats_instead(tmp_path: Any) -> None:
    found = {key: value for key, value in EXISTING_KAFKA.items() if key != "brokers"}
    lake = with_brokers(tmp_path, {"kind": "serverless", "existing": found})
    beats = [
        alarm for _, alarm in lake.resources("AWS::CloudWatch::Alarm") if alarm.get("MetricName") == "MessagesInPerSec"
    ]
    assert [{one["Name"]: one["Value"] for one in alarm["Dimensions"]}["Cluster Name"] for alarm in beats] == ["shared"]
    assert lake.failure == ""
