"""A teardown knows the stacks, and an order in which none is deleted before those that use it."""

import json
import re

from lake.deployments.stacks import PARTS
from tests.synth.synthesis import Synthesized


def test_a_teardown_knows_every_stack(lake: Synthesized) -> None:
    assert set(PARTS) == set(lake.templates)


def test_a_stack_uses_only_what_stands_before_it(lake: Synthesized) -> None:
    for part, template in lake.templates.items():
        used = set(re.findall(rf"lake-{lake.name}-([a-z]+):Exports", json.dumps(template)))
        assert used <= set(PARTS[: PARTS.index(part) + 1]), part
