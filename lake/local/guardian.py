"""The guardian of the sources: one more service."""

import sys
from pathlib import Path

from lake.clients import guardian_report
from lake.local.service import Program, Service
from lake.rendering.pipeline import pipeline_path

SILENT_AFTER_S = 30.0  # it looks every five seconds, and a look at a source that hangs ends after twenty


class Guardian(Service):
    """Looks at slots, publications and tables of the sources, once there are any: `lake apply` captures them."""

    name = "guardian"
    needs = ("postgres", "connect")

    @property
    def pipeline(self) -> Path:
        return pipeline_path(self.home.environment)

    def wanted(self) -> bool:
        return self.pipeline.exists()

    def program(self) -> Program:
        return Program([sys.executable, "-m", "lake.guardian.watch"], self.home.root)

    def prepare(self) -> list[str]:
        """From now on it is expected to report; what it said last holds until then."""
        guardian_report.write(self.home, guardian_report.read(self.home))
        return []

    def ready(self) -> bool:
        """Whether it has looked not long ago; what it found stands in `lake status`."""
        return guardian_report.age_s(self.home) < SILENT_AFTER_S
