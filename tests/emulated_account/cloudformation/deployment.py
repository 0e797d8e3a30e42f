"""One creation or update of a stack, which succeeds as a whole or is undone."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from iam.resolver import Resolver, Scope, revealed
from tests.emulated_account.cloudformation.parameters import scope_of
from tests.emulated_account.cloudformation.provisioning import Provision
from tests.emulated_account.cloudformation.stack import ChangeSet, Deployed, Stack
from tests.emulated_account.cloudformation.template import Declared, imports
from tests.emulated_account.cloudformation.world import World, shown
from tests.emulated_account.errors import NotEmulated, Refused
from tests.emulated_account.resources.kind import Made
from tests.emulated_account.resources.kinds import kind

FAILURES = (BotoCoreError, ClientError, NotEmulated, Refused)


class Deployment:
    """What is wanted, and what becomes of the stack."""

    def __init__(self, world: World, stack: Stack, wanted: ChangeSet) -> None:
        self._world, self._stack, self._wanted = world, stack, wanted
        self._word = wanted.kind  # CREATE or UPDATE
        scope: Scope = scope_of(world, stack, wanted.template, wanted.parameters)
        self._known = dict(scope.parameters)
        self._resolve = Resolver(scope)
        self._provision = Provision(world, stack, scope)
        self._leftover: list[Deployed] = []  # removed from the template: deleted once all else is done

    def run(self) -> None:
        before = (self._stack.template, self._stack.parameters, dict(self._stack.resources), self._stack.tags)
        self._stack.becomes(f"{self._word}_IN_PROGRESS", "User Initiated")
        self._stack.tags = self._wanted.tags
        try:
            self._apply()
        except Exception as error:
            note(self._world, error)
            self._roll_back(reason(error))
            self._stack.template, self._stack.parameters, self._stack.resources, self._stack.tags = before
            return
        self._finish()

    def _apply(self) -> None:
        wanted = [one for one in self._wanted.template.in_order() if self._is_wanted(one)]
        for declared in wanted:
            self._make(declared)
        ids = {one.id for one in wanted}
        self._leftover += [one for id, one in self._stack.resources.items() if id not in ids]
        self._stack.resources = {one.id: self._stack.resources[one.id] for one in wanted}
        self._export(self._outputs())

    def _is_wanted(self, declared: Declared) -> bool:
        return declared.condition is None or self._resolve.condition(declared.condition)

    def _make(self, declared: Declared) -> None:
        try:
            self._provision.make(declared)
        except Exception as error:
            self._stack.tell(declared, "", f"{self._word}_FAILED", reason(error))
            raise

    def _outputs(self) -> list[dict[str, str]]:
        return [
            self._output(name, declared)
            for name, declared in self._wanted.template.outputs.items()
            if "Condition" not in declared or self._resolve.condition(declared["Condition"])
        ]

    def _output(self, name: str, declared: dict[str, Any]) -> dict[str, str]:
        output = {"OutputKey": name, "OutputValue": shown(self._resolve(declared["Value"]))}
        if "Description" in declared:
            output["Description"] = declared["Description"]
        if "Export" in declared:
            output["ExportName"] = self._resolve(declared["Export"]["Name"])
        return output

    def _export(self, outputs: list[dict[str, str]]) -> None:
        """An export that others import can neither change nor go."""
        region, stack = self._stack.region, self._stack
        new = {one["ExportName"]: one["OutputValue"] for one in outputs if "ExportName" in one}
        for name, value in stack.exports.items():
            users = self._world.importers(region, name)
            if users and new.get(name) != value:
                verb = "updated" if name in new else "deleted"
                raise Refused(f"Cannot {verb[:-1]} export {name} as it is in use by {', '.join(users)}.")
        taken = self._world.exports(region).keys() & (new.keys() - stack.exports.keys())
        if taken:
            raise Refused(f"Export with name {sorted(taken)[0]} is already exported by another stack")
        stack.outputs = outputs

    def _finish(self) -> None:
        stack, wanted = self._stack, self._wanted
        stack.template, stack.parameters, stack.capabilities = wanted.template, wanted.parameters, wanted.capabilities
        stack.known = self._known
        stack.imports = set(map(self._resolve, imports([one.properties for one in wanted.template.resources.values()])))
        for deployed in reversed(self._leftover):
            self._clean(deployed, deployed.declared.deletion_policy)
        for deployed in reversed(self._provision.leftover):
            self._clean(deployed, deployed.declared.replace_policy)
        stack.becomes(f"{self._word}_COMPLETE")

    def _clean(self, deployed: Deployed, policy: str) -> None:
        """What can't be deleted stays behind and fails no update, as with CloudFormation."""
        try:
            remove(self._world, self._stack, deployed, policy)
        except Exception as error:
            note(self._world, error)
            self._stack.tell(deployed.declared, deployed.physical_id, "DELETE_FAILED", reason(error))

    def _roll_back(self, why: str) -> None:
        prefix = "" if self._word == "CREATE" else "UPDATE_"
        self._stack.becomes(f"{prefix}ROLLBACK_IN_PROGRESS", why)
        try:
            for step in reversed(self._provision.undo):
                step()
        except Exception as error:
            note(self._world, error)
            self._stack.becomes(f"{prefix}ROLLBACK_FAILED", reason(error))
            return
        self._stack.becomes(f"{prefix}ROLLBACK_COMPLETE")


def remove(world: World, stack: Stack, deployed: Deployed, policy: str) -> None:
    """As the policy says: delete it, leave it, or leave a snapshot of it."""
    declared, made = deployed.declared, Made(deployed.physical_id, deployed.attributes)
    if policy == "Retain":
        stack.tell(declared, deployed.physical_id, "DELETE_SKIPPED")
        return
    stack.tell(declared, deployed.physical_id, "DELETE_IN_PROGRESS")
    found = kind(declared.type)(world.place(stack, declared.id))
    properties = revealed(deployed.properties, lambda id: world.secret(stack.region, id))
    (found.snapshot if policy == "Snapshot" else found.delete)(made, properties)
    stack.tell(declared, deployed.physical_id, "DELETE_COMPLETE")


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, Refused) else str(error)


def note(world: World, error: Exception) -> None:
    """What is not AWS's refusal is a gap or a fault of the emulator."""
    if isinstance(error, NotEmulated):
        world.journal.unknown.append(str(error))
    elif not isinstance(error, FAILURES):
        world.journal.crash(error)
