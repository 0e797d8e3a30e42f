"""The programs of a synthesized lake, run for the calls that they make: steps and bootstrap actions, pods of charts."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from iam.roles import ACCOUNT, HASH, REGION, Stacks
from lake.aws import steps
from lake.aws.processing import STREAMER, Size
from lake.config.versions import KUBERNETES
from lake.rendering.streamer import RunOptions
from tests.charts.hook import run_pod
from tests.charts.rendering import Manifest, containers, helm, of_kind, parsed, pods
from tests.emulated_account.machine import NODE as COMMANDS
from tests.rights import s3_calls
from tests.rights.endpoint import Endpoint

NODE = Path(__file__).parent / "node"  # spark-submit and yarn
NODES = "Nodes"
ASSETS = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
COMMAND_RUNNER = "command-runner.jar"  # on the nodes
SCRIPT_RUNNER = "/script-runner.jar"  # runs the script on S3 that its first argument names
NOWHERE = "http://127.0.0.1:9"  # nobody listens
ROOTED = re.compile(r"/(?:mnt/var|usr/local|etc/systemd)(?=/)")  # where an action reads and writes
STARTED = re.compile(r"^ExecStart=(.*)$", re.MULTILINE)
SPEAKS = re.compile(r"\baws |answer_requests")


class Failed(Exception):
    """A program ended with an error: its last words."""


@dataclass(frozen=True)
class Step:
    """One step of EMR."""

    name: str
    jar: str
    arguments: list[str]


def assets(folder: Path) -> dict[str, Path]:
    """What `cdk deploy` uploads, by bucket/key."""
    listed = [json.loads(path.read_text())["files"].values() for path in folder.glob("*.assets.json")]
    return {
        f"{ASSETS}/{place['objectKey']}": folder / one["source"]["path"]
        for files in listed
        for one in files
        for place in one["destinations"].values()
    }


def parameters(stacks: Stacks) -> dict[str, str]:
    found = stacks.of_type("AWS::SSM::Parameter")
    return {one["Name"]: stacks.resolve(stack, one["Value"]) for stack, _, one in found if "Name" in one}


def deployed_steps(stacks: Stacks) -> list[Step]:
    """The steps that a deployment adds to the cluster."""
    found = [stacks.resolve(stack, one) for stack, _, one in stacks.of_type("AWS::EMR::Step")]
    return [Step(one["Name"], one["HadoopJarStep"]["Jar"], one["HadoopJarStep"]["Args"]) for one in found]


def bootstrap_actions(stacks: Stacks) -> list[tuple[str, list[str]]]:
    """URL and arguments."""
    found = [stacks.resolve(stack, one["BootstrapActions"]) for stack, _, one in stacks.of_type("AWS::EMR::Cluster")]
    actions = [one["ScriptBootstrapAction"] for actions in found for one in actions]
    return [(one["Path"], one.get("Args", [])) for one in actions]


def operated_steps(stacks: Stacks, jar: str, name: str) -> list[Step]:
    """The steps that the command line adds: each kind of job once, and the end of one."""
    outputs = steps.StackOutputs(**json.loads(parameters(stacks)[steps.parameter(name)]))
    ending = [script for script in outputs.scripts if script not in ("stream", STREAMER)]
    arguments = {script: steps.run(script, outputs, []) for script in ending}
    arguments["stop"] = steps.stop("stream", outputs)
    arguments[STREAMER] = steps.start_streamer(RunOptions(once=True), Size(), outputs)
    return [Step(title, jar, words) for title, words in arguments.items()]


class Machines:
    """Nodes and pods, whose programs reach the endpoint and nothing else of AWS. They know no region by themselves."""

    def __init__(self, endpoint: Endpoint, url: str, folder: Path) -> None:
        self._endpoint, self._url, self._folder = endpoint, url, folder

    def variables(self, role: str) -> dict[str, str]:
        path = os.pathsep.join(map(str, [NODE, COMMANDS, Path(sys.executable).parent, os.environ["PATH"]]))
        apart = {"AWS_MAX_ATTEMPTS": "1", "AWS_EC2_METADATA_DISABLED": "true"}
        files = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
        keys = {"AWS_ACCESS_KEY_ID": role, "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": self._url}
        return {"PATH": path, "HOME": str(self._folder), **apart, **files, **keys}

    def run(self, step: Step) -> None:
        """As EMR does: it fetches the jar with the rights of the nodes, and the jar runs the command."""
        words = step.arguments
        if step.jar != COMMAND_RUNNER:
            self.fetch(step.jar)
        if step.jar.endswith(SCRIPT_RUNNER):
            words = ["bash", "-c", self.fetch(words[0]), *words]
        self.execute(step.name, words)

    def boot(self, url: str, arguments: Sequence[str]) -> None:
        """A bootstrap action on the primary node, and the services that it leaves; their paths are below a folder."""
        for name in ("mnt/var/lib/info", "usr/local/bin", "etc/systemd/system"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        (self._folder / "mnt/var/lib/info/instance.json").write_text('{"isMaster": true}')
        script = ROOTED.sub(lambda path: f"{self._folder}{path[0]}", self.fetch(url))
        self.execute("a bootstrap action", ["bash", "-c", script, "action", *arguments])
        for unit in (self._folder / "etc/systemd/system").glob("*.service"):
            self.execute(unit.name, shlex.split(STARTED.findall(unit.read_text())[0]))

    def execute(self, name: str, words: Sequence[str]) -> None:
        """A command on a node."""
        done = subprocess.run(words, env=self.variables(NODES), capture_output=True, text=True, cwd=self._folder)
        if done.returncode:
            raise Failed(f"{name}: {last_line(done)}")

    def fetch(self, url: str) -> str:
        """A file that EMR itself reads; "" if the bucket is AWS's."""
        bucket, _, key = url.removeprefix("s3://").partition("/")
        self._endpoint.calls += s3_calls.of(NODES, "GET", bucket, key, {})
        content = self._endpoint.content(f"{bucket}/{key}")
        return content.decode() if content else ""

    def run_pod(self, role: str, pod: Manifest, maps: list[Manifest]) -> None:
        """Those of its containers that speak with AWS, and what runs between them; Connect does not answer."""
        with TemporaryDirectory() as folder:
            done = run_pod(speaking(pod), maps, NOWHERE, Path(folder), self.variables(role))
        if done[-1].returncode:
            raise Failed(f"a pod of {role}: {last_line(done[-1])}")


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr or done.stdout or "no message").strip().splitlines()[-1]


def speaking(pod: Manifest) -> Manifest:
    """The pod with those of its containers that speak with AWS, or run between those that do."""
    spec, kinds = pod["spec"], ("initContainers", "containers")
    kept = {kind: [one for one in spec.get(kind, []) if SPEAKS.search(command(one))] for kind in kinds}
    return {**pod, "spec": {**spec, **kept}}


def command(container: Manifest) -> str:
    return " ".join([*container.get("command", []), *container.get("args", [])])


def speaking_pods(stacks: Stacks, folder: Path) -> Iterator[tuple[str, Manifest, list[Manifest]]]:
    """The pods that speak with AWS: the role of the service account, the pod, and the ConfigMaps of its chart."""
    roles = roles_of_pods(stacks)
    for manifests in releases(stacks, folder):
        maps = of_kind(manifests, "ConfigMap")
        for pod in pods(manifests):
            if containers(speaking(pod)):
                yield roles[pod["spec"]["serviceAccountName"]], pod, maps


def roles_of_pods(stacks: Stacks) -> dict[str, str]:
    """By service account, as EKS Pod Identity hands them out."""
    found = {}
    for stack, _, properties in stacks.of_type("AWS::EKS::PodIdentityAssociation"):
        name = properties["RoleArn"]["Fn::GetAtt"][0]
        found[stacks.resolve(stack, properties["ServiceAccount"])] = HASH.sub("", name)
    return found


def releases(stacks: Stacks, folder: Path) -> Iterator[list[Manifest]]:
    """The manifests of each chart that the stacks install."""
    for stack, _, properties in stacks.of_type("Custom::AWSCDK-EKS-HelmChart"):
        found = stacks.resolve(stack, properties)
        chart = assets(folder)[found["ChartAssetURL"].removeprefix("s3://")]
        where = ("--namespace", found["Namespace"], "--kube-version", f"{KUBERNETES}.0")
        yield parsed(helm("template", found["Release"], chart, *where, values=json.loads(found["Values"])))
