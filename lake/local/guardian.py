"""The guardian of the sources: one more program of the supervisor."""

import sys
from pathlib import Path

from lake.local.service import Program, Service
from lake.rendering.pipeline import pipeline_path


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
        return Program([sys.executable, "-m", "lake.guard.watch"], self.home.root)

    def ready(self) -> bool:
        """The supervisor has it running; what it finds stands in `lake status`."""
        return True
