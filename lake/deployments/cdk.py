"""`cdk deploy` of an environment, with progress line by line."""

import shutil
import subprocess
from pathlib import Path

from lake.aws.second_key import CONTEXT
from lake.config.environment import PROJECT
from lake.config.errors import BadInput, LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code

CDK = Path("node_modules/.bin/cdk")
LINES = 5


def check(account: Account) -> None:
    """BadInput if the command is missing or the account is not bootstrapped for the CDK."""
    if shutil.which("node") is None or not (PROJECT / CDK).exists():
        raise BadInput("the command line of the CDK is missing", str(PROJECT / CDK), "run: make setup")
    try:
        account.client("cloudformation").describe_stacks(StackName="CDKToolkit")
    except Exception as error:
        if code(error) != "ValidationError":
            raise
        now = f"run: npx cdk bootstrap aws://<account>/{account.region}"
        raise BadInput("the account is not prepared for the CDK", f"region {account.region}", now) from None


def not_deployed(environment: str, where: str) -> LakeError:
    """The failure of a command that needs a deployed lake."""
    return LakeError(f"{environment} is not deployed", where, f"run: npx cdk deploy --all -c env={environment}")


def deploy(environment: str, report: Report) -> None:
    """Deploys all stacks. LakeError with the last lines if one fails; deployed stacks are kept."""
    command = ["node", "--no-warnings", str(PROJECT / CDK), "--no-notices", "deploy", "--all"]
    # CONTEXT, the second key: whoever runs `lake rebuild` has confirmed that the data may go.
    command += ["-c", f"env={environment}", "-c", f"{CONTEXT}={environment}"]
    command += ["--concurrency", "4", "--require-approval", "never", "--progress", "events"]
    process = subprocess.Popen(
        command, cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )
    heard: list[str] = []
    try:
        for line in process.stdout or ():
            heard.append(line.rstrip())
            if line.strip().startswith(("✅", "❌")) or "AWS::CloudFormation::Stack" in line:
                report(line.strip())
    finally:
        if process.poll() is None:
            process.terminate()
    if process.wait():
        errors = [line for line in heard if "failed" in line.lower() or "error" in line.lower()] or heard
        raise LakeError(f"cdk deploy: {' / '.join(errors[-LINES:])}", environment, "correct it, then run it again")
