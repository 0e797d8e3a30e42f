"""What a change of a lake moves: each deployed to a copy of the account in which the lake stands."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.emulated_account.account import Door
from tests.emulated_account.cloudformation.provisioning import REPLACED
from tests.emulated_account.cloudformation.stack import ChangeSet, Event, Stack
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.copies import in_copy
from tests.synth.synthesis import changed, described, synthesize

Edit = Callable[[Path], Path]  # an empty folder -> the assembly of the changed lake
TWICE = {"key": ["id"], "types": ["cow", "mor"]}
SECOND = {"database": "billing", "tables": {"public.invoices": TWICE}}  # sorts before moma
WIDE = {"database": "wide", "tables": {f"public.table_{number:03}": TWICE for number in range(200)}}
NEWER_KAFKA = "4.0.x.kraft"
SPLIT = "one job split in two"
NEVER_MIND = ("AWS::CloudFormation::Stack", "AWS::CDK::Metadata")  # the stack as a whole; a note of the command line


@dataclass(frozen=True)
class Changed:
    """How a command ended, and "part type" of each resource by what became of it.

    announced: what the change sets said would be replaced, before they were executed.
    """

    code: int
    text: str
    announced: list[str]
    replaced: list[str]
    updated: list[str]
    added: list[str]
    removed: list[str]


@dataclass(frozen=True)
class Announced:
    """What is said of a change before: by `cdk diff`, and by change sets of what would be replaced."""

    text: str
    replaced: list[str]


def announce(door: Door, cdk: Cdk, folder: Path, name: str) -> Announced:
    """Of one change; nothing is carried out."""
    folder.mkdir()
    return Announced(**in_copy(door, partial(_prepared, cdk, EDITS[name](folder))))


def _prepared(cdk: Cdk, assembly: Path) -> dict[str, Any]:
    text = cdk.run("diff", "--method", "change-set", "--app", assembly).text
    assert cdk.prepare(assembly).code == 0
    prepared = [(stack, one) for stack in cdk.account.world.standing(cdk.region) for one in stack.change_sets.values()]
    return {"text": text, "replaced": _replacing(prepared)}


def _replacing(change_sets: Sequence[tuple[Stack, ChangeSet]]) -> list[str]:
    """What change sets show as replaced, or as replaced perhaps."""
    changes = [(stack, one["ResourceChange"]) for stack, made in change_sets for one in made.changes]
    found = [(stack, one) for stack, one in changes if one.get("Replacement", "False") != "False"]
    return sorted(f"{part(stack)} {one['ResourceType']}" for stack, one in found)


def change(door: Door, cdk: Cdk, folder: Path) -> dict[str, Changed]:
    """All changes, one by one; the account stays as it is."""
    found = {}
    for name, edit in EDITS.items():
        place = folder / name.replace(" ", "-")
        place.mkdir()
        found[name] = Changed(**in_copy(door, partial(_deployed, cdk, edit(place))))
    return found


def _deployed(cdk: Cdk, assembly: Path) -> dict[str, Any]:
    return asdict(watched(cdk, lambda: cdk.deploy(assembly)))


def watched(cdk: Cdk, act: Callable[[], Done]) -> Changed:
    """What one command moves, in stacks that are gone after it, too."""
    before = {stack.id: (len(stack.events), len(stack.executed)) for stack in _stacks(cdk)}
    done = act()
    since = [(stack, *before.get(stack.id, (0, 0))) for stack in _stacks(cdk)]
    executed = [(stack, one) for stack, _, sets in since for one in stack.executed[sets:]]
    moved = _moved([(stack, event) for stack, events, _ in since for event in stack.events[events:]])
    return Changed(done.code, done.text, _replacing(executed), **moved)


def _stacks(cdk: Cdk) -> list[Stack]:
    return [stack for stack in cdk.account.world.stacks.values() if stack.region == cdk.region]


def _moved(events: Sequence[tuple[Stack, Event]]) -> dict[str, list[str]]:
    moved: dict[str, set[tuple[str, str]]] = {"replaced": set(), "updated": set(), "added": set(), "removed": set()}
    for stack, event in events:
        word = "replaced" if event.reason == REPLACED else WORDS.get(event.status)
        if word and event.type not in NEVER_MIND:
            moved[word].add((f"{part(stack)} {event.type}", event.logical_id))
    again = moved["replaced"]
    for word in ("added", "removed"):
        moved[word] -= again
    return {word: sorted(name for name, _ in found) for word, found in moved.items()}


def part(stack: Stack) -> str:
    """Of the lake: lake-dev-network is "network"."""
    return stack.name.rpartition("-")[2]


WORDS = {"UPDATE_COMPLETE": "updated", "CREATE_COMPLETE": "added", "DELETE_COMPLETE": "removed"}


def _database(content: dict[str, Any], folder: Path) -> Path:
    for path in ROOT.iterdir():
        if path.name not in ("databases", "dist"):  # other tests read the files in dist/ meanwhile
            (folder / path.name).symlink_to(path)
    shutil.copytree(ROOT / "databases", folder / "databases")
    (folder / f"databases/{content['database']}.yaml").write_text(yaml.safe_dump(content))
    return synthesize("dev", root=folder).folder


def _split_job(folder: Path) -> Path:
    jobs = {"stream": {"layers": ["silver"]}, "archive": {"layers": ["bronze"]}}
    return _environment(folder, {"processing.jobs": jobs})


def _another_job(folder: Path) -> Path:
    """Beside the one that stands, which stays as it is."""
    return _environment(folder, {"processing.jobs": ["stream", "streamer"]})


def _newer_kafka(folder: Path) -> Path:
    with patched("lake.config.versions.MSK", NEWER_KAFKA):
        return _environment(folder, {})


def _edited_reporter(folder: Path) -> Path:
    scripts = shutil.copytree(ROOT / "constructs/lake_constructs/scripts", folder / "scripts")
    with (scripts / "report_freshness.py").open("a") as reporter:
        reporter.write("\n# edited\n")
    with patched("lake_constructs.job_code.SCRIPTS", scripts):
        return _environment(folder, {})


EDITS: dict[str, Edit] = {
    "a second database": partial(_database, SECOND),
    "two hundred tables": partial(_database, WIDE),
    SPLIT: _split_job,
    "a job more": _another_job,
    "a newer Kafka": _newer_kafka,
    "an edited reporter": _edited_reporter,
}


def _environment(folder: Path, more: dict[str, Any]) -> Path:
    """more: by dotted keys."""
    return synthesize("dev", described(folder, changed("dev", more))).folder


@contextmanager
def patched(name: str, value: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name, value)
        yield
