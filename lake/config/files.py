"""Files: written from plain mappings or replaced in one step, and read back."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape

LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n
rootLogger.level = {level}
rootLogger.appenderRef.out.ref = out
"""


def write(path: Path, text: str) -> Path:
    """Write text below a folder that is made if needed; returns path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def replace_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Replaces the file in one step: a process that reads it meanwhile sees the old or the new one, whole.

    By default only its owner can read it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def replace_json(path: Path, content: object, mode: int = 0o600) -> None:
    replace_file(path, json.dumps(content, indent=2) + "\n", mode)


def read_json(path: Path) -> Any:
    """The content of the file; None before it was written."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_properties(path: Path, values: Mapping[str, object]) -> Path:
    """A Java properties file."""
    return write(path, "".join(f"{key}={value}\n" for key, value in values.items()))


def write_hadoop(path: Path, values: Mapping[str, object]) -> Path:
    """A Hadoop *-site.xml file."""
    items = "".join(
        f"  <property><name>{escape(key)}</name><value>{escape(str(value))}</value></property>\n"
        for key, value in values.items()
    )
    return write(path, f"<configuration>\n{items}</configuration>\n")


def write_log4j(path: Path, level: str = "info", loggers: Mapping[str, str] = MappingProxyType({})) -> Path:
    """A log4j2 configuration that prints to standard output; a supervisor keeps and rotates it.

    loggers: the levels of single ones.
    """
    single = [
        f"logger.{at}.name = {name}\nlogger.{at}.level = {own}\n" for at, (name, own) in enumerate(loggers.items())
    ]
    return write(path, LOG4J.replace("{level}", level) + "".join(single))


def last_lines(path: Path, size: int) -> list[str]:
    """The lines in the last bytes of a text; the first one may lack its beginning."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read().decode(errors="replace").splitlines()
