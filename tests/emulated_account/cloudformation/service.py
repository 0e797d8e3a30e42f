"""The operations of CloudFormation that the CDK's command line calls, and a few for tests to look with."""

from threading import RLock
from typing import Any
from uuid import uuid4

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.cloudformation import parameters, view
from tests.emulated_account.cloudformation.changes import changes
from tests.emulated_account.cloudformation.deployment import Deployment, note, reason, remove
from tests.emulated_account.cloudformation.resolver import Resolver
from tests.emulated_account.cloudformation.stack import GONE, ChangeSet, Stack
from tests.emulated_account.cloudformation.template import Template
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import Refused
from tests.emulated_account.services.service import Answer, Operation, Service, refuse

REVIEW = "REVIEW_IN_PROGRESS"
NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."
# Options that would make a change set mean something else. ImportExistingResources, which `cdk bootstrap` sets, is
# not among them: with it or without it the creation of what exists already fails here.
REFUSED = ("ResourcesToImport", "RollbackConfiguration", "NotificationARNs", "DeploymentMode")


class CloudFormation(Service):
    """Stacks are made, changed and deleted inside the call: whoever asks next finds them finished."""

    name, signed, whole = "cloudformation", "cloudformation", True

    def __init__(self, world: World) -> None:
        super().__init__(world.clients)
        self._world = world
        self._turn = RLock()

    def operation(self, name: str) -> Operation | None:
        found = super().operation(name)
        return self._in_turn(found) if found else None

    def _in_turn(self, method: Operation) -> Operation:
        def answer(region: str, wish: Answer) -> Answer:
            with self._turn:
                try:
                    return method(region, wish)
                except Refused as error:
                    raise refuse("ValidationError", str(error)) from error

        return answer

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

    def _change_set(self, region: str, stack: Stack, template: Template, given: dict[str, str], wish: Answer) -> Any:
        scope = parameters.scope_of(self._world, stack, template, given)
        parameters.check_rules(scope)
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
            changes(stack, declared),
        )
        if not made.changes and not self._differs(stack, made):
            made.status, made.reason, made.execution = "FAILED", NO_CHANGES, "UNAVAILABLE"
        return made

    def _differs(self, stack: Stack, made: ChangeSet) -> bool:
        before = stack.template.outputs if stack.template else {}
        return stack.status == REVIEW or before != made.template.outputs or stack.tags != made.tags

    def _for_change(self, region: str, wish: Answer) -> Stack:
        found = self._found(region, wish["StackName"])
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
        stack = Stack(name, f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/{uuid4()}", region)
        stack.becomes(REVIEW)
        self._world.stacks[stack.id] = stack
        return stack

    def _text(self, region: str, stack: Stack, wish: Answer) -> str:
        if wish.get("UsePreviousTemplate") and stack.template:
            return stack.template.text
        if "TemplateBody" in wish:
            return str(wish["TemplateBody"])
        bucket, key = wish["TemplateURL"].partition("://")[2].split("/", 2)[1:]
        body = self.clients("s3", region).get_object(Bucket=bucket, Key=key)["Body"]
        return str(body.read().decode())

    def describe_change_set(self, region: str, wish: Answer) -> Answer:
        stack, change_set = self._change(region, wish)
        return view.change_set(stack, change_set)

    def execute_change_set(self, region: str, wish: Answer) -> Answer:
        stack, change_set = self._change(region, wish)
        if change_set.execution != "AVAILABLE":
            raise refuse("InvalidChangeSetStatus", f"ChangeSet [{change_set.id}] cannot be executed")
        stack.change_sets.clear()
        Deployment(self._world, stack, change_set).run()
        return {}

    def delete_change_set(self, region: str, wish: Answer) -> Answer:
        """One that is not there is deleted already."""
        stack = self._found(region, wish.get("StackName", ""))
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

    def delete_stack(self, region: str, wish: Answer) -> Answer:
        stack = self._found(region, wish["StackName"])
        if stack:
            self._delete(stack)
        return {}

    def _delete(self, stack: Stack) -> None:
        stack.becomes("DELETE_IN_PROGRESS", "User Initiated")
        try:
            self._check_unused(stack)
            for id, deployed in reversed(list(stack.resources.items())):
                try:
                    remove(self._world, stack, deployed)
                except Exception as error:
                    stack.tell(deployed.declared, deployed.physical_id, "DELETE_FAILED", reason(error))
                    raise
                del stack.resources[id]
        except Exception as error:
            note(self._world, error)
            stack.becomes("DELETE_FAILED", reason(error))
            return
        stack.outputs, stack.imports = [], set()
        stack.becomes(GONE)

    def _check_unused(self, stack: Stack) -> None:
        for name in stack.exports:
            users = self._world.importers(stack.region, name)
            if users:
                raise Refused(f"Cannot delete export {name} as it is in use by {', '.join(users)}.")

    def update_termination_protection(self, region: str, wish: Answer) -> Answer:
        """Taken, and not kept yet."""
        return {"StackId": self._stack(region, wish["StackName"]).id}

    def describe_stacks(self, region: str, wish: Answer) -> Answer:
        if "StackName" not in wish:
            return {"Stacks": [view.stack(one) for one in self._world.standing(region)]}
        return {"Stacks": [view.stack(self._stack(region, wish["StackName"]))]}

    def list_stacks(self, region: str, wish: Answer) -> Answer:
        wanted = wish.get("StackStatusFilter", [])
        found = [one for one in self._world.stacks.values() if one.region == region]
        return {"StackSummaries": [view.stack(one) for one in found if not wanted or one.status in wanted]}

    def describe_stack_events(self, region: str, wish: Answer) -> Answer:
        stack = self._stack(region, wish["StackName"])
        return {"StackEvents": [view.event(stack, one) for one in reversed(stack.events)]}

    def describe_stack_resources(self, region: str, wish: Answer) -> Answer:
        stack = self._stack(region, wish["StackName"])
        return {"StackResources": [view.resource(stack, one) for one in stack.resources.values()]}

    def list_stack_resources(self, region: str, wish: Answer) -> Answer:
        stack = self._stack(region, wish["StackName"])
        return {"StackResourceSummaries": [view.resource(stack, one) for one in stack.resources.values()]}

    def list_exports(self, region: str, _: Answer) -> Answer:
        stacks = self._world.standing(region)
        pairs = [(one.id, name, value) for one in stacks for name, value in one.exports.items()]
        return {"Exports": [{"ExportingStackId": id, "Name": name, "Value": value} for id, name, value in pairs]}

    def get_template(self, region: str, wish: Answer) -> Answer:
        template = self._stack(region, wish["StackName"]).template
        return {"TemplateBody": template.text if template else "", "StagesAvailable": ["Original", "Processed"]}

    def _stack(self, region: str, name: str) -> Stack:
        gone = self._world.stacks.get(name)  # one that is gone is still known by its id
        found = self._found(region, name) or gone
        if found is None:
            raise Refused(f"Stack with id {name} does not exist")
        return found

    def _found(self, region: str, name: str) -> Stack | None:
        found = [one for one in self._world.standing(region) if name in (one.name, one.id)]
        return found[0] if found else None
