"""Two keys to lose data: `keep_data: false` in the environment file, and its name in the CDK context `removable`."""

from lake.aws.environment import AwsEnvironment
from lake.config.errors import BadInput

CONTEXT = "removable"


def check_second_key(environment: AwsEnvironment, removable: str) -> None:
    """BadInput if the deletion of the stacks would delete data, and the context does not name the environment too.

    removable: names of environments, separated by commas. A file that was copied from dev.yaml has the first key only.
    """
    if environment.keep_data or environment.name in [name.strip() for name in removable.split(",")]:
        return
    name = environment.name
    what = f"keep_data: false lets `cdk destroy` delete all data of {name}, and the second key is missing"
    now = f'write keep_data: true, or add {name} to "{CONTEXT}" in cdk.json (once: -c {CONTEXT}={name})'
    raise BadInput(what, f"environments/{name}.yaml, key keep_data", now)
