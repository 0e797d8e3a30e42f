"""tools/bootstrap.py on machines that lack something, made of a PATH of fake tools; downloads nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lake.config.versions import KUBERNETES

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "java": 'openjdk version "17.0.9" 2023-10-17',
    "javac": "javac 17.0.9",
    "mvn": "\x1b[1mApache Maven 3.9.6 (bc0240f3c744dd6b6ec2920b3cd08dcc295161ae)\x1b[m",
    "node": "v22.21.1",
    "npm": "10.2.4",
    "setpriv": "setpriv from util-linux 2.38.1",
}

Machine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Runs a copy of the tools where only the given commands exist; each prints the given version."""
    shutil.copytree(ROOT / "tools", tmp_path / "project" / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bin").mkdir()

    def run(python: str = sys.executable, /, **changes: str | None) -> "subprocess.CompletedProcess[str]":
        for name, version in {**GOOD, **changes}.items():
            if version is not None:
                fake(tmp_path / "bin" / name, version)
        command = [python, str(tmp_path / "project" / "tools" / "bootstrap.py")]
        return subprocess.run(command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True, timeout=300)

    return run


def fake(path: Path, version: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)


def made(machine_folder: Path) -> set[str]:
    return {path.name for path in (machine_folder / "project").iterdir()}


@pytest.mark.parametrize(
    ("changes", "wanted", "found", "remedy"),
    [
        ({"java": None}, "java of JDK 17", "is missing; looked for java in PATH=", "openjdk-17"),
        ({"java": 'openjdk version "21.0.1" 2023'}, "java of JDK 17", "found 21.0.1 at", "JAVA_HOME"),
        ({"java": 'java version "1.8.0_392"'}, "java of JDK 17", "found 1.8.0 at", "JAVA_HOME"),
        ({"javac": None}, "javac of JDK 17", "is missing; looked for javac in PATH=", "openjdk-17-jdk"),
        ({"mvn": None}, "Maven 3.8 or newer", "is missing; looked for mvn in PATH=", "apt install maven"),
        ({"mvn": "Apache Maven 3.6.3"}, "Maven 3.8 or newer", "found 3.6.3 at", "apt install maven"),
        ({"node": "v18.19.0"}, "Node 22 (at least 20)", "found 18.19.0 at", "nodejs.org"),
        ({"npm": None}, "npm 9 or newer", "is missing; looked for npm in PATH=", "nodejs.org"),
        (
            {"node": "Segmentation fault"},
            "Node 22 (at least 20)",
            "does not run (it said: Segmentation fault)",
            "nodejs",
        ),
    ],
)
def test_what_is_missing_or_too_old_is_named(
    machine: Machine, tmp_path: Path, changes: dict[str, str | None], wanted: str, found: str, remedy: str
) -> None:
    result = machine(**changes)
    lines = [line for line in result.stderr.splitlines() if line.startswith("  - ")]
    assert result.returncode == 2
    assert len(lines) == 1, result.stderr
    assert wanted in lines[0]
    assert found in lines[0]
    assert remedy in lines[0]
    assert made(tmp_path) == {"tools"}


def test_all_lacks_are_named_at_once(machine: Machine) -> None:
    result = machine(java="openjdk 11.0.2", mvn=None, node="v16.0.0")
    lines = [line for line in result.stderr.splitlines() if line.startswith("  - ")]
    assert [line.split()[1] for line in lines] == ["java", "Maven", "Node"]


@pytest.mark.parametrize(("version", "warned"), [("v20.20.2", True), ("v22.0.0", False), ("v24.1.0", False)])
def test_an_old_node_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, warned: bool) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import preflight

    fake(tmp_path / "node", version)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = preflight.node_warning()
    assert (said is not None) == warned
    assert said is None or (f"Node 20.20.2 at {tmp_path}/node is out of date" in said and "Node 22" in said)


@pytest.mark.skipif(os.getuid() != 0, reason="setpriv is needed by root only")
def test_root_needs_setpriv(machine: Machine) -> None:
    result = machine(setpriv=None)
    assert result.returncode == 2
    assert "setpriv" in result.stderr


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake(tmp_path / "bin" / "java", "openjdk 21.0.1")
    script = "import preflight; print(preflight.JAVA.problem())"
    env = {**os.environ, "JAVA_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "tools")}
    said = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout
    assert f"found 21.0.1 at {tmp_path}/bin/java" in said


def test_an_old_python_says_so_instead_of_failing_to_parse() -> None:
    """The two files an old Python reads: their syntax is that of 3.7, the rest they import late."""
    import ast

    for name in ("bootstrap.py", "preflight.py"):
        ast.parse((ROOT / "tools" / name).read_text(), feature_version=(3, 7))


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import preflight

    assert preflight.disk_problem(str(tmp_path), 0.001) is None
    said = preflight.disk_problem(str(tmp_path), 10**6)
    assert said is not None and "1000000 GiB of free disk are needed" in said and str(tmp_path) in said


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 13, 1)])
def test_a_python_too_old_or_too_new_is_named(version: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import preflight

    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", version)
        said = preflight.python_problem()
    assert said is not None and said.startswith("Python 3.11 or 3.12 ")
    assert f"found {'.'.join(map(str, version))} at {sys.executable}; install one and run: make PYTHON=" in said


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one downloaded jar that is on the list."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    (tmp_path / "build" / "kafka").mkdir(parents=True)
    (tmp_path / "build" / "kafka" / "a.jar").write_text("a")
    (tmp_path / "jars").mkdir()
    digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    (tmp_path / "jars" / "SHA256SUMS").write_text(f"{digest}  build/kafka/a.jar\n")
    return tmp_path


def test_jars_as_listed_pass(listed: Path) -> None:
    import checksums

    assert checksums.check(listed) == "1 files are as listed in jars/SHA256SUMS"


def test_a_jar_that_differs_is_named_and_deleted(listed: Path) -> None:
    import checksums

    jar = listed / "build" / "kafka" / "a.jar"
    jar.write_text("b")
    with pytest.raises(checksums.JarsDiffer) as failure:
        checksums.check(listed)
    assert "build/kafka/a.jar: expected sha256 ca978112" in str(failure.value)
    assert "found 3e23e816" in str(failure.value)
    assert "make lock" in str(failure.value)
    assert not jar.exists()


def test_a_jar_that_is_missing_is_named(listed: Path) -> None:
    import checksums

    (listed / "build" / "kafka" / "a.jar").unlink()
    with pytest.raises(checksums.JarsDiffer, match=r"build/kafka/a\.jar: .*not downloaded"):
        checksums.check(listed)


def test_a_jar_that_is_not_listed_is_removed(listed: Path) -> None:
    import checksums

    extra = listed / "build" / "kafka" / "old.jar"
    extra.write_text("old")
    assert "removed build/kafka/old.jar" in checksums.check(listed)
    assert not extra.exists()


def test_steps_are_skipped_until_an_input_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import steps

    ran: list[str] = []
    (tmp_path / "pins.txt").write_text("1")
    step = steps.Step("pins", ("pins.txt",), lambda: [lambda: ran.append("x") or "ok"], lambda: True)
    assert steps.perform(tmp_path, [step]) and steps.perform(tmp_path, [step])
    assert len(ran) == 1
    (tmp_path / "pins.txt").write_text("2")
    assert steps.perform(tmp_path, [step])
    assert len(ran) == 2


def test_a_failed_step_shows_its_log_and_stops_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import steps

    bad = steps.Step("bad", (), lambda: [("sh", "-c", "echo no such artifact; exit 3")], lambda: True)
    slow = steps.Step("slow", (), lambda: [("sleep", "60")], lambda: True)
    assert not steps.perform(tmp_path, [slow, bad])
    said = capsys.readouterr().err
    assert "ended with 3" in said
    assert "    no such artifact" in said
    assert not (tmp_path / "build" / ".stamps" / "slow").exists()


def test_the_api_server_is_told_which_version_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """helm compares it with the kubeVersion that a chart asks for."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import project

    assert f"component-base/version.gitVersion=v{KUBERNETES}." in project.kube_version(ROOT)
    assert f"component-base/version.gitMinor={KUBERNETES.partition('.')[2]}" in project.kube_version(ROOT)
