"""`cdk synth -c env=<name>`: the stacks of environments/<name>.yaml. Needs no account, network, JDK or build."""

import gc
import json
import sys
from pathlib import Path

# The CDK's Python package makes hundreds of thousands of objects that live to the end. To look for garbage among them
# again and again, and once more at the end, would take a tenth of the time of a synth.
gc.disable()
from aws_cdk import App, Validations  # noqa: E402
from cdk_nag import AwsSolutionsChecks  # noqa: E402

from lake.aws.environment import load_aws_environment  # noqa: E402
from lake.aws.second_key import check_second_key  # noqa: E402
from lake.config.definition import load_databases  # noqa: E402
from lake.config.errors import BadInput  # noqa: E402

root = Path(__file__).resolve().parent
# For users who installed requirements.txt but not this project. pyproject.toml names the same folder of packages.
sys.path.insert(0, str(root / "constructs"))
from stacks.lake import add_lake  # noqa: E402

# Read here too, so that `python app.py` gives the same as `cdk synth`. Values from the CLI take precedence.
app = App(context=json.loads((root / "cdk.json").read_text())["context"])
try:
    environment = load_aws_environment(root, app.node.get_context("env"))
    check_second_key(environment, app.node.get_context("removable"))
    add_lake(app, environment, load_databases(root), root)
except BadInput as error:
    sys.exit(f"error: {error}")
Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
app.synth()
gc.freeze()
