"""The files of containers that run without Kubernetes: the charts' own programs, SQL, and certificate authorities."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from lake.aws.archive import files, write_zip
from lake.aws.authorities import authorities
from lake.aws.environment import AwsEnvironment
from lake.aws.rendering import source_sql
from lake.config.definition import Database

CHARTS = Path("helm")
PREPARATION, REGISTRY = "source-database", "apicurio-registry"  # charts
ASK = Path("constructs/lake_constructs/scripts/ask_connectors.sh")
# In an archive: the folder of programs, that of SQL, and the authorities (no file without any).
PROGRAMS, SQL, AUTHORITIES = "programs", "sql", "database.pem"


def write_container_files(
    root: Path, environment: AwsEnvironment, databases: list[Database], folder: Path
) -> Iterator[Path]:
    """An archive for each chart, NAME.zip, below the folder."""
    known = authorities(root, environment)
    for chart in (PREPARATION, REGISTRY):
        content = folder / chart
        programs = content / PROGRAMS
        # The files that charts share are links to one.
        shutil.copytree(root / CHARTS / chart / "files", programs, ignore=shutil.ignore_patterns("__pycache__"))
        if known:
            (content / AUTHORITIES).write_text(known, encoding="ascii")
        if chart == PREPARATION:
            shutil.copyfile(root / ASK, programs / ASK.name)
            write_sql(databases, content / SQL)
        target = folder / f"{chart}.zip"
        write_zip(target, content, files(content, "*"))
        yield target


def write_sql(databases: list[Database], folder: Path) -> None:
    """As prepare.sh wants it: server.sql, shared.sql, and databases/NAME.sql."""
    scripts = source_sql(databases)
    (folder / "databases").mkdir(parents=True)
    for name in ("server", "shared"):
        (folder / f"{name}.sql").write_text(scripts[name], encoding="utf-8")
    for name, text in scripts["databases"].items():
        (folder / f"databases/{name}.sql").write_text(text, encoding="utf-8")
