"""The logs of the CDK's own Lambda handlers."""

from aws_cdk import Stack
from aws_cdk import aws_lambda as functions

from lake_constructs.log_group import EncryptedLogGroup, LogSettings


def keep_handler_logs(stack: Stack, settings: LogSettings) -> None:
    """One log group for all handlers of the stack. Lambda would create one each, unencrypted and without expiry."""
    handlers = [part for part in stack.node.find_all() if is_handler(part)]
    if not handlers:
        return
    group = EncryptedLogGroup(stack, "Handlers", settings=settings)
    for handler in handlers:
        handler.add_property_override("LoggingConfig.LogGroup", group.log_group_name)


def is_handler(part: object) -> bool:
    """True for a function without a log group; the CDK makes some of them as plain resources, some with a log level."""
    kind = getattr(part, "cfn_resource_type", "")
    logging = getattr(part, "logging_config", None)
    return kind == functions.CfnFunction.CFN_RESOURCE_TYPE_NAME and not getattr(logging, "log_group", None)
