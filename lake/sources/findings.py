"""What a check finds: one reason why a table, or a whole database, cannot be captured as it is defined."""

from collections.abc import Iterable
from dataclasses import dataclass

from lake.config.errors import BadInput, LakeError


@dataclass(frozen=True)
class Finding:
    """One reason. table is "schema.table", or empty where it concerns the whole database."""

    database: str
    table: str
    what: str
    where: str
    now: str

    def error(self) -> BadInput:
        """The finding as the error of a command that can't go on without the table."""
        return BadInput(self.what, self.where, self.now)


def unreadable(database: str, problem: LakeError) -> Finding:
    """A whole database that can't be read."""
    return Finding(database, "", problem.what, problem.where, problem.now)


def refuse(findings: Iterable[Finding]) -> None:
    """BadInput for the first one."""
    for one in findings:
        raise one.error()
