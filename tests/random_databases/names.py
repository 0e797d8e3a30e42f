"""Names as people give them: of an ORM, with spaces, of another script, reserved, long, and some that look alike."""

from random import Random

WORDS = ("order", "user", "item", "invoice", "page", "team", "event", "note", "visit", "price")
SCRIPTS = ("größe", "価格", "naïve", "имя", "año", "Straße")
RESERVED = ("select", "group", "table", "limit", "default", "end", "from", "check")
ODD = ("2nd {}", "{}-id", "{}.v2", "it's {}", "{} (old)", "{}$", "_{}", "{}#")
ADDED = ("__deleted", "__op", "_order", "__lsn", "_hoodie_record_key")
LONGEST = 63  # bytes
STYLES = {
    "plain": 40,
    "camel": 20,
    "pascal": 10,
    "spaced": 8,
    "script": 6,
    "reserved": 6,
    "odd": 5,
    "long": 3,
    "alike": 2,
}


class Names:
    """No name is given twice; a few differ by case, or by what Avro does not take, only."""

    def __init__(self, chooser: Random) -> None:
        self._chooser = chooser
        self._given: list[str] = []

    def next(self) -> str:
        while (found := self._one()) in self._given:
            pass
        self._given.append(found)
        return found

    def _one(self) -> str:
        (style,) = self._chooser.choices(list(STYLES), list(STYLES.values()))
        first, second = self._chooser.choice(WORDS), self._chooser.choice(WORDS)
        number = self._chooser.randrange(100)
        return {
            "plain": f"{first}_{second}_{number}",
            "camel": f"{first}{second.title()}{number}",
            "pascal": f"{first.title()}{second.title()}{number}",
            "spaced": f"{first} {second} {number}",
            "script": f"{self._chooser.choice(SCRIPTS)}{number}",
            "reserved": self._chooser.choice(RESERVED),
            "odd": self._chooser.choice(ODD).format(f"{first}{number}"),
            "long": f"{first}{number}_".ljust(LONGEST, "x"),
            "alike": self._alike(f"{first}_{number}"),
        }[style]

    def _alike(self, otherwise: str) -> str:
        if not self._given:
            return otherwise
        known = self._chooser.choice(self._given)
        return self._chooser.choice([known.swapcase(), known.replace("_", " "), known.replace(" ", "-")])
