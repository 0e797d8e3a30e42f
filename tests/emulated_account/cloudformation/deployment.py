"""One creation or update of a stack, which succeeds as a whole or is undone."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from iam.resolver import Resolver, Scope, revealed
from tests.emulated_account.cloudformation import schema
from tests.emulated_account.cloudformation.parameters import scope_of
from tests.emulated_account.cloudformation.stack import ChangeSet, Deployed, Stack
from tests.emulated_account.cloudformation.template import Declared, imports
from tests.emulated_account.cloudformation.world import World, shown
from tests.emulated_account.errors import NotEmulated, Refused
from tests.emulated_account.resources.kind import Kind, Made, Properties
from tests.emulated_account.resources.kinds import kind

FAILURES = (BotoCoreError, ClientError, NotEmulated, Refused)


class Deployment:
    """What was done so far, and how to take it back."""

    def __init__(self, world: World, stack: Stack, wanted: ChangeSet) -> None:
        self._world, self._stack, self._wanted = world, stack, wanted
        self._word = wanted.kind  # CREATE or UPDATE
        self._scope: Scope = scope_of(world, stack, wanted.template, wanted.parameters)
        self._resolve = Resolver(self._scope)
        self._undo: list[Callable[[], None]] = []
        self._leftover: list[Deployed] = []  # replaced or removed: deleted once all else is done

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
            standing = self._stack.resources.get(declared.id)
            deployed = self._changed(standing, declared) if standing else self._created(declared)
        except Exception as error:
            self._stack.tell(declared, "", f"{self._word}_FAILED", reason(error))
            raise
        self._stack.resources[declared.id] = deployed
        self._remember(deployed)

    def _remember(self, deployed: Deployed) -> None:
        self._scope.ids[deployed.declared.id] = deployed.physical_id
        self._scope.attributes[deployed.declared.id] = deployed.attributes

    def _created(self, declared: Declared) -> Deployed:
        self._stack.tell(declared, "", "CREATE_IN_PROGRESS")
        properties = self._properties(declared)
        given = self._given(properties)
        made = self._kind(declared).create(given)
        deployed = Deployed(declared, made.id, properties, made.attributes)
        self._undo.append(lambda: self._delete(deployed))
        given.check(declared.type)
        self._stack.tell(declared, made.id, "CREATE_COMPLETE")
        return deployed

    def _changed(self, standing: Deployed, declared: Declared) -> Deployed:
        properties = self._properties(declared)
        if declared.type != standing.declared.type:
            raise Refused(f"Update of resource type is not permitted: {declared.id}")
        if properties == standing.properties:
            return Deployed(declared, standing.physical_id, properties, standing.attributes)
        if schema.replacing(self._stack.region, declared.type, standing.properties, properties):
            self._stack.tell(declared, standing.physical_id, "UPDATE_IN_PROGRESS", "Requires new physical resource")
            return self._replaced(standing, self._created(declared))
        self._stack.tell(declared, standing.physical_id, "UPDATE_IN_PROGRESS")
        deployed = self._updated(standing, declared, properties)
        self._stack.tell(declared, deployed.physical_id, "UPDATE_COMPLETE")
        return deployed

    def _replaced(self, standing: Deployed, new: Deployed) -> Deployed:
        if standing.declared.replace_policy == "Delete":
            self._leftover.append(standing)
        return new

    def _updated(self, standing: Deployed, declared: Declared, properties: dict[str, Any]) -> Deployed:
        made = Made(standing.physical_id, standing.attributes)
        given = self._given(properties)
        new = self._kind(declared).update(made, given, self._revealed(standing.properties))
        deployed = Deployed(declared, new.id, properties, new.attributes)
        self._undo.append(lambda: self._update_back(deployed, standing))
        given.check(declared.type)
        return deployed if new.id == standing.physical_id else self._replaced(standing, deployed)

    def _update_back(self, changed: Deployed, before: Deployed) -> None:
        if changed.physical_id != before.physical_id:
            self._delete(changed)
            return
        made = Made(changed.physical_id, changed.attributes)
        back = self._given(before.properties)
        self._kind(before.declared).update(made, back, self._revealed(changed.properties))

    def _kind(self, declared: Declared) -> Kind:
        return kind(declared.type)(self._world.place(self._stack, declared.id))

    def _properties(self, declared: Declared) -> dict[str, Any]:
        kind(declared.type)  # unknown types are named before anything of them is resolved
        properties: dict[str, Any] = self._resolve(declared.properties)
        schema.check(self._stack.region, declared.type, properties)
        return properties

    def _given(self, properties: dict[str, Any]) -> Properties:
        return Properties(self._revealed(properties))

    def _revealed(self, properties: dict[str, Any]) -> dict[str, Any]:
        return dict(revealed(properties, lambda id: self._world.secret(self._stack.region, id)))

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
        stack.imports = set(map(self._resolve, imports([one.properties for one in wanted.template.resources.values()])))
        for deployed in reversed(self._leftover):
            self._clean(deployed)
        stack.becomes(f"{self._word}_COMPLETE")

    def _clean(self, deployed: Deployed) -> None:
        """What can't be deleted stays behind and fails no update, as with CloudFormation."""
        try:
            remove(self._world, self._stack, deployed)
        except Exception as error:
            note(self._world, error)
            self._stack.tell(deployed.declared, deployed.physical_id, "DELETE_FAILED", reason(error))

    def _roll_back(self, why: str) -> None:
        prefix = "" if self._word == "CREATE" else "UPDATE_"
        self._stack.becomes(f"{prefix}ROLLBACK_IN_PROGRESS", why)
        try:
            for step in reversed(self._undo):
                step()
        except Exception as error:
            note(self._world, error)
            self._stack.becomes(f"{prefix}ROLLBACK_FAILED", reason(error))
            return
        self._stack.becomes(f"{prefix}ROLLBACK_COMPLETE")

    def _delete(self, deployed: Deployed) -> None:
        made = Made(deployed.physical_id, deployed.attributes)
        self._kind(deployed.declared).delete(made, self._revealed(deployed.properties))
        self._stack.tell(deployed.declared, deployed.physical_id, "DELETE_COMPLETE")


def remove(world: World, stack: Stack, deployed: Deployed) -> None:
    """As the resource's policy says: delete it, leave it, or leave a snapshot of it."""
    declared, made = deployed.declared, Made(deployed.physical_id, deployed.attributes)
    if declared.deletion_policy == "Retain":
        stack.tell(declared, deployed.physical_id, "DELETE_SKIPPED")
        return
    stack.tell(declared, deployed.physical_id, "DELETE_IN_PROGRESS")
    found = kind(declared.type)(world.place(stack, declared.id))
    properties = revealed(deployed.properties, lambda id: world.secret(stack.region, id))
    (found.snapshot if declared.deletion_policy == "Snapshot" else found.delete)(made, properties)
    stack.tell(declared, deployed.physical_id, "DELETE_COMPLETE")


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, Refused) else str(error)


def note(world: World, error: Exception) -> None:
    """What is not AWS's refusal is a gap or a fault of the emulator."""
    if isinstance(error, NotEmulated):
        world.journal.unknown.append(str(error))
    elif not isinstance(error, FAILURES):
        world.journal.crash(error)
