"""TICKIT-shaped data: seven tables of a seller of tickets in one database, generated from a fixed seed."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

from lake.config.environment import Environment
from lake.samples.loading import Counts, Report, Row, fill, new_database, silent

DATABASE = "tickit"
SEED = 2008
FIRST_DAY = date(2008, 1, 1)
DAYS = 365
# The counts of Amazon's sample. Keys are 1 to the count, so that every reference finds a row.
COUNTS = {
    "ems.category": 11,
    "ems.venue": 202,
    "ecomm.date": DAYS,
    "ems.event": 8798,
    "crm.user": 49990,
    "ecomm.listing": 192497,
    "ecomm.sale": 172456,
}
CATEGORIES = {
    "Sports": ("Baseball", "Hockey", "Football", "Basketball", "Soccer"),
    "Shows": ("Musicals", "Plays", "Opera"),
    "Concerts": ("Pop", "Jazz", "Classical"),
}
PLACES = (("Boston", "MA"), ("Chicago", "IL"), ("Denver", "CO"), ("Houston", "TX"), ("Miami", "FL"), ("Seattle", "WA"))
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")  # in any locale
FIRST_NAMES = ("Ada", "Bruno", "Chloé", "Dmitri", "Eve", "Farid", "Grete", "Hiro", "Ines", "Jürgen")
LIKES = 10  # of sports, theatre, concerts and seven kinds of music and shows
LAST_NAMES = ("Novak", "O'Brien", "García", "Smith", "Kowalska", "Dubois", "Tanaka", "Okafor")


def load(home: Environment, report: Report = silent) -> Counts:
    """BadInput if PostgreSQL can't be reached, LakeError later."""
    with new_database(home, DATABASE, home.root / "data" / "tickit" / "schema.sql") as connection:
        return {table: fill(connection, table, rows(table), total, report) for table, total in COUNTS.items()}


def rows(table: str) -> Iterator[Row]:
    """The rows of a table in the order of its columns (data/tickit/schema.sql); the same ones each time."""
    random = Random(f"{SEED} {table}")
    makers = {
        "ems.category": _category,
        "ems.venue": _venue,
        "ecomm.date": _date,
        "ems.event": _event,
        "crm.user": _user,
        "ecomm.listing": _listing,
        "ecomm.sale": _sale,
    }
    return (makers[table](random, key) for key in range(1, COUNTS[table] + 1))


def _category(random: Random, key: int) -> Row:
    every = [(group, name) for group, names in CATEGORIES.items() for name in names]
    group, name = every[key - 1]
    return key, group, name, f"All {name.lower()} events"


def _venue(random: Random, key: int) -> Row:
    city, state = random.choice(PLACES)
    seats = random.choice((None, random.randrange(500, 90000)))  # half of the venues are open air
    return key, f"{city} Hall {key}", city, state, seats


def _date(random: Random, key: int) -> Row:
    day = FIRST_DAY + timedelta(days=key - 1)
    holiday = (day.month, day.day) in ((1, 1), (7, 4), (12, 25))
    week, month = int(day.strftime("%W")) + 1, MONTHS[day.month - 1]
    return key, day, WEEKDAYS[day.weekday()], week, month, (day.month + 2) // 3, day.year, holiday


def _event(random: Random, key: int) -> Row:
    day = random.randrange(DAYS)
    start = datetime.combine(FIRST_DAY, datetime.min.time()) + timedelta(days=day, minutes=random.randrange(720, 1260))
    return key, _one_of(random, "ems.venue"), _one_of(random, "ems.category"), day + 1, f"Event {key}", start


def _user(random: Random, key: int) -> Row:
    first, last = random.choice(FIRST_NAMES), random.choice(LAST_NAMES)
    city, state = random.choice(PLACES)
    phone = f"({random.randrange(200, 999)}) 555-{random.randrange(10000):04d}"
    likes = [random.choice((True, False, None)) for _ in range(LIKES)]
    return key, f"U{key:07d}", first, last, city, state, f"user{key}@example.com", phone, *likes


def _listing(random: Random, key: int) -> Row:
    tickets, price = random.randrange(1, 30), Decimal(random.randrange(2000, 250000)) / 100
    day = random.randrange(DAYS)
    seller, event = _one_of(random, "crm.user"), _one_of(random, "ems.event")
    return key, seller, event, day + 1, tickets, price, price * tickets, _moment(random, day)


def _sale(random: Random, key: int) -> Row:
    quantity, price = random.randrange(1, 9), Decimal(random.randrange(2000, 250000)) / 100
    paid = price * quantity
    day = random.randrange(DAYS)
    people = [_one_of(random, "crm.user") for _ in range(2)]
    listing, event = _one_of(random, "ecomm.listing"), _one_of(random, "ems.event")
    commission = (paid * 15 / 100).quantize(Decimal("0.01"))
    return key, listing, *people, event, day + 1, quantity, paid, commission, _moment(random, day)


def _one_of(random: Random, table: str) -> int:
    return random.randrange(COUNTS[table]) + 1


def _moment(random: Random, day: int) -> datetime:
    return datetime.combine(FIRST_DAY, datetime.min.time()) + timedelta(days=day, seconds=random.randrange(86400))
