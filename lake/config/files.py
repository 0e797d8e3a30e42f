"""Configuration files written from plain mappings."""

from collections.abc import Mapping
from pathlib import Path
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


def write_log4j(path: Path, level: str = "info") -> Path:
    """A log4j2 configuration that prints to standard output; a supervisor keeps and rotates it."""
    return write(path, LOG4J.replace("{level}", level))
