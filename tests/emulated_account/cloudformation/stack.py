"""A stack as CloudFormation remembers it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.emulated_account.cloudformation.template import Declared, Template

GONE = "DELETE_COMPLETE"
REVIEW = "REVIEW_IN_PROGRESS"


@dataclass
class Deployed:
    """A resource that stands."""

    declared: Declared
    physical_id: str
    properties: dict[str, Any]  # resolved, secrets not revealed
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Event:
    """What happened to a resource, or to the stack as a whole."""

    logical_id: str
    physical_id: str
    type: str
    status: str
    reason: str
    time: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: str(uuid4()))


@dataclass
class ChangeSet:
    """What would become of a stack."""

    name: str
    id: str
    kind: str  # CREATE or UPDATE
    template: Template
    parameters: dict[str, str]  # as given, UsePreviousValue replaced by the value
    tags: list[dict[str, str]]
    capabilities: list[str]
    changes: list[dict[str, Any]]
    status: str = "CREATE_COMPLETE"
    reason: str = ""
    execution: str = "AVAILABLE"
    time: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Stack:
    """Its resources are kept in the order in which they were made."""

    name: str
    id: str
    region: str
    status: str = REVIEW
    reason: str = ""
    template: Template | None = None
    parameters: dict[str, str] = field(default_factory=dict)  # as given
    known: dict[str, Any] = field(default_factory=dict)  # what they stood for at the last deployment
    tags: list[dict[str, str]] = field(default_factory=list)
    capabilities: list[str] = field(default_factory=list)
    resources: dict[str, Deployed] = field(default_factory=dict)
    outputs: list[dict[str, str]] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)
    executed: list[ChangeSet] = field(default_factory=list)
    protected: bool = False  # from its deletion
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def exports(self) -> dict[str, str]:
        return {one["ExportName"]: one["OutputValue"] for one in self.outputs if "ExportName" in one}

    def becomes(self, status: str, reason: str = "") -> None:
        self.status, self.reason = status, reason
        self.events.append(Event(self.name, self.id, "AWS::CloudFormation::Stack", status, reason))

    def tell(self, declared: Declared, physical_id: str, status: str, reason: str = "") -> None:
        self.events.append(Event(declared.id, physical_id, declared.type, status, reason))
