"""Kinds of columns: their type, values of them, and values that are good for a key."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LARGE = "large " * 6000
MULTIRANGE = "{[1,3),[5,9)}"


@dataclass(eq=False)
class Kind:
    """One type.

    type: as SQL. usual, rare: values as texts. key: its n-th value in a key, each another one to PostgreSQL; None where
    the type is not used in keys. respelled: an equal value in another form. wider: a type that its values fit into.
    """

    type: str
    usual: list[str]
    rare: tuple[str, ...] = ()
    key: Callable[[int], str] | None = None
    respelled: tuple[str, str] | None = None
    wider: str = ""

    def some(self, chooser: Random) -> str:
        rarely = self.rare and chooser.random() < 0.04
        return chooser.choice(self.rare if rarely else self.usual)


def first(*special: str, then: Callable[[int], str]) -> Callable[[int], str]:
    """Special values first, as keys 0, 1, ..."""
    return lambda n: special[n] if n < len(special) else then(n)


NUMBERS = [
    Kind("smallint", ["0", "-32768", "32767", "7"], key=lambda n: str(n * 3 - 20), wider="integer"),
    Kind("integer", ["0", "-1", "2147483647", "42"], key=lambda n: str(n * 7 - 30), wider="bigint"),
    Kind("bigint", ["0", "-9223372036854775808", "9007199254740993"], key=lambda n: str(2**53 + n), wider="numeric"),
    Kind("real", ["0", "1.5", "3.4e38", "1e-45"], ("NaN", "Infinity", "-0"), wider="double precision"),
    Kind(
        "double precision",
        ["0", "0.1", "1e308", "5e-324"],
        ("NaN", "-Infinity", "-0"),
        first("0", "NaN", "Infinity", then=str),
        respelled=("0", "-0"),
    ),
    Kind("numeric", ["0", "1.10", "12345678901234567890.123456789"], ("NaN", "Infinity"), str, ("1", "1.00")),
    Kind("numeric(10,2)", ["0", "-99999999.99", "5.50"], ("NaN",), lambda n: f"{n}.25", wider="numeric(12,2)"),
    Kind("money", ["0", "-12.34", "92233720368547758.07"]),
    Kind("oid", ["0", "4294967295"]),
]
TEXTS = [
    Kind(
        "text",
        ["", " ", "NULL", "null", "é 価 🦆", "a,b:c", "line\nbreak\ttab", 'it\'s \\ "quoted"', "%s ${x}", "__null__"],
        (LARGE,),
        first("", "__null__", "a:b", "a,b", "a/b", "é 価", " ", "%2F", then=lambda n: f"key {n}"),
    ),
    Kind("varchar(20)", ["", "short", "exactly twenty chars"], (), lambda n: f"K{n}", wider="text"),
    Kind("char(8)", ["", "ab", "12345678"], (), lambda n: f"c{n}"),
    Kind('"char"', ["a", "z"]),
    Kind("name", ["", "a_name"]),
    Kind("uuid", ["00000000-0000-0000-0000-000000000000"], (), lambda n: f"{n:08}-1111-4111-8111-0123456789ab"),
    Kind("json", ['{"a": [1, null]}', "null", '"text"', '{"b":1,"a":2,"b":3}']),
    Kind("jsonb", ['{"a": [1.10, null]}', "null", "{}"], (f'{{"x": "{LARGE}"}}',)),
    Kind("bytea", ["\\x", "\\x5c00ff41", "abcd"], (), first("\\x", "\\xff", then=lambda n: f"\\x{n:06x}")),
    Kind("inet", ["127.0.0.1", "10.0.0.0/8", "::1"], (), lambda n: f"10.0.{n // 250}.{n % 250}"),
    Kind("cidr", ["10.0.0.0/8", "::/0"]),
    Kind("macaddr", ["08:00:2b:01:02:03"]),
    Kind("bit(3)", ["101", "000"]),
    Kind("bit(1)", ["1", "0"]),
    Kind("varbit", ["", "10101"]),
    Kind("tsvector", ["'fat':2 'rat':3"]),
    Kind("point", ["(1,2)", "(-0.5,1e10)"]),
]
TIMES = [
    Kind(
        "date",
        ["2024-02-29", "0001-01-01", "5874897-12-31"],
        ("infinity", "4713-01-01 BC"),
        lambda n: f"{2000 + n}-03-01",
    ),
    Kind("time", ["00:00", "24:00", "12:34:56.789012"], (), lambda n: f"01:{n // 60:02}:{n % 60:02}"),
    Kind(
        "timetz",
        ["00:00+00", "12:34:56.5+05:30"],
        (),
        first("12:00+00", "13:00+01", then=lambda n: f"{n // 60:02}:{n % 60:02}:00-03"),
    ),
    Kind(
        "timestamp",
        ["2024-02-29 12:34:56.789012", "1970-01-01"],
        ("infinity",),
        lambda n: f"2020-01-01 00:00:{n % 60}.{n}",
    ),
    Kind(
        "timestamptz",
        ["2024-02-29 12:34:56.789012+02", "1969-12-31 23:59:59.999999+00"],
        ("-infinity",),
        first("infinity", then=lambda n: f"2020-01-01 00:00:{n % 60}.{n}+01"),
    ),
    Kind(
        "interval",
        ["1 year -2 mons 3 days 04:05:06.7", "0", "-1 day"],
        ("infinity",),
        first("1 mon", then=lambda n: f"{n} hours"),
        ("1 mon", "30 days"),
    ),
]
LISTS = [
    Kind("integer[]", ["{}", "{1,NULL,3}"], ("{{1,2},{3,4}}",)),
    Kind("text[]", ["{}", '{a,"b c",NULL,"NULL"}'], (), lambda n: f"{{a,{n}}}"),
    Kind("numeric[]", ["{1.10,NaN}", "{}"]),
    Kind("timestamptz[]", ["{2024-02-29 12:00:00+00}", "{NULL}"]),
    Kind("bytea[]", ['{"\\\\xabcd","\\\\x"}', "{}"]),
    Kind("int4range", ["[1,5)", "empty", "(,)"]),
    Kind("tstzrange", ["[2024-01-01 00:00+00,)", "empty"]),
    Kind("int4multirange", ["{}", MULTIRANGE]),
]
BOOLEAN = Kind("boolean", ["t", "f"])
COMMON = [NUMBERS[1], NUMBERS[2], NUMBERS[6], TEXTS[0], TEXTS[1], TIMES[0], TIMES[4], BOOLEAN]
ALL = [*NUMBERS, *TEXTS, *TIMES, *LISTS, BOOLEAN]
INTEGER, TEXT = NUMBERS[1], TEXTS[0]
PLACE = Kind("text", ["a", "b", "c", "z"], key=lambda n: "abcz"[n % 4])  # names a partition
TAG = Kind("integer", ["0", "1", "2", "3"])  # of rows that no key tells apart


def of_keys(chooser: Random) -> Kind:
    usual = [INTEGER, INTEGER, INTEGER, NUMBERS[2], NUMBERS[2], TEXTS[5], TEXTS[1]]
    return chooser.choice([*usual, *(kind for kind in ALL if kind.key)])


def of_values(chooser: Random, own: list[Kind]) -> Kind:
    """own: the types that the database makes itself."""
    return chooser.choice([*COMMON, *COMMON, *ALL, *own, *own])
