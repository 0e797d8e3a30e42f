"""The operations of CloudFormation that the CDK's command line calls, and a few for tests to look with."""

from threading import RLock

from tests.emulated_account.cloudformation.change_sets import ChangeSets
from tests.emulated_account.cloudformation.stacks import Stacks
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.errors import Refused
from tests.emulated_account.services.service import Answer, Operation, Service, operation, refuse


class CloudFormation(Service):
    """Stacks are made, changed and deleted inside the call: whoever asks next finds them finished."""

    name, signed, whole = "cloudformation", "cloudformation", True

    def __init__(self, world: World) -> None:
        super().__init__(world.clients)
        self._parts = (ChangeSets(world), Stacks(world))
        self._turn = RLock()

    def operation(self, name: str) -> Operation | None:
        found = [method for part in self._parts if (method := operation(part, name))]
        return self._in_turn(found[0]) if found else None

    def _in_turn(self, method: Operation) -> Operation:
        def answer(region: str, wish: Answer) -> Answer:
            with self._turn:
                try:
                    return method(region, wish)
                except Refused as error:
                    raise refuse("ValidationError", str(error)) from error

        return answer
