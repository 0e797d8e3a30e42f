"""A stack whose template is right, but whose files are stand-ins."""

import hashlib

from aws_cdk import Stack


def refuse_deployment(stack: Stack, why: str) -> None:
    """Makes `cdk deploy` of the stack fail with `why`. The template stays as it is, and `cdk synth` succeeds.

    cdk-assets runs the command when it publishes the files of a stack, which is before the stack is deployed.
    """
    stack.synthesizer.add_file_asset(
        source_hash=hashlib.sha256(why.encode()).hexdigest(),
        executable=["sh", "-c", 'echo "$0" >&2; exit 1', why],
        display_name="the build",
    )
