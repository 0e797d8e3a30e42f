"""`cdk synth -c env=<name>`: the stacks of environments/<name>.yaml. Needs no account, network, JDK or build."""

import json
import sys
from pathlib import Path

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from lake.aws.environment import load_aws_environment
from lake.aws.second_key import check_second_key
from lake.config.definition import load_databases
from lake.config.errors import BadInput

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
