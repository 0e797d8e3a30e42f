"""Stacks as a whole: looked at, protected, deleted."""

from tests.emulated_account.cloudformation import view
from tests.emulated_account.cloudformation.deployment import note, reason, remove
from tests.emulated_account.cloudformation.stack import GONE, Stack
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import Refused
from tests.emulated_account.services.service import Answer


class Stacks:
    """Operations of CloudFormation's API."""

    def __init__(self, world: World) -> None:
        self._world = world

    def update_termination_protection(self, region: str, wish: Answer) -> Answer:
        stack = self._stack(region, wish["StackName"])
        stack.protected = bool(wish["EnableTerminationProtection"])
        return {"StackId": stack.id}

    def delete_stack(self, region: str, wish: Answer) -> Answer:
        stack = self._world.found(region, wish["StackName"])
        if stack and stack.protected:
            raise Refused(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
        if stack:
            self._delete(stack)
        return {}

    def _delete(self, stack: Stack) -> None:
        stack.becomes("DELETE_IN_PROGRESS", "User Initiated")
        try:
            self._check_unused(stack)
            for id, deployed in reversed(list(stack.resources.items())):
                try:
                    remove(self._world, stack, deployed, deployed.declared.deletion_policy)
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
        self._world.logs.deliver()

    def _check_unused(self, stack: Stack) -> None:
        for name in stack.exports:
            users = self._world.importers(stack.region, name)
            if users:
                raise Refused(f"Cannot delete export {name} as it is in use by {', '.join(users)}.")

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
        found = self._world.found(region, name) or gone
        if found is None:
            raise Refused(f"Stack with id {name} does not exist")
        return found
