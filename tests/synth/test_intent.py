"""What must be true of every environment, whatever its sizes; each test is one rule."""

import json
import re
from typing import Any

import pytest

from lake.config import versions
from lake.rendering.spark import SESSION, STREAMING
from tests.synth.rights import text
from tests.synth.synthesis import Synthesized

# Custom resources run code in the account, so each needs a reason: AWS offers no other way.
CUSTOM = {
    "Custom::AWS": "the brokers of MSK, for which there is no attribute; log groups that an earlier lake left",
    "Custom::AWSCDK-EKS-HelmChart": "charts are installed by helm",
    "Custom::AWSCDK-EKS-KubernetesResource": "network policies, and the nodes with their tags: objects of Kubernetes",
    "Custom::AWSCDK-EKS-KubernetesObjectValue": "the address that Kubernetes gave the registry's load balancer",
    "Custom::S3AutoDeleteObjects": "a bucket of a throw-away environment is emptied before it is deleted",
}
SOURCE_METRICS = (
    *("OldestReplicationSlotLag", "TransactionLogsDiskUsage", "FreeStorageSpace", "CPUUtilization"),
    "DatabaseConnections",
)
JOB_METRICS = ("Lag", "ReportAge", "StoppedTables", "QuarantinedMessages")
BROKER_METRICS = {"OfflinePartitionsCount", "KafkaDataLogsDiskUsed", "UnderReplicatedPartitions"}
MSK_TYPES = ("kafka.t3.small", "kafka.m7g.large", "kafka.m7g.xlarge")
RDS_PARAMETERS = {
    "rds.logical_replication": "1",
    "rds.force_ssl": "1",
    "max_replication_slots": "16",
    "max_wal_senders": "16",
    "wal_sender_timeout": "60000",
}


def test_custom_resources_are_the_listed_ones(lake: Synthesized) -> None:
    types = {one["Type"] for template in lake.templates.values() for one in template["Resources"].values()}
    assert {kind for kind in types if kind.startswith("Custom::") or "CustomResource" in kind} <= set(CUSTOM)


def test_free_calls_are_for_the_brokers_and_for_leftover_log_groups(lake: Synthesized) -> None:
    called = [json.loads(text(one["Create"])) for _, one in lake.resources("Custom::AWS")]
    assert sorted({(call["service"], call["action"]) for call in called}) == [
        ("CloudWatchLogs", "deleteLogGroup"),
        ("Kafka", "getBootstrapBrokers"),
    ]


def test_a_leftover_of_each_named_log_group_is_deleted_before_the_group_is_made(lake: Synthesized) -> None:
    """EKS, RDS and the agents make the group again that was deleted with an earlier lake."""
    for template in lake.templates.values():
        for resource in template["Resources"].values():
            if resource["Type"] == "AWS::Logs::LogGroup" and "LogGroupName" in resource["Properties"]:
                before = [template["Resources"][id] for id in resource.get("DependsOn", [])]
                (call,) = [json.loads(text(one["Properties"]["Create"])) for one in before if "Custom" in one["Type"]]
                assert call["parameters"] == {"logGroupName": resource["Properties"]["LogGroupName"]}
                assert call["ignoreErrorCodesMatching"] == "ResourceNotFoundException"


def test_every_log_group_that_services_make_is_made_before_them(lake: Synthesized) -> None:
    names = {group.get("LogGroupName", "") for _, group in lake.resources("AWS::Logs::LogGroup")}
    assert {f"/aws/eks/lake-{lake.name}/cluster", f"/aws/rds/instance/lake-{lake.name}/postgresql"} <= names


def test_no_bucket_is_public(lake: Synthesized) -> None:
    closed = dict.fromkeys(["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"], True)
    buckets = lake.resources("AWS::S3::Bucket")
    assert len(buckets) == 4
    assert [id for id, bucket in buckets if bucket["PublicAccessBlockConfiguration"] != closed] == []


def test_buckets_are_encrypted_versioned_and_tidied(lake: Synthesized) -> None:
    algorithms = []
    for _, bucket in lake.resources("AWS::S3::Bucket"):
        (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        algorithms.append(rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"])
        assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
        tidy = bucket["LifecycleConfiguration"]["Rules"][0]
        assert tidy["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
        assert tidy["NoncurrentVersionExpiration"] == {"NoncurrentDays": 7}
    assert sorted(algorithms) == ["AES256", "aws:kms", "aws:kms", "aws:kms"]  # access logs know no other key


def test_buckets_answer_over_tls_only(lake: Synthesized) -> None:
    policies = lake.resources("AWS::S3::BucketPolicy")
    denied = [
        statement["Condition"]
        for _, policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert denied.count({"Bool": {"aws:SecureTransport": "false"}}) == len(policies) == 4


def test_every_key_rotates(lake: Synthesized) -> None:
    keys = [key["EnableKeyRotation"] for _, key in lake.resources("AWS::KMS::Key")]
    assert all(keys) and len(keys) >= 7


def test_every_log_group_is_encrypted_and_ends(lake: Synthesized) -> None:
    groups = [group for _, group in lake.resources("AWS::Logs::LogGroup")]
    assert groups and [group for group in groups if not group.get("RetentionInDays")] == []
    assert [group for group in groups if "KmsKeyId" not in group] == []


def test_no_handler_logs_for_ever(lake: Synthesized) -> None:
    handlers = dict(lake.resources("AWS::Lambda::Function"))
    assert handlers and [id for id, handler in handlers.items() if "LoggingConfig" not in handler] == []


def test_the_database_lets_its_changes_be_read(lake: Synthesized) -> None:
    group = lake.only("AWS::RDS::DBParameterGroup")
    kept = {key: value for key, value in group["Parameters"].items() if key != "max_slot_wal_keep_size"}
    assert group["Family"] == "postgres17"
    assert kept == RDS_PARAMETERS


def test_a_slot_cannot_fill_the_disk(lake: Synthesized) -> None:
    database = lake.only("AWS::RDS::DBInstance")
    kept_mb = int(lake.only("AWS::RDS::DBParameterGroup")["Parameters"]["max_slot_wal_keep_size"])
    assert kept_mb <= int(database["AllocatedStorage"]) * 1024 / 2


def test_the_database_is_closed_and_encrypted(lake: Synthesized) -> None:
    database = lake.only("AWS::RDS::DBInstance")
    assert (database["PubliclyAccessible"], database["StorageEncrypted"]) == (False, True)
    assert database["EngineVersion"] == versions.POSTGRESQL
    assert re.fullmatch(r"db\.[a-z0-9]+\.[a-z0-9]+", database["DBInstanceClass"])


def test_a_protected_environment_has_protected_stacks(lake: Synthesized) -> None:
    """CloudFormation refuses to delete such a stack, so that `cdk destroy --all` removes nothing."""
    stacks = json.loads((lake.folder / "manifest.json").read_text())["artifacts"].values()
    protected = [
        one["properties"].get("terminationProtection", False)
        for one in stacks
        if one["type"] == "aws:cloudformation:stack"
    ]
    assert protected == [lake.name == "prod"] * len(lake.templates)


def test_topics_go_with_their_stack_but_never_by_a_change(lake: Synthesized) -> None:
    (cluster,) = [
        one
        for one in lake.templates["streaming"]["Resources"].values()
        if one["Type"] in ("AWS::MSK::Cluster", "AWS::MSK::ServerlessCluster")
    ]
    assert (cluster["DeletionPolicy"], cluster["UpdateReplacePolicy"]) == ("Delete", "Retain")


def test_production_survives_a_mistake(prod: Synthesized) -> None:
    database = prod.only("AWS::RDS::DBInstance")
    assert (database["DeletionProtection"], database["MultiAZ"], database["BackupRetentionPeriod"]) == (True, True, 14)
    kept = [one.get("DeletionPolicy") for one in prod.templates["storage"]["Resources"].values() if one["Type"] in KEPT]
    assert set(kept) == {"Retain"}
    assert prod.resources("Custom::S3AutoDeleteObjects") == []


KEPT = ("AWS::S3::Bucket", "AWS::KMS::Key")


def test_a_throw_away_lake_leaves_nothing(dev: Synthesized) -> None:
    policies = {
        one.get("DeletionPolicy")
        for template in dev.templates.values()
        for one in template["Resources"].values()
        if one["Type"] not in ("AWS::CDK::Metadata",)
    }
    assert "Retain" not in policies and "Snapshot" not in policies


def test_brokers_know_iam_only(dev: Synthesized, prod: Synthesized) -> None:
    for lake in (dev, prod):
        cluster = lake.only("AWS::MSK::Cluster")
        assert cluster["ClientAuthentication"] == {
            "Sasl": {"Iam": {"Enabled": True}, "Scram": {"Enabled": False}},
            "Unauthenticated": {"Enabled": False},
        }
        assert cluster["EncryptionInfo"]["EncryptionInTransit"] == {"ClientBroker": "TLS", "InCluster": True}
        assert cluster["KafkaVersion"] == "3.9.x.kraft"
        assert cluster["BrokerNodeGroupInfo"]["InstanceType"] in MSK_TYPES
        assert cluster["NumberOfBrokerNodes"] >= 3


def test_brokers_lose_nothing(prod: Synthesized) -> None:
    settings = dict(line.split("=") for line in prod.only("AWS::MSK::Configuration")["ServerProperties"].splitlines())
    assert settings == {
        "auto.create.topics.enable": "false",
        "default.replication.factor": "3",
        "log.retention.hours": "168",
        "message.max.bytes": "16777216",
        "min.insync.replicas": "2",
        "replica.fetch.max.bytes": "16777216",
        "unclean.leader.election.enable": "false",
    }


def test_serverless_knows_iam_only(demo: Synthesized) -> None:
    cluster = demo.only("AWS::MSK::ServerlessCluster")
    assert cluster["ClientAuthentication"] == {"Sasl": {"Iam": {"Enabled": True}}}


def test_the_source_has_a_network_of_its_own_in_demo(demo: Synthesized) -> None:
    assert len(demo.resources("AWS::EC2::VPC")) == 2
    routes = [route for _, route in demo.resources("AWS::EC2::Route") if "VpcPeeringConnectionId" in route]
    assert {route["DestinationCidrBlock"] for route in routes} == {"10.30.0.0/16", "10.31.0.0/16"}


def test_nothing_is_open_to_the_world(lake: Synthesized) -> None:
    rules = [rule for _, rule in lake.resources("AWS::EC2::SecurityGroupIngress")]
    inline = [
        rule for _, group in lake.resources("AWS::EC2::SecurityGroup") for rule in group.get("SecurityGroupIngress", [])
    ]
    assert [rule for rule in rules + inline if rule.get("CidrIp") == "0.0.0.0/0"] == []


def test_the_kubernetes_api_is_private(lake: Synthesized) -> None:
    cluster = lake.only("AWS::EKS::Cluster")
    access = cluster["ResourcesVpcConfig"]
    assert (access["EndpointPrivateAccess"], access["EndpointPublicAccess"]) == (True, False)
    assert cluster["Version"] == versions.KUBERNETES
    assert "EncryptionConfig" in cluster


def test_the_emr_cluster(lake: Synthesized) -> None:
    cluster = lake.only("AWS::EMR::Cluster")
    assert cluster["ReleaseLabel"] == "emr-6.15.0"
    names = [one["Name"] for one in cluster["Applications"]]
    assert names == ["Spark", "Hadoop", "Hive", "Livy", "JupyterEnterpriseGateway"]
    assert cluster["StepConcurrencyLevel"] > 1
    assert cluster["ManagedScalingPolicy"]["ComputeLimits"]["UnitType"] == "Instances"
    factories = {
        one["Classification"]: one["ConfigurationProperties"].get("hive.metastore.client.factory.class", "")
        for one in cluster["Configurations"]
    }
    assert "Glue" in factories["hive-site"] and "Glue" in factories["spark-hive-site"]


def test_emr_encrypts_and_asks_for_tokens(lake: Synthesized) -> None:
    content = lake.only("AWS::EMR::SecurityConfiguration")["SecurityConfiguration"]
    encryption = content["EncryptionConfiguration"]["AtRestEncryptionConfiguration"]
    assert encryption["S3EncryptionConfiguration"]["EncryptionMode"] == "SSE-KMS"
    assert encryption["LocalDiskEncryptionConfiguration"]["EnableEbsEncryption"] is True
    assert content["InstanceMetadataServiceConfiguration"]["MinimumInstanceMetadataServiceVersion"] == 2


def test_only_demo_ends_its_cluster(lake: Synthesized) -> None:
    policy = lake.only("AWS::EMR::Cluster").get("AutoTerminationPolicy")
    assert policy == ({"IdleTimeout": 3600} if lake.name == "demo" else None)


def test_a_job_reads_and_writes_as_the_local_one_does(lake: Synthesized) -> None:
    """A date before 1900, a NULL in an array, a local time: each depends on a setting of Spark's."""
    (defaults,) = (
        one["ConfigurationProperties"]
        for one in lake.only("AWS::EMR::Cluster")["Configurations"]
        if one["Classification"] == "spark-defaults"
    )
    assert SESSION.items() <= defaults.items()
    for _, step in lake.resources("AWS::EMR::Step"):
        arguments = [text(one) for one in step["HadoopJarStep"]["Args"]]
        assert {f"{key}={value}" for key, value in STREAMING.items()} <= set(arguments)


def test_yarn_starts_a_driver_as_often_as_the_job_asks(lake: Synthesized) -> None:
    """Its own limit is 2 unless it is told, and no application can exceed it."""
    settings = {one["Classification"]: one["ConfigurationProperties"] for one in configurations(lake)}
    for _, step in lake.resources("AWS::EMR::Step"):
        arguments = [text(one) for one in step["HadoopJarStep"]["Args"]]
        asked = next(one for one in arguments if one.startswith("spark.yarn.maxAppAttempts="))
        assert asked.partition("=")[2] == settings["yarn-site"]["yarn.resourcemanager.am.max-attempts"] == "5"


def configurations(lake: Synthesized) -> list[dict[str, Any]]:
    return list(lake.only("AWS::EMR::Cluster")["Configurations"])


def test_somebody_is_told_when_a_job_is_not_started_any_more(lake: Synthesized) -> None:
    (alarm,) = [one for id, one in lake.resources("AWS::CloudWatch::Alarm") if "JobNotRestarted" in id]
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Threshold"]) == ("AWS/Lambda", "Errors", 0)
    (rule,) = [one for _, one in lake.resources("AWS::Events::Rule") if "ScheduleExpression" in one]
    assert rule["ScheduleExpression"] == "rate(5 minutes)"


def test_no_stack_imports_the_id_of_the_cluster(lake: Synthesized) -> None:
    """CloudFormation changes no output that another stack imports, and so would never replace the cluster."""
    outputs = lake.templates["processing"].get("Outputs", {}).values()
    assert [one for one in outputs if one["Value"] == {"Ref": "Cluster"}] == []


def test_a_job_never_holds_up_a_deployment(lake: Synthesized) -> None:
    for _, step in lake.resources("AWS::EMR::Step"):
        arguments = [text(one) for one in step["HadoopJarStep"]["Args"]]
        for setting in (
            "spark.yarn.submit.waitAppCompletion=false",
            "spark.yarn.am.attemptFailuresValidityInterval=1h",
        ):
            assert setting in arguments
        assert arguments[arguments.index("--deploy-mode") + 1] == "cluster"


@pytest.mark.parametrize(
    ("name", "jobs"), [("dev", {"stream": "silver,bronze"}), ("prod", {"silver": "silver", "bronze": "bronze"})]
)
def test_every_job_of_the_environment_is_a_step(
    name: str, jobs: dict[str, str], request: pytest.FixtureRequest
) -> None:
    steps = [step for _, step in request.getfixturevalue(name).resources("AWS::EMR::Step")]
    found = {step["Name"]: text(step["HadoopJarStep"]["Args"][-1]) for step in steps}
    assert found == jobs


def test_queries_are_limited_and_their_results_encrypted(lake: Synthesized) -> None:
    settings = lake.only("AWS::Athena::WorkGroup")["WorkGroupConfiguration"]
    limit = {"dev": 10, "demo": 10, "prod": 100}[lake.name] * 1024**3
    assert settings["BytesScannedCutoffPerQuery"] == limit
    assert settings["EnforceWorkGroupConfiguration"] is True
    assert settings["ResultConfiguration"]["EncryptionConfiguration"]["EncryptionOption"] == "SSE_KMS"


def test_the_catalog_has_a_database_per_table_type(lake: Synthesized) -> None:
    names = [database["DatabaseInput"]["Name"] for _, database in lake.resources("AWS::Glue::Database")]
    streamed = ["moma_cow_streamer", "moma_mor_streamer"]
    assert sorted(names) == sorted(["moma_cow", "moma_mor", "moma_quarantine", "refined", *streamed])


def test_alarms_reach_the_topic(lake: Synthesized) -> None:
    alarms = dict(lake.resources("AWS::CloudWatch::Alarm"))
    silent = [id for id, alarm in alarms.items() if not alarm.get("AlarmActions")]
    assert silent == [] and [id for id, alarm in alarms.items() if alarm["OKActions"] != alarm["AlarmActions"]] == []
    watched = {name for alarm in alarms.values() for name in metric_names(alarm)}
    kafka = {"demo": {"MessagesInPerSec"}}.get(lake.name, BROKER_METRICS)
    pods = {"prod": {"service_number_of_running_pods"}}.get(lake.name, set())  # where Container Insights count them
    assert {*SOURCE_METRICS, *JOB_METRICS, *kafka, *pods} <= watched
    assert lake.name == "prod" or "service_number_of_running_pods" not in watched


def metric_names(alarm: dict[str, Any]) -> set[str]:
    parts = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", []) if "MetricStat" in one] or [alarm]
    return {part["MetricName"] for part in parts}


def test_failed_steps_and_clusters_are_told_of(lake: Synthesized) -> None:
    patterns = [rule.get("EventPattern", {}) for _, rule in lake.resources("AWS::Events::Rule")]
    states = [pattern["detail"]["state"] for pattern in patterns if pattern.get("source") == ["aws.emr"]]
    assert sorted(states) == [["FAILED"], ["TERMINATED_WITH_ERRORS"]]


def test_a_first_deployment_and_a_cluster_that_ended_itself_raise_no_alarm(lake: Synthesized) -> None:
    (silent,) = [one for id, one in lake.resources("AWS::CloudWatch::Alarm") if id.startswith("AlarmsSilentJob")]
    if lake.name == "demo":
        assert silent["TreatMissingData"] == "notBreaching" and "AppsRunning" in metric_names(silent)
    else:
        assert (silent["EvaluationPeriods"], silent["Period"]) == (10, 60)


def test_disks_of_brokers_grow_before_their_alarm(dev: Synthesized, prod: Synthesized) -> None:
    for lake, limit in ((dev, 100), (prod, 1000)):
        assert lake.only("AWS::ApplicationAutoScaling::ScalableTarget")["MaxCapacity"] == limit
        policy = lake.only("AWS::ApplicationAutoScaling::ScalingPolicy")
        tracked = policy["TargetTrackingScalingPolicyConfiguration"]
        (alarm,) = [one for id, one in lake.resources("AWS::CloudWatch::Alarm") if id.startswith("AlarmsBrokerDisk")]
        assert tracked["TargetValue"] < alarm["Threshold"] and tracked["DisableScaleIn"] is True


def test_no_template_holds_an_account_or_a_secret(lake: Synthesized) -> None:
    for part, template in lake.templates.items():
        content = json.dumps(template)
        assert re.findall(r"arn:aws[^\"]*?:[0-9]{12}:", content) == [], part
        assert re.findall(r'"(?:MasterUserPassword|SecretString)": "(?!{{resolve)', content) == [], part


def test_only_the_nodes_of_emr_reach_the_registry_from_outside_the_cluster(lake: Synthesized) -> None:
    rules = [
        one for _, one in lake.resources("AWS::EC2::SecurityGroupIngress") if "RegistryGroup" in text(one["GroupId"])
    ]
    sources = [text(one["SourceSecurityGroupId"]) for one in rules]
    assert [one["FromPort"] for one in rules] == [8080] and len(sources) == 1 and "GroupsNodes" in sources[0]
    (group,) = (one for id, one in lake.resources("AWS::EC2::SecurityGroup") if id.startswith("RegistryGroup"))
    assert "SecurityGroupIngress" not in group
