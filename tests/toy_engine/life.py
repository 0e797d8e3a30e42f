"""Runs in a copy of the tree that has the toy: definition, plan, connector settings and types; prints what it finds."""

import json
import sqlite3
import sys
from dataclasses import asdict
from pathlib import Path

from lake.clients.stream_status import uncaptured
from lake.config.definition import load_databases
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.plan.diff import changes
from lake.plan.facts import Facts
from lake.plan.preconditions import findings
from lake.rendering.connector import client_overrides
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import topics
from lake.sources.connector import source_connector
from lake.sources.engines import engine_of
from lake.sources.findings import refuse

ROOT = Path.cwd()


def main() -> None:
    (ROOT / ".lake").mkdir()
    with sqlite3.connect(ROOT / ".lake/shop.sqlite") as connection:
        connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE shapes (id INTEGER PRIMARY KEY, outline BLOB)")
    (shop,) = [one for one in load_databases(ROOT) if one.database == "shop"]
    environment, engine = Environment(name="local", root=ROOT), engine_of(shop)

    def facts() -> Facts:
        source = engine.discovery.read_source(environment, shop)
        wanted = topics(shop, environment)
        return Facts({"shop": source}, wanted, {topic.name: topic for topic in wanted}, {"shop": None}, {})

    first = changes([shop], environment, facts())
    refuse(findings([shop], environment, facts()))
    engine.preparation.execute(environment, shop, [one for one in first if one.kind == "source"])
    with sqlite3.connect(ROOT / ".lake/shop.sqlite") as connection:
        connection.execute("INSERT INTO items VALUES (1, 'a'), (2, 'b')")
    shapes = shop.model_copy(
        update={
            "by_name": {
                "main.shapes": next(iter(shop.by_name.values())).__class__(full_name="main.shapes", key=("id",))
            }
        }
    )
    try:
        refuse(engine.checks.findings(shapes, engine.discovery.read_source(environment, shapes).catalog, 1))
        refused = ""
    except BadInput as problem:
        refused = str(problem)
    json.dump(
        {
            "changes": [asdict(one) for one in first],
            "later": [one.kind for one in changes([shop], environment, facts())],
            "connector": source_connector(shop, environment),
            "overrides": client_overrides(ROOT),
            "pipeline": pipeline([shop], environment)["tables"][0],
            "lag": uncaptured(environment, shop, engine.capture.position(environment, shop)),
            "refused": refused,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
