"""What is wanted of the Kubernetes cluster, its nodes and its logs."""

import json
from typing import Any

from tests.synth.rights import listed, statements, text
from tests.synth.synthesis import Synthesized

# Custom resources run code in the account, so each needs a reason: AWS offers no other way.


def manifests(lake: Synthesized) -> dict[str, dict[str, Any]]:
    """What is applied to Kubernetes beside the charts, by kind."""
    applied = [json.loads(text(one["Manifest"])) for _, one in lake.resources("Custom::AWSCDK-EKS-KubernetesResource")]
    return {one["kind"]: one for found in applied for one in found}


def test_network_policies_are_enforced(lake: Synthesized) -> None:
    """By Auto Mode only with this switch, and on nodes of such a class (EKS user guide, auto-net-pol; AWS-11)."""
    switch = manifests(lake)["ConfigMap"]
    assert (switch["metadata"]["namespace"], switch["metadata"]["name"]) == ("kube-system", "amazon-vpc-cni")
    assert switch["data"] == {"enable-network-policy-controller": "true"}
    nodes, pool = manifests(lake)["NodeClass"], manifests(lake)["NodePool"]
    assert nodes["spec"]["networkPolicy"] == "DefaultAllow"
    reference = {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": nodes["metadata"]["name"]}
    assert pool["spec"]["template"]["spec"]["nodeClassRef"] == reference


def test_no_pod_runs_before_its_network_policies_are_enforced(lake: Synthesized) -> None:
    resources = lake.templates["connect"]["Resources"]
    applied = {id for id, one in resources.items() if one["Type"] == "Custom::AWSCDK-EKS-KubernetesResource"}
    waits = [set(one["DependsOn"]) for one in resources.values() if one["Type"].endswith("HelmChart")]
    assert len(applied) == 3 and len(waits) == 3 and all(applied <= one for one in waits)


def test_every_pod_runs_on_nodes_of_our_class(lake: Synthesized) -> None:
    """EKS's own pool that takes pods has nodes without our tags; the other takes only what tolerates its taint."""
    assert lake.only("AWS::EKS::Cluster")["ComputeConfig"]["NodePools"] == ["system"]


def test_what_auto_mode_makes_carries_our_tag(lake: Synthesized) -> None:
    assert manifests(lake)["NodeClass"]["spec"]["tags"] == {"lake": lake.name}
    name = lake.only("AWS::EKS::Cluster")["Name"]
    tagging = [one for one in statements(lake.templates["connect"], "KubernetesRole") if one["Resource"] == "*"]
    actions = {action for one in tagging for action in listed(one["Action"])}
    assert {"ec2:RunInstances", "ec2:CreateNetworkInterface", "elasticloadbalancing:CreateLoadBalancer"} <= actions
    held = [one["Condition"]["StringEquals"]["aws:RequestTag/eks:eks-cluster-name"] for one in tagging]
    assert held and set(held) == {name}


def test_every_log_group_of_the_agent_is_made_before_it(lake: Synthesized) -> None:
    """Otherwise the agent makes it, without key and end, and it outlives the stack (AWS-3)."""
    (addon,) = (one for _, one in lake.resources("AWS::EKS::Addon") if "cloudwatch" in one["AddonName"])
    settings, insights = json.loads(addon["ConfigurationValues"]), lake.name == "prod"
    assert settings == {"containerInsights": {"enabled": insights}, "applicationSignals": {"enabled": False}}
    names = [one.get("LogGroupName", "") for _, one in lake.resources("AWS::Logs::LogGroup")]
    made = {name.rpartition("/")[2] for name in names if name.startswith(f"/aws/containerinsights/lake-{lake.name}/")}
    assert made == {"application", "dataplane", "host", *(["performance"] if insights else [])}
