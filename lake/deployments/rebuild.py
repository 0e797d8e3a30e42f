"""Rebuild: everything deleted, deployed anew, loaded and verified; interrupted, it goes on where it was."""

from typing import Any

from lake.config.errors import in_the_middle
from lake.deployments.deployment import Place, Say
from lake.deployments.teardown import Confirm, refuse_protected, teardown

VERIFY_WITHIN_S = 900.0


def rebuild(place: Place, say: Say, confirm: Confirm) -> dict[str, Any]:
    """The result of the verification at the end; LakeError when it was not confirmed."""
    refuse_protected(place)
    place.check_build()
    if place.rebuilding():
        say(f"{place.name}: goes on with the rebuild that was interrupted")
    else:
        teardown(place, False, say, confirm)
        place.mark_rebuilding(True)
    with in_the_middle(f"lake rebuild --env {place.name}"):
        place.build(say)
        result = place.verify([], VERIFY_WITHIN_S, say)
    if result["equal"]:
        place.mark_rebuilding(False)
    return result
