"""A fresh clone with requirements.txt and `npm ci`: no build, JDK or Maven."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import HANG_S
from tests.synth.synthesis import ROOT, Synthesized, scrubbed

SOURCES = ("app.py", "cdk.json", "pom.xml", "jars", "databases", "environments", "connector_configs", "helm", "data")
CODE = ("lake", "stacks", "constructs", "spark_jobs", "tools")
BUILDERS = ("java", "javac", "mvn")


@dataclass(frozen=True)
class Clone:
    """What `npx cdk synth -c env=dev` left and said there."""

    folder: Path
    said: str

    def read(self, name: str) -> dict[str, Any]:
        return dict(json.loads((self.folder / "cdk.out" / name).read_text()))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    folder = tmp_path_factory.mktemp("clone")
    for name in (*SOURCES, *CODE):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    path = f"{Path(sys.executable).parent}:{without_builders(tmp_path_factory.mktemp('bin'))}"
    assert [name for name in BUILDERS if shutil.which(name, path=path)] == []
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH")}
    command = [str(folder / "node_modules/.bin/cdk"), "synth", "--no-notices", "--quiet", "-c", "env=dev"]
    done = subprocess.run(
        command, cwd=folder, env={**kept, "PATH": path}, text=True, capture_output=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr
    return Clone(folder, done.stdout + done.stderr)


def without_builders(folder: Path) -> Path:
    """A folder that has what PATH finds, but for the tools that build."""
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            (folder / tool.name).unlink(missing_ok=True)
            if tool.name not in BUILDERS:
                (folder / tool.name).symlink_to(tool)
    return folder


def test_the_templates_are_those_of_a_build_but_for_hashes(clone: Clone, dev: Synthesized) -> None:
    made = {part: scrubbed(clone.read(f"lake-dev-{part}.template.json")) for part in dev.templates}
    assert made == {part: scrubbed(template) for part, template in dev.templates.items()}


def test_synth_warns_that_it_cannot_be_deployed(clone: Clone) -> None:
    assert "no such jar to deploy" in clone.said
    assert "cdk deploy refuses" in clone.said


def test_nothing_is_written_but_the_assembly(clone: Clone) -> None:
    assert {path.name for path in clone.folder.iterdir()} == {*SOURCES, *CODE, "node_modules", "cdk.out"}


def test_every_stack_refuses_its_deployment(clone: Clone, dev: Synthesized) -> None:
    """cdk-assets runs this command before a stack is deployed; tests/emulated_account deploys such a lake."""
    for part in dev.templates:
        files = clone.read(f"lake-dev-{part}.assets.json")["files"].values()
        (command,) = (one["source"]["executable"] for one in files if "executable" in one["source"])
        done = subprocess.run(command, text=True, capture_output=True)
        assert done.returncode == 1
        what, where, now = done.stderr.strip().split("; ")
        assert (what, now) == ("no such jar to deploy", "run: make setup")
        assert where.startswith(f"{clone.folder}/build/")


def test_a_lake_with_its_jars_has_no_such_command(dev: Synthesized) -> None:
    manifests = [json.loads(path.read_text()) for path in dev.folder.glob("*.assets.json")]
    assert manifests
    assert [one for manifest in manifests for one in manifest["files"].values() if "executable" in one["source"]] == []


def test_the_stacks_use_nothing_that_the_cdk_will_remove(clone: Clone) -> None:
    assert "deprecated" not in clone.said
