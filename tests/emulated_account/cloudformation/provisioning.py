"""One resource of a stack: made, changed, or replaced; and how to take that back."""

from collections.abc import Callable
from typing import Any

from iam.resolver import Resolver, Scope, revealed
from tests.emulated_account.cloudformation import schema
from tests.emulated_account.cloudformation.limits import check_response
from tests.emulated_account.cloudformation.stack import Deployed, Stack
from tests.emulated_account.cloudformation.template import CUSTOM, Declared
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import Refused
from tests.emulated_account.resources.kind import Kind, Made, Properties
from tests.emulated_account.resources.kinds import kind

REPLACED = "Requested update requires the creation of a new physical resource; hence creating one."
NAMED = (
    "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
    "Rename {} and update the stack again."
)


class Provision:
    """All resources that one creation or update touches, each after those that it needs."""

    def __init__(self, world: World, stack: Stack, scope: Scope) -> None:
        self._world, self._stack, self._scope = world, stack, scope
        self._resolve = Resolver(scope)
        self.undo: list[Callable[[], None]] = []
        self.leftover: list[Deployed] = []  # replaced: deleted once all else is done

    def make(self, declared: Declared) -> None:
        """The resource as the template wants it now."""
        standing = self._stack.resources.get(declared.id)
        deployed = self._changed(standing, declared) if standing else self._created(declared)
        if declared.type.startswith(CUSTOM):
            check_response(deployed.attributes)
        self._stack.resources[declared.id] = deployed
        self._scope.ids[declared.id] = deployed.physical_id
        self._scope.attributes[declared.id] = deployed.attributes

    def _created(self, declared: Declared) -> Deployed:
        self._stack.tell(declared, "", "CREATE_IN_PROGRESS")
        properties = self._properties(declared)
        given = self._given(properties)
        made = self._kind(declared).create(given)
        deployed = Deployed(declared, made.id, properties, made.attributes)
        self.undo.append(lambda: self._delete(deployed))
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
            self._check_name(standing, properties)
            self._stack.tell(declared, standing.physical_id, "UPDATE_IN_PROGRESS", REPLACED)
            return self._replaced(standing, self._created(declared))
        self._stack.tell(declared, standing.physical_id, "UPDATE_IN_PROGRESS")
        deployed = self._updated(standing, declared, properties)
        self._stack.tell(declared, deployed.physical_id, "UPDATE_COMPLETE")
        return deployed

    def _check_name(self, standing: Deployed, properties: dict[str, Any]) -> None:
        """The old resource stands until the new one does, so they can't share a name."""
        region, type = self._stack.region, standing.declared.type
        before, after = (schema.custom_name(region, type, one) for one in (standing.properties, properties))
        if before and before == after:
            raise Refused(NAMED.format(before))

    def _replaced(self, standing: Deployed, new: Deployed) -> Deployed:
        self.leftover.append(standing)
        return new

    def _updated(self, standing: Deployed, declared: Declared, properties: dict[str, Any]) -> Deployed:
        made = Made(standing.physical_id, standing.attributes)
        given = self._given(properties)
        new = self._kind(declared).update(made, given, self._revealed(standing.properties))
        deployed = Deployed(declared, new.id, properties, new.attributes)
        self.undo.append(lambda: self._update_back(deployed, standing))
        given.check(declared.type)
        return deployed if new.id == standing.physical_id else self._replaced(standing, deployed)

    def _update_back(self, changed: Deployed, before: Deployed) -> None:
        if changed.physical_id != before.physical_id:
            self._delete(changed)
            return
        made = Made(changed.physical_id, changed.attributes)
        back = self._given(before.properties)
        self._kind(before.declared).update(made, back, self._revealed(changed.properties))

    def _delete(self, deployed: Deployed) -> None:
        made = Made(deployed.physical_id, deployed.attributes)
        self._kind(deployed.declared).delete(made, self._revealed(deployed.properties))
        self._stack.tell(deployed.declared, deployed.physical_id, "DELETE_COMPLETE")

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
