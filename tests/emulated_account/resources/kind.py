"""One type of resource: how it is made, changed and deleted."""

import secrets
import string
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tests.emulated_account.calls import call
from tests.emulated_account.clients import ACCOUNT, Clients
from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.helm import Release
from tests.emulated_account.log_writers import LogWriters

ALPHABET = string.ascii_uppercase + string.digits


class Properties(Mapping[str, Any]):
    """The properties of a resource; remembers which were looked at, so that none is passed over."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._seen: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self._seen.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        self._seen.add(str(name))
        return name in self._values

    def rest(self) -> dict[str, Any]:
        """All that were not looked at yet."""
        return {name: self[name] for name in self._values if name not in self._seen}

    def check(self, kind: str) -> None:
        missed = [name for name in self._values if name not in self._seen]
        if missed:
            raise NotEmulated(f"property {missed[0]} of {kind}")


@dataclass(frozen=True)
class Made:
    """What a template may ask of a resource that stands: Ref gives the id, Fn::GetAtt the attributes."""

    id: str
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where a resource stands."""

    stack: str
    logical_id: str
    region: str
    clients: Clients
    logs: LogWriters
    releases: dict[tuple[str, str, str], Release]  # by region, cluster and name
    tags: list[dict[str, str]]  # of the stack, which CloudFormation gives to all that can carry them

    def name(self, limit: int = 64, *, stack: bool = True, lower: bool = False) -> str:
        """A name nobody chose, as CloudFormation makes them; never the same twice."""
        end = "-" + "".join(secrets.choice(ALPHABET) for _ in range(12))
        start = f"{self.stack}-{self.logical_id}" if stack else self.logical_id
        made = start[: limit - len(end)] + end
        return made.lower() if lower else made


class Kind(ABC):
    """A subclass per type; what it does not override can't be done to it."""

    type: ClassVar[str]
    service: ClassVar[str]

    def __init__(self, place: Place) -> None:
        self.place = place

    @property
    def client(self) -> Any:
        return self.place.clients(self.service, self.place.region)

    def call(self, method: str, parameters: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        return call(self.client, method, parameters or {}, **more)

    def arn(self, service: str, rest: str) -> str:
        return f"arn:aws:{service}:{self.place.region}:{ACCOUNT}:{rest}"

    @abstractmethod
    def create(self, properties: Properties) -> Made: ...

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        raise NotEmulated(f"update of {self.type}")

    @abstractmethod
    def delete(self, made: Made, properties: Mapping[str, Any]) -> None: ...

    def snapshot(self, made: Made, properties: Mapping[str, Any]) -> None:
        """Deletes it, and leaves a snapshot."""
        raise NotEmulated(f"deletion of {self.type} with a snapshot")


class Put(Kind):
    """A kind of resource that is changed as it is made: by the same call once more."""

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        return self.put(made.id, properties)

    @abstractmethod
    def put(self, id: str, properties: Properties) -> Made: ...
