"""What `lake refine` makes: the typed form of its YAML or SQL file."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictStr, model_validator

from lake.config.errors import BadInput
from lake.config.identifiers import Identifier
from lake.config.yaml_file import as_model, read_mapping

REFINE = "refine"  # the job
REFINED = "refined"  # the folder of its tables, and their database


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("the text is empty | write a query")
    return text


class Refinement(BaseModel):
    """One table in Parquet. table: database.schema.table, its live rows without the lake's own columns; or sql."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Identifier
    table: StrictStr | None = None
    sql: Annotated[StrictStr, AfterValidator(_not_empty)] | None = None
    partition: tuple[Identifier, ...] = ()

    @model_validator(mode="after")
    def _one_source(self) -> "Refinement":
        if (self.table is None) == (self.sql is None):
            raise ValueError("the rows come from a table or from a query | write one of the keys table and sql")
        return self

    def arguments(self) -> list[str]:
        """The arguments of spark_jobs/refine.py, but for --config, --output and --path."""
        source = ["--table", self.table] if self.table is not None else ["--sql", self.sql or ""]
        return ["--name", self.name, *source, *(word for one in self.partition for word in ("--partition", one))]


def read_refinement(path: Path, partition: list[str]) -> Refinement:
    """A file *.yaml, or *.sql with one query, named by the file. BadInput names file, key and remedy."""
    if path.suffix == ".sql":
        content = {"name": path.stem, "sql": _text(path)}
    elif path.suffix == ".yaml":
        content = read_mapping(path)
    else:
        raise BadInput("this file is neither *.yaml nor *.sql", str(path), "see: lake refine --help")
    return as_model(Refinement, {**content, **({"partition": partition} if partition else {})}, path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the file can't be read: {error}", str(path), "correct the path") from None
