"""The evaluator answers as IAM documents it: each test is one of its rules."""

from typing import Any

import pytest

from iam.roles import Account, Role
from tests.rights.judge import Call, Judge, Verdict

ARN = "arn:aws:iam::123456789012:role/r"
TOPIC = "arn:aws:kafka:eu-central-1:123456789012:topic/lake-dev/0-1"
GROUP = TOPIC.replace(":topic/", ":group/")
CLUSTER = TOPIC.replace(":topic/", ":cluster/")
OBJECT = "arn:aws:s3:::silver/silver/moma_cow/artists/a.parquet"
READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::silver/*"}


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(action: str | list[str], resource: str, **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action: str, resource: str, **more: Any) -> dict[str, Any]:
    return {**allow(action, resource, **more), "Effect": "Deny"}


def account(*statements: dict[str, Any], boundary: Any = None, resources: Any = None) -> Account:
    role = Role(ARN, {"inline": document(*statements)} if statements else {}, boundary or {})
    return Account(roles={"r": role}, resources=resources or {})


def ask(judge: Judge, of: Account, action: str, resource: str, **context: str) -> Verdict:
    (found,) = judge.of(of).may([Call("r", action, resource, tuple(context.items()))])
    return found


def test_what_no_statement_allows_is_denied(evaluator: Judge) -> None:
    assert ask(evaluator, account(), "s3:GetObject", OBJECT) == Verdict(False, "ImplicitlyDenied")


def test_a_verdict_names_the_statements_that_decided(evaluator: Judge) -> None:
    of = account(allow("s3:PutObject", "*"), READ, allow("s3:*", "*", Sid="All"))
    assert ask(evaluator, of, "s3:GetObject", OBJECT) == Verdict(True, "Allowed", ["inline/2", "inline/All"])


@pytest.mark.parametrize(
    ("resource", "allowed"),
    [
        (f"{TOPIC}/moma.public.artists", True),
        (f"{TOPIC}/moma.public.artworks", True),
        (f"{TOPIC}/tickit.public.sale", False),
        (f"{TOPIC}x/moma.public.artists", False),
    ],
)
def test_a_wildcard_matches_the_rest_of_a_name(evaluator: Judge, resource: str, allowed: bool) -> None:
    of = account(allow("kafka-cluster:ReadData", f"{TOPIC}/moma.*"))
    assert ask(evaluator, of, "kafka-cluster:ReadData", resource).allowed is allowed


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("kafka-cluster:Connect", CLUSTER),
        ("kafka-cluster:WriteDataIdempotently", CLUSTER),
        ("kafka-cluster:DescribeTopic", f"{TOPIC}/t"),
        ("kafka-cluster:AlterGroup", f"{GROUP}/lake_stream"),
        ("glue:GetTable", "arn:aws:glue:eu-central-1:123456789012:table/moma_cow/artists"),
        ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:s-abcdef"),
        ("ssm:GetParameter", "arn:aws:ssm:eu-central-1:123456789012:parameter/lake/dev/sheet"),
        ("kafka:GetBootstrapBrokers", "*"),
    ],
)
def test_an_action_is_of_its_service_alone(evaluator: Judge, action: str, resource: str) -> None:
    service = action.partition(":")[0]
    assert ask(evaluator, account(allow(f"{service}:*", "*")), action, resource).allowed
    assert not ask(evaluator, account(allow(f"{service}x:*", "*")), action, resource).allowed


@pytest.mark.parametrize(("prefix", "allowed"), [("requests/", True), ("requests/1", True), ("answers/", False)])
def test_a_condition_must_hold(evaluator: Judge, prefix: str, allowed: bool) -> None:
    within = {"StringLike": {"s3:prefix": "requests/*"}}
    of = account(allow("s3:ListBucket", "arn:aws:s3:::b", Condition=within))
    assert ask(evaluator, of, "s3:ListBucket", "arn:aws:s3:::b", **{"s3:prefix": prefix}).allowed is allowed


def test_a_condition_on_a_key_that_is_not_given_does_not_hold(evaluator: Judge) -> None:
    within = {"StringEquals": {"cloudwatch:namespace": "Lake"}}
    of = account(allow("cloudwatch:PutMetricData", "*", Condition=within))
    assert not ask(evaluator, of, "cloudwatch:PutMetricData", "*").allowed
    assert ask(evaluator, of, "cloudwatch:PutMetricData", "*", **{"cloudwatch:namespace": "Lake"}).allowed


def test_a_deny_wins_over_any_allow(evaluator: Judge) -> None:
    of = account(READ, allow("*", "*"), deny("s3:*", "arn:aws:s3:::silver/silver/moma_cow/*", Sid="Not"))
    assert ask(evaluator, of, "s3:GetObject", OBJECT) == Verdict(False, "ExplicitlyDenied", ["inline/Not"])
    assert ask(evaluator, of, "s3:GetObject", "arn:aws:s3:::silver/other").allowed


def test_a_boundary_allows_nothing_by_itself_and_limits_the_rest(evaluator: Judge) -> None:
    boundary = {"edge": document(allow("s3:Get*", "*"))}
    assert not ask(evaluator, account(boundary=boundary), "s3:GetObject", OBJECT).allowed
    both = account(allow("s3:*", "*"), boundary=boundary)
    assert ask(evaluator, both, "s3:GetObject", OBJECT).allowed
    assert not ask(evaluator, both, "s3:PutObject", OBJECT).allowed


def test_the_policy_of_a_bucket_denies_its_objects(evaluator: Judge) -> None:
    plain = {"Bool": {"aws:SecureTransport": "false"}}
    closed = {**deny("s3:*", "arn:aws:s3:::silver/*", Condition=plain), "Principal": {"AWS": "*"}}
    of = account(READ, resources={"arn:aws:s3:::silver": document(closed)})
    assert ask(evaluator, of, "s3:GetObject", OBJECT).allowed
    assert not ask(evaluator, of, "s3:GetObject", OBJECT, **{"aws:SecureTransport": "false"}).allowed


def test_a_key_is_used_by_whom_its_policy_lets_the_account_decide(evaluator: Judge) -> None:
    """A key's own policy must let IAM decide; without that, no policy of a role counts."""
    key = "arn:aws:kms:eu-central-1:123456789012:key/k"
    root = {**allow("kms:*", "*"), "Principal": {"AWS": "arn:aws:iam::123456789012:root"}}
    other = {**root, "Principal": {"AWS": "arn:aws:iam::123456789012:role/other"}}
    use = allow("kms:Decrypt", key)
    assert ask(evaluator, account(use, resources={key: document(root)}), "kms:Decrypt", key).allowed
    assert not ask(evaluator, account(resources={key: document(root)}), "kms:Decrypt", key).allowed
    assert not ask(evaluator, account(use, resources={key: document(other)}), "kms:Decrypt", key).allowed


def test_an_action_that_does_not_exist_is_said_to_be_so(evaluator: Judge) -> None:
    found = ask(evaluator, account(allow("*", "*")), "kafka-cluster:ReadTopic", f"{TOPIC}/t")
    assert (found.allowed, "invalid.action" in found.reason) == (False, True)


def test_an_unknown_role_is_named(evaluator: Judge) -> None:
    (found,) = evaluator.of(account()).may([Call("q", "s3:GetObject", OBJECT)])
    assert (found.allowed, found.reason) == (False, "no role q; there are: r")


def test_an_action_that_the_evaluators_reference_lacks_is_judged_like_the_others(evaluator: Judge) -> None:
    connector = "arn:aws:kafkaconnect:eu-central-1:123456789012:connector/moma/x-1"
    of = account(allow("kafkaconnect:RestartConnector", connector))
    assert ask(evaluator, of, "kafkaconnect:RestartConnector", connector).allowed
    assert not ask(evaluator, of, "kafkaconnect:RestartConnector", connector.replace("moma", "shop")).allowed
    unknown = ask(evaluator, of, "kafkaconnect:RestartNothing", connector)
    assert not unknown.allowed and "invalid.action" in unknown.reason
