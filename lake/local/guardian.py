"""The guardian of the sources: one more service."""

import sys

from lake.clients import guardian_report
from lake.local.service import Program, Service
from lake.rendering.pipeline import pipeline_path

SILENT_AFTER_S = 30.0  # it inspects every five seconds; an inspection of a hanging source ends after twenty


class Guardian(Service):
    """Inspects the captures and tables of the sources after the first `lake apply`."""

    name = "guardian"
    needs = ("postgres", "connect")

    def wanted(self) -> bool:
        return pipeline_path(self.home).exists()

    def program(self) -> Program:
        return Program([sys.executable, "-m", "lake.guardian.watch"], self.home.root)

    def prepare(self) -> list[str]:
        """Renews the time of the last report, which stays valid until the next one."""
        guardian_report.write(self.home, guardian_report.read(self.home))
        return []

    def ready(self) -> bool:
        """True if its last inspection is recent. Its findings are in `lake status`."""
        return guardian_report.age_s(self.home) < SILENT_AFTER_S
