"""Change sets: what a template would make of a stack, and the execution of that."""

import re
from uuid import uuid4

from iam.resolver import Resolver
from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.cloudformation import limits, parameters, view
from tests.emulated_account.cloudformation.changes import changes
from tests.emulated_account.cloudformation.deployment import Deployment
from tests.emulated_account.cloudformation.stack import REVIEW, ChangeSet, Stack
from tests.emulated_account.cloudformation.template import Template
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import Refused
from tests.emulated_account.services.service import Answer, refuse

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."
# Options that would make a change set mean something else. ImportExistingResources, which `cdk bootstrap` sets, is
# not among them: with it or without it the creation of what exists already fails here.
REFUSED = ("ResourcesToImport", "RollbackConfiguration", "NotificationARNs", "DeploymentMode")


class ChangeSets:
    """Operations of CloudFormation's API."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create_change_set(self, region: str, wish: Answer) -> Answer:
        for name in REFUSED:
            if wish.get(name) not in (None, False, "false", [], {}):
                raise Refused(f"{name} = {wish[name]!r} is not emulated")
        stack = self._for_change(region, wish)
        template = Template(self._text(region, stack, wish))
        given = parameters.given(stack, template, wish.get("Parameters", []))
        change_set = self._change_set(region, stack, template, given, wish)
        stack.change_sets[change_set.name] = change_set
        return {"Id": change_set.id, "StackId": stack.id}

    def _change_set(
        self, region: str, stack: Stack, template: Template, given: dict[str, str], wish: Answer
    ) -> ChangeSet:
        scope = parameters.scope_of(self._world, stack, template, given)
        parameters.check_rules(template, scope)
        resolve = Resolver(scope)
        declared = [one for one in template.in_order() if not one.condition or resolve.condition(one.condition)]
        name = wish["ChangeSetName"]
        made = ChangeSet(
            name,
            f"arn:aws:cloudformation:{region}:{ACCOUNT}:changeSet/{name}/{uuid4()}",
            wish.get("ChangeSetType", "UPDATE"),
            template,
            given,
            wish.get("Tags", []),
            wish.get("Capabilities", []),
            changes(stack, declared, scope.parameters),
        )
        if not made.changes and not self._differs(stack, made):
            made.status, made.reason, made.execution = "FAILED", NO_CHANGES, "UNAVAILABLE"
        return made

    def _differs(self, stack: Stack, made: ChangeSet) -> bool:
        before = stack.template.outputs if stack.template else {}
        return stack.status == REVIEW or before != made.template.outputs or stack.tags != made.tags

    def _for_change(self, region: str, wish: Answer) -> Stack:
        found = self._world.found(region, wish["StackName"])
        if wish.get("ChangeSetType", "UPDATE") == "CREATE":
            if found and found.status != REVIEW:
                raise refuse("AlreadyExistsException", f"Stack [{found.name}] already exists")
            return found or self._new(region, wish["StackName"])
        if found is None:
            raise Refused(f"Stack [{wish['StackName']}] does not exist")
        if not found.status.endswith("_COMPLETE") or found.status == "ROLLBACK_COMPLETE":
            raise Refused(f"Stack:{found.id} is in {found.status} state and can not be updated.")
        return found

    def _new(self, region: str, name: str) -> Stack:
        if not re.fullmatch(limits.STACK_NAME, name):
            raise Refused(f"Value '{name}' at 'stackName' failed to satisfy constraint: {limits.STACK_NAME}")
        stack = Stack(name, f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/{uuid4()}", region)
        stack.becomes(REVIEW)
        self._world.stacks[stack.id] = stack
        return stack

    def _text(self, region: str, stack: Stack, wish: Answer) -> str:
        if wish.get("UsePreviousTemplate") and stack.template:
            return stack.template.text
        if "TemplateBody" in wish:
            limits.check_body(wish["TemplateBody"])
            return str(wish["TemplateBody"])
        bucket, key = wish["TemplateURL"].partition("://")[2].split("/", 2)[1:]
        body = self._world.clients("s3", region).get_object(Bucket=bucket, Key=key)["Body"]
        text = str(body.read().decode())
        limits.check_object(text)
        return text

    def describe_change_set(self, region: str, wish: Answer) -> Answer:
        stack, change_set = self._change(region, wish)
        return view.change_set(stack, change_set)

    def execute_change_set(self, region: str, wish: Answer) -> Answer:
        stack, change_set = self._change(region, wish)
        if change_set.execution != "AVAILABLE":
            raise refuse("InvalidChangeSetStatus", f"ChangeSet [{change_set.id}] cannot be executed")
        stack.change_sets.clear()
        stack.executed.append(change_set)
        Deployment(self._world, stack, change_set).run()
        return {}

    def delete_change_set(self, region: str, wish: Answer) -> Answer:
        """One that is not there is deleted already."""
        stack = self._world.found(region, wish.get("StackName", ""))
        if stack:
            stack.change_sets.pop(wish["ChangeSetName"].split("/")[-2 if "/" in wish["ChangeSetName"] else -1], None)
        return {}

    def _change(self, region: str, wish: Answer) -> tuple[Stack, ChangeSet]:
        for stack in self._world.standing(region):
            named = wish.get("StackName") in (stack.name, stack.id)
            for one in stack.change_sets.values():
                if one.id == wish["ChangeSetName"] or (named and one.name == wish["ChangeSetName"]):
                    return stack, one
        raise refuse("ChangeSetNotFound", f"ChangeSet [{wish['ChangeSetName']}] does not exist")
