"""PostgreSQL, by capability."""

from lake.sources.engine import Engine, Guard
from lake.sources.postgres import (
    capture,
    catalog,
    checks,
    connector,
    facts,
    leaving,
    leftovers,
    limit,
    preparation,
    protection,
    rules,
    script,
)
from lake.sources.postgres.types import MAPPED

POSTGRES = Engine(
    name="postgres",
    discovery=catalog,
    checks=checks,
    preparation=preparation,
    connector=connector,
    capture=capture,
    types=MAPPED,
    scripts=script.scripts,
    leaving=leaving,
    leftovers=leftovers,
    guard=Guard(facts.ServerFacts, facts.TableFacts, facts, rules, limit, protection),
)
