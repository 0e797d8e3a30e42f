"""Names of tables as they are given on the command line: DATABASE or DATABASE.TABLE."""

from typing import Any

from lake.errors import BadInput


def named_tables(pipeline: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """The entries of the pipeline file that the names mean, all for none; BadInput for an unknown name."""
    known = {f"{table['database']}.{table['table']}": table for table in pipeline.get("tables", [])}
    if not known:
        raise BadInput("the lake has no tables yet", "the pipeline file", "run: lake apply")
    for name in names:
        if not any(_means(name, table) for table in known):
            now = f"choose from: {', '.join(sorted(known))}"
            raise BadInput(f"there is no table or database '{name}' in the lake", "command line", now)
    return [entry for table, entry in known.items() if not names or any(_means(name, table) for name in names)]


def targets_of(table: dict[str, Any]) -> list[str]:
    """The Hudi tables of a pipeline file's entry: "moma_mor.artworks"."""
    return [f"{table['database']}_{target['type']}.{table['table']}" for target in table["targets"]]


def _means(name: str, table: str) -> bool:
    return name in (table, table.partition(".")[0])
