"""Every command of AWS, Kubernetes and the CDK in the docs is one that the pinned tool knows, with its options."""

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError

from lake.config.environment import PROJECT
from tests.runbooks import Block

PAGES = sorted(
    path for place in ("*.md", "docs/*.md", "docs/runbooks/*.md", "docs/posts/*.md") for path in PROJECT.glob(place)
)
FENCED = re.compile(r"^ *```sh( here)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:aws|kubectl|npx cdk) [^`\n]+)`")
# Commands of the AWS CLI that are none of an API, and their options.
OWN: dict[tuple[str, str], set[str]] = {
    ("s3", "cp"): {"--recursive", "--no-progress"},
    ("s3", "ls"): {"--recursive"},
    ("s3", "mv"): {"--recursive"},
    ("s3", "rm"): {"--recursive"},
    ("s3", "sync"): {"--no-progress"},
    ("eks", "update-kubeconfig"): {"--name", "--alias", "--role-arn"},
    ("cloudformation", "deploy"): {"--template-file", "--stack-name"},
}
# A server that is not there, and a login, for which kubectl would ask.
NOWHERE = ("--server", "https://127.0.0.1:1", "--token", "none", "--request-timeout", "1s")
GLOBAL = {"--query", "--output", "--region", "--profile", "--no-cli-pager"}


def commands(page: Path) -> list[list[str]]:
    """The commands of the blocks, and those in a sentence."""
    text = page.read_text(encoding="utf-8")
    found = [words for block in FENCED.finditer(text) for words in Block(page.stem, False, block[2]).commands]
    found += [shlex.split(match[1]) for match in INLINE.finditer(text)]
    return [words for words in found if words]


def of_tool(tool: str) -> list[list[str]]:
    return [words for page in PAGES for words in commands(page) if " ".join(words).startswith(f"{tool} ")]


def options(words: list[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if word.startswith("-") and not word.startswith("---")}


def aws_problem(words: list[str]) -> str:
    """What the AWS CLI does not know in this command; "" if it knows all of it."""
    service, operation, *rest = words[1:]
    given = {one for one in options(rest) if one.startswith("--")} - GLOBAL
    own = OWN.get((service, operation))
    if own is not None:
        return ", ".join(sorted(given - own))
    try:
        model = botocore.session.get_session().get_service_model(service)
    except UnknownServiceError:
        return f"no service {service}"
    names = {dashed(name): name for name in model.operation_names}
    if operation not in names:
        return f"no operation {operation}"
    shape = model.operation_model(names[operation]).input_shape
    members = {} if shape is None else shape.members
    known = {f"--{dashed(name)}" for name in members}
    known |= {f"--no-{dashed(name)}" for name, member in members.items() if member.type_name == "boolean"}
    needed = {f"--{dashed(name)}" for name in (shape.required_members if shape is not None else [])}
    return ", ".join(sorted([*(given - known), *(f"{one} is missing" for one in needed - given)]))


def dashed(name: str) -> str:
    return botocore.xform_name(name, "-")


@cache
def cdk_options(verb: str) -> frozenset[str]:
    """The options of a verb of the pinned CDK; empty for a verb that it does not know."""
    command = [str(PROJECT / "node_modules/.bin/cdk"), verb, "--help"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    known = said.startswith(f"cdk {verb}")
    return frozenset(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", said)) if known else frozenset()


def cdk_problem(words: list[str]) -> str:
    verb, *rest = words[2:]
    return ", ".join(sorted(options(rest) - cdk_options(verb))) if cdk_options(verb) else f"no verb {verb}"


def kubectl_problem(words: list[str]) -> str:
    """kubectl reads its words before it looks for a server; here there is none."""
    told = [re.sub(r"<[a-z]+>|E$|POD", "x", word) for word in words[1:]]
    command = [str(PROJECT / "build/bin/kubectl"), *NOWHERE, *told]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"HOME": "/nonexistent"})
    return "" if "127.0.0.1:1" in done.stderr and "unknown" not in done.stderr else done.stderr


@pytest.mark.parametrize("words", of_tool("aws"), ids=lambda words: " ".join(words)[:60])
def test_the_aws_cli_knows_it(words: list[str]) -> None:
    assert aws_problem(words) == ""


@pytest.mark.parametrize("words", of_tool("npx cdk"), ids=lambda words: " ".join(words)[:60])
def test_the_cdk_knows_it(words: list[str]) -> None:
    assert cdk_problem(words) == ""


@pytest.mark.parametrize("words", of_tool("kubectl"), ids=lambda words: " ".join(words)[:60])
def test_kubectl_knows_it(words: list[str]) -> None:
    assert kubectl_problem(words) == ""


def test_what_is_not_there_would_be_found() -> None:
    assert cdk_problem(["npx", "cdk", "diff", "--all", "-c", "env=E"]) == "--all"
    assert cdk_problem(["npx", "cdk", "undeploy"]) == "no verb undeploy"
    named = ["aws", "rds", "modify-db-instance", "--db-instance-identifier", "a"]
    assert aws_problem([*named, "--no-deletion-protection"]) == ""
    assert aws_problem([*named, "--no-deletion"]) == "--no-deletion"
    assert aws_problem(named[:3]) == "--db-instance-identifier is missing"
    assert aws_problem(["aws", "secretsmanager", "get-secret", "--secret-id", "a"]) == "no operation get-secret"
    assert aws_problem(["aws", "eks", "update-kubeconfig", "--cluster", "a"]) == "--cluster"
    assert "unknown command" in kubectl_problem(["kubectl", "rollout", "again", "deployment/a"])
    assert "unknown flag" in kubectl_problem(["kubectl", "rollout", "restart", "deployment/a", "--now"])
