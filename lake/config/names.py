"""Names of tables as they are given on the command line: DATABASE, DATABASE.TABLE or DATABASE.SCHEMA.TABLE."""

import shlex
from collections.abc import Collection, Iterable
from typing import Any

from lake.config.errors import BadInput
from lake.config.naming import joined


def no_tables() -> BadInput:
    """The refusal of a command that needs tables, before the first `lake apply`."""
    return BadInput("the lake has no tables yet", "the pipeline file", "run: lake apply")


def named_tables(pipeline: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """The entries of the pipeline file that the names mean, all for none; BadInput for an unknown name."""
    tables: list[dict[str, Any]] = pipeline.get("tables", [])
    if not tables:
        raise no_tables()
    for name in names:
        if not any(name in _names_of(table) for table in tables):
            now = f"choose from: {', '.join(sorted(_names_of(table)[1] for table in tables))}"
            raise BadInput(f"there is no table or database '{name}' in the lake", "command line", now)
    return [table for table in tables if not names or any(name in _names_of(table) for name in names)]


def targets_of(table: dict[str, Any]) -> list[str]:
    """The Hudi tables of a pipeline file's entry: "moma_mor.artworks"."""
    return [f"{table['database']}_{target['type']}.{stored_as(table)}" for target in table["targets"]]


def source_name(table: dict[str, Any]) -> str:
    """The name of an entry's table in its database, as the definition has it."""
    return joined(table["schema"], table["table"])


def stored_as(table: dict[str, Any]) -> str:
    """The name of an entry's table in the lake."""
    return str(table.get("lake_name") or table["table"])


def _names_of(table: dict[str, Any]) -> tuple[str, str, str]:
    database = table["database"]
    return database, f"{database}.{stored_as(table)}", f"{database}.{source_name(table)}"


def named_targets(pipeline: dict[str, Any], names: list[str]) -> list[str]:
    """The Hudi tables ("moma_mor.artworks") of the named databases and tables; BadInput for an unknown name."""
    return [target for table in named_tables(pipeline, names) for target in targets_of(table)]


def as_options(names: Iterable[str]) -> list[str]:
    """The names as the options of a Spark job: one for each, as a name may have any character, also the first one."""
    return [f"--table={name}" for name in names]


def command_line(*words: str) -> str:
    """A command of the lake for a shell: names may have spaces and quotes."""
    return shlex.join(["lake", *words])


def refuse_unknown(what: str, names: Iterable[str], known: Collection[str], where: str = "command line") -> None:
    """BadInput for the first name that is not among the known ones. what: the kind of thing, "database"."""
    for name in names:
        if name not in known:
            raise BadInput(f"there is no {what} '{name}'", where, f"choose from: {', '.join(known) or 'none'}")
