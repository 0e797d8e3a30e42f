"""Teardown: refused where it must be, shown first, and proven by a look at what is left."""

from collections import Counter
from collections.abc import Callable

from lake.config.errors import BadInput, LakeError
from lake.deployments.deployment import Item, Place, Say

Confirm = Callable[[str], bool]
REFUSED = "it was not confirmed"


def refuse_protected(place: Place) -> None:
    """BadInput for an environment whose file says so."""
    if place.protected:
        now = "write protected: false there, deploy, and run this again"
        raise BadInput(f"{place.name} is protected", f"environments/{place.name}.yaml, key protected", now)


def plan(place: Place, keep_data: bool) -> list[tuple[Item, bool]]:
    """All that stands, and whether it goes."""
    return [(item, not place.keeps(item, keep_data)) for item in place.standing()]


def told(planned: list[tuple[Item, bool]]) -> list[str]:
    """What goes, line by line; things of one kind that hold nothing are counted."""
    plain = Counter(f"{item.where}: {item.kind}" for item, goes in planned if goes and not item.lost)
    lines = [
        f"deletes {item.where}: {item.kind} {item.name}; LOST: {item.lost}"
        for item, goes in planned
        if goes and item.lost
    ]
    lines += [f"deletes {kind} (x {count})" if count > 1 else f"deletes {kind}" for kind, count in plain.items()]
    return lines + [f"keeps   {item.where}: {item.kind} {item.name}" for item, goes in planned if not goes]


def teardown(place: Place, keep_data: bool, say: Say, confirm: Confirm) -> list[Item]:
    """What is left, all of it on purpose; LakeError when it was not confirmed, or when anything else is left."""
    refuse_protected(place)
    planned = plan(place, keep_data)
    going = [item for item, goes in planned if goes]
    if not going:
        say(f"{place.name}: nothing stands that a teardown would delete")
        return prove(place, keep_data)
    for line in told(planned):
        say(line)
    if not confirm(f"Delete {len(going)} things of the lake {place.name}?"):
        raise LakeError(REFUSED, f"teardown of {place.name}", "nothing was changed; --yes confirms in scripts")
    place.demolish(keep_data, say)
    return prove(place, keep_data)


def prove(place: Place, keep_data: bool) -> list[Item]:
    """Looks anew at all that stands."""
    left = place.standing()
    wrong = [item for item in left if not place.keeps(item, keep_data)]
    if wrong:
        named = ", ".join(f"{item.kind} {item.name}" for item in wrong[:5])
        what = f"{len(wrong)} things are left: {named}"
        raise LakeError(what, f"teardown of {place.name}", "run it again; it goes on from here")
    return left
