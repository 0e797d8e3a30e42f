"""One synth per environment, shared by all tests of the run."""

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import yaml

# The CDK's own validation costs three seconds of CPU a time; `cdk synth` runs it, and here cfn-lint does its work.
os.environ["CDK_VALIDATION"] = "false"
os.environ["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = "20"

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ["dev", "demo", "prod"]
FOLDERS = TemporaryDirectory(prefix="synth-")  # removed when the tests end
Template = dict[str, Any]
HASH = re.compile(r"\b[0-9a-f]{64}\b")
VOLATILE_SECTIONS = ("Parameters", "Rules")


@dataclass(frozen=True)
class Synthesized:
    """What one synth left: the templates by part ("network", "storage", ...), and what cdk-nag said."""

    name: str
    folder: Path
    templates: dict[str, Template]
    failure: str

    def resources(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """Logical id and properties of every resource of a type, over all stacks."""
        return [
            (id, resource.get("Properties", {}))
            for template in self.templates.values()
            for id, resource in template.get("Resources", {}).items()
            if resource["Type"] == kind
        ]

    def only(self, kind: str) -> dict[str, Any]:
        """The properties of the one resource of a type."""
        ((_, properties),) = self.resources(kind)
        return properties


def described(folder: Path, content: dict[str, Any]) -> Path:
    """The folder, with this environment in it."""
    (folder / "environments").mkdir()
    (folder / f"environments/{content['name']}.yaml").write_text(yaml.safe_dump(content))
    return folder


def varied(folder: Path, base: str, changes: dict[str, Any]) -> "Synthesized":
    """A shipped environment with other values, which `changes` names by dotted keys."""
    return synthesize(base, described(folder, changed(base, changes)))


def changed(base: str, changes: dict[str, Any]) -> dict[str, Any]:
    """The content of a shipped environment with other values."""
    content: dict[str, Any] = yaml.safe_load((ROOT / f"environments/{base}.yaml").read_text())
    for path, value in changes.items():
        *parts, last = path.split(".")
        place = content
        for part in parts:
            place = place.setdefault(part, {})
        place[last] = value
    return content


@cache
def synthesize(name: str, environments: Path = ROOT, root: Path = ROOT) -> Synthesized:
    """The environment as app.py makes it; both folders are the project's unless a test brings its own."""
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from lake.aws.environment import load_aws_environment
    from lake.config.definition import load_databases
    from stacks.lake import add_lake

    folder = Path(mkdtemp(prefix=f"{name}-", dir=FOLDERS.name))
    app = App(outdir=str(folder), context=json.loads((ROOT / "cdk.json").read_text())["context"])
    environment = load_aws_environment(environments, name)
    add_lake(app, environment, load_databases(root), root)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
    failure = ""
    try:
        app.synth()
    except RuntimeError as error:  # cdk-nag; the templates are written by then
        failure = str(error)
    paths = sorted(folder.glob(f"lake-{name}-*.template.json"))
    templates = {path.name.split(".")[0].rpartition("-")[2]: json.loads(path.read_text()) for path in paths}
    return Synthesized(name, folder, templates, failure)


def scrubbed(template: dict[str, Any]) -> dict[str, Any]:
    """The template less what changes without any change of meaning: hashes of content, notes of the CDK."""
    kept = {key: value for key, value in template.items() if key not in VOLATILE_SECTIONS}
    kept["Resources"] = {
        id: {key: value for key, value in resource.items() if key != "Metadata"}
        for id, resource in template["Resources"].items()
        if resource["Type"] != "AWS::CDK::Metadata"
    }
    return dict(in_order(json.loads(HASH.sub("<hash>", json.dumps(kept)))))


def in_order(value: Any) -> Any:
    """The CDK sorts the resources of a statement by their text, and so by hashes: here by what is left of it."""
    if isinstance(value, list):
        return [in_order(one) for one in value]
    if not isinstance(value, dict):
        return value
    ordered = {key: in_order(one) for key, one in value.items()}
    if isinstance(ordered.get("Resource"), list):
        ordered["Resource"] = sorted(ordered["Resource"], key=json.dumps)
    return ordered
