"""Types that a database makes itself, some of them with names that look like others."""

from random import Random

from tests.random_databases.kinds import Kind
from tests.random_databases.quoting import name, value

SCHEMA = "kinds"
ADDRESS = f"{SCHEMA}.address"  # a composite type
LABELS = ["new", "in progress", "Straße", "done"]
ENUM_NAMES = ("_status", "Mood", "stage", "my status")
DOMAIN_NAMES = ("date", "Price", "app text", "text")
SHADOWS = {f'{SCHEMA}."{one}"' for one in ("date", "text")}
BASES = (("text", ["x", "", "domain"]), ("integer", ["1", "-5"]), ("numeric(8,3)", ["1.250"]), ("date", ["2024-01-31"]))


class OwnTypes:
    """One enum and one domain, seldom a composite type; their DDL."""

    def __init__(self, chooser: Random) -> None:
        enum, domain = chooser.choice(ENUM_NAMES), chooser.choice(DOMAIN_NAMES)
        base, values = chooser.choice(BASES)
        self.enum = Kind(_full(enum), [*LABELS])
        self.kinds = [self.enum, Kind(_full(domain), values), Kind(f"{_full(enum)}[]", ["{new,NULL}", "{}"])]
        self.ddl = [
            f"CREATE SCHEMA {SCHEMA}",
            f"CREATE TYPE {self.enum.type} AS ENUM ({', '.join(map(value, LABELS))})",
            f"CREATE DOMAIN {_full(domain)} AS {base}",
        ]
        if chooser.random() < 0.3:
            self.kinds.append(Kind(f"{_full(domain)}[]", ["{}", f"{{{values[0] or 'y'}}}"]))
        if chooser.random() < 0.15:
            self.ddl.append(f"CREATE TYPE {ADDRESS} AS (street text, number integer)")
            self.kinds.append(Kind(ADDRESS, ['("long street",5)', "(,)"]))


def _full(bare: str) -> str:
    return f"{SCHEMA}.{name(bare)}"
