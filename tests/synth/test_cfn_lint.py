"""CloudFormation's own rules, offline."""

import subprocess
import sys
from pathlib import Path

from tests.synth.synthesis import Synthesized

# W3005: the CDK writes dependencies that a reference already implies.
# W3037, W1030 and the like are warnings about policies' wording; errors alone stop a deployment.
IGNORED = ["W3005"]


def test_no_template_is_refused(prod: Synthesized, demo: Synthesized) -> None:
    """Production and demo: between them they hold every resource that the stacks can make."""
    paths = [str(path) for lake in (prod, demo) for path in sorted(lake.folder.glob("*.template.json"))]
    command = [str(Path(sys.executable).parent / "cfn-lint"), "--ignore-checks", *IGNORED, "--", *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
