"""Checks the machine before anything is downloaded: what is missing, where it was searched, what to do.

An old Python (3.7 or later) must be able to read this file: it has to start to say that it is too old.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FREE_GIB = 6
RELEASE_GIB = 2  # another PySpark and its jars, in the project folder and in the caches
AIRFLOW_GIB = 1  # its packages, in the project folder and in the cache of uv
KUBE_GIB = 4  # Kubernetes' modules and what Go compiles of them, in its caches
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Tool:
    """A command, the versions of it that will do (least <= version < below), and how to get one."""

    def __init__(self, name: str, command: str, least: tuple, below: tuple, remedy: str, home: str = "") -> None:
        self.name = name
        self.command = command
        self.least = least
        self.below = below
        self.remedy = remedy
        self.home = os.environ.get(home, "") if home else ""
        self.version_flag = "-version" if home == "JAVA_HOME" else "--version"

    def problem(self) -> str | None:
        """One line: what is wrong, where, what to do. None if the tool is good."""
        path = shutil.which(self.command, path=os.path.join(self.home, "bin") if self.home else None)
        if path is None:
            where = self.home or "PATH=" + os.environ.get("PATH", "")
            return f"{self.name} is missing; looked for {self.command} in {where}; {self.remedy}"
        version, said = version_of(path, self.version_flag)
        if version is None:
            return f"{self.name} is needed, but {path} does not run (it said: {said}); {self.remedy}"
        if self.least <= version < self.below:
            return None
        return f"{self.name} is needed, found {dotted(version)} at {path}; {self.remedy}"


NEWEST = (9999,)
JDK = "JDK 17 (Spark 3.4 runs on 8, 11 and 17, Kafka 4.3 on 17 or newer)"
GET_JDK = "apt install openjdk-17-jdk-headless or brew install openjdk@17, or set JAVA_HOME to a JDK 17"
GET_MAVEN = "apt install maven or brew install maven"
GET_NODE = "install Node 22 with its npm from https://nodejs.org or by brew install node@22"
JAVA = Tool(f"java of {JDK}", "java", (17,), (18,), GET_JDK, home="JAVA_HOME")
NODE = Tool("Node 22 (at least 20)", "node", (20,), NEWEST, GET_NODE)
MAINTAINED_NODE = (22,)  # jsii and the CDK call Node 20 out of date, and will stop running on it
TOOLS = (
    JAVA,
    Tool(f"javac of {JDK}", "javac", (17,), (18,), GET_JDK, home="JAVA_HOME"),
    Tool("Maven 3.8 or newer", "mvn", (3, 8), NEWEST, GET_MAVEN),
    NODE,
    Tool("npm 9 or newer", "npm", (9,), NEWEST, GET_NODE),
)


def version_of(path: str, flag: str) -> tuple[tuple | None, str]:
    """The first number a tool prints about itself, as a tuple, and all it printed, as one line."""
    command = [path, flag]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return None, str(failure)
    said = " ".join(ANSI_COLOUR.sub("", done.stdout.decode(errors="replace")).split())
    number = re.search(r"\d+(\.\d+)*", said)
    if done.returncode != 0 or number is None:
        return None, said[:200]
    return tuple(int(part) for part in number.group().split(".")), said


def dotted(version: tuple) -> str:
    return ".".join(str(part) for part in version)


def python_problem() -> str | None:
    """The code needs 3.11; pyspark 3.4.1 does not import on 3.13 (it uses typing.io)."""
    if not (3, 11) <= sys.version_info < (3, 13):
        found = f"found {dotted(sys.version_info[:3])} at {sys.executable}"
        now = "install one and run: make PYTHON=/path/to/python3.11 setup"
        return f"Python 3.11 or 3.12 (pyspark 3.4.1 does not run on newer ones) is needed, {found}; {now}"
    if importlib.util.find_spec("ensurepip") is None:
        return f"Python's ensurepip is missing; looked in {sys.prefix}; apt install python3-venv"
    return None


def disk_problem(root: str, needed_gib: float = FREE_GIB) -> str | None:
    """Two GiB go into the project folder, two into the caches of Maven, Go and uv, the rest is for data."""
    free_gib = shutil.disk_usage(root).free / 2**30
    if free_gib >= needed_gib:
        return None
    return f"{needed_gib} GiB of free disk are needed, found {free_gib:.1f} GiB at {root}; free some space there"


def setpriv_problem() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0 or shutil.which("setpriv"):
        return None
    where = "PATH=" + os.environ.get("PATH", "")
    now = "apt install util-linux, or run as another user than root"
    return f"setpriv (starts PostgreSQL as another user than root) is missing; looked in {where}; {now}"


def problems(root: str, needed_gib: float = FREE_GIB) -> list[str]:
    """All problems of the machine: what is missing or too old."""
    with ThreadPoolExecutor(len(TOOLS)) as pool:
        found = list(pool.map(Tool.problem, TOOLS))
    every = [python_problem(), *found, disk_problem(root, needed_gib), setpriv_problem()]
    return [problem for problem in every if problem]


def node_warning() -> str | None:
    """A warning about Node 20, which still works."""
    path = shutil.which(NODE.command)
    version = version_of(path, NODE.version_flag)[0] if path else None
    if version is None or version >= MAINTAINED_NODE:
        return None
    return f"Node {dotted(version)} at {path} is out of date; the CDK will stop running on it; {NODE.remedy}"


def running_problems() -> list[str]:
    """The problems with Python and Java, which are needed to run and may break after the set-up."""
    return [problem for problem in (python_problem(), JAVA.problem()) if problem]
