"""MSK's login by IAM on this machine: which key belongs to which role, and the policies that decide.

It is for tests of the policies of AWS. The policies are those of the stacks of environments/dev.yaml, with the tables
that are defined now; iam/ reads and evaluates them.
"""

import json
import os
import secrets
import shutil
import sys
from pathlib import Path

from lake.config.environment import ENVIRONMENTS_VARIABLE, Environment
from lake.config.files import read_json, replace_json
from lake.local.certificate import certify, listener
from lake.local.service import run_tool

LIKE = "dev"  # the environment on AWS whose roles the programs have
REGION = "eu-central-1"  # of the ARNs that iam/roles.py gives
JOBS, CONNECT = "Nodes", "ConnectRole"
REAUTHENTICATE_MS = 60_000  # MSK closes sessions after hours; a test sees the same within minutes
LISTENER = "listener.name.iam"


def establish(home: Environment) -> None:
    """Keys of the roles and a certificate of the broker, made once; nothing without kafka.auth: iam."""
    if not home.has_roles:
        return
    certify(home.iam)
    if not _keys(home).exists():
        roles = {JOBS: (home.secrets.s3_access_key, home.secrets.s3_secret_key), CONNECT: (_new(), _new())}
        table = {key: {"secret": secret, "token": _new(), "role": role} for role, (key, secret) in roles.items()}
        replace_json(_keys(home), table)


def variables(home: Environment, role: str) -> dict[str, str]:
    """The credentials of a role, where AWS's clients look for them. Jobs have one key for S3 and Kafka, as on EMR."""
    if not home.has_roles:
        return home.secrets.s3_keys if role == JOBS else {}
    key, found = next((key, one) for key, one in read_json(_keys(home)).items() if one["role"] == role)
    names = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": found["secret"], "AWS_SESSION_TOKEN": found["token"]}
    return {**names, "AWS_REGION": REGION}


def client_jars(home: Environment) -> list[str]:
    """What clients need on their class path: the jar that is deployed to AWS."""
    return [str(home.build / "aws" / "worker" / "*")] if home.has_roles else []


def broker_jar(home: Environment) -> Path:
    return home.build / "iam" / "lake-iam-broker.jar"


def flags(home: Environment) -> list[str]:
    """What tells the broker's JVM where all of that is."""
    return [f"-Dlake.iam={home.iam}", f"-Dlake.iam.judge={home.root / 'iam' / 'judge.mjs'}"]


def broker_settings(home: Environment) -> dict[str, object]:
    """The listener for clients with a role, beside the plain one of the lake's own tools."""
    return {
        f"{LISTENER}.sasl.enabled.mechanisms": "AWS_MSK_IAM,OAUTHBEARER",
        f"{LISTENER}.aws_msk_iam.sasl.jaas.config": "lake.iam.MskIamLogin required;",
        f"{LISTENER}.oauthbearer.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
        ),
        f"{LISTENER}.oauthbearer.sasl.server.callback.handler.class": "lake.iam.TokenLogin",
        f"{LISTENER}.connections.max.reauth.ms": REAUTHENTICATE_MS,
        **listener(LISTENER, home.iam),
        "authorizer.class.name": "lake.iam.PolicyAuthorizer",
    }


def write_policies(home: Environment) -> None:
    """The policies as a deployment would make them now: `cdk synth`, and what iam/roles.py reads in it."""
    folder, new = home.iam / "templates", home.iam / "account.new"
    shutil.rmtree(folder, ignore_errors=True)
    elsewhere = {name: value for name, value in os.environ.items() if name != ENVIRONMENTS_VARIABLE}
    context = {"CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps({"env": LIKE}), "CDK_VALIDATION": "false"}
    for words in (["app.py"], ["-m", "iam.roles", str(folder), str(new)]):
        command, what = [sys.executable, *words], "the policies could not be made"
        run_tool(command, what, home.root / "stacks", cwd=home.root, env={**elsewhere, **context})
    new.replace(_account(home))  # the broker looks at it at any time


def _new() -> str:
    return secrets.token_hex(20)


def _keys(home: Environment) -> Path:
    return home.iam / "keys.json"


def _account(home: Environment) -> Path:
    return home.iam / "account.json"
