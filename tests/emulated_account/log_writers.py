"""Services that write logs: each makes its log group when there is none, plain and kept for ever.

Some write late: EKS and RDS deliver the last lines when their cluster or database is gone, and so may be the group.
It is then made again, after the stack that had declared it.
"""

from contextlib import suppress
from typing import Any

from tests.emulated_account.clients import Clients


class LogWriters:
    """Log groups by region and name."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._late: list[tuple[str, str]] = []
        self.chosen: dict[str, str] = {}  # by the name of a function: its group, which moto forgets

    def write_as(self, region: str, function: str) -> None:
        """As a Lambda function does at its first call."""
        self.write(region, self.chosen.get(function, f"/aws/lambda/{function}"))

    def write(self, region: str, group: str) -> None:
        logs: Any = self._clients("logs", region)
        with suppress(logs.exceptions.ResourceAlreadyExistsException):
            logs.create_log_group(logGroupName=group)

    def write_late(self, region: str, group: str) -> None:
        """When the stack is gone from which the writer was deleted."""
        self._late.append((region, group))

    def deliver(self) -> None:
        """All that is late."""
        late, self._late = self._late, []
        for region, group in late:
            self.write(region, group)
