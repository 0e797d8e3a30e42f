"""The times of EventBridge Scheduler, as an environment file may write them: rate(...) or cron(...), in UTC."""

import re
from typing import Annotated

from pydantic import AfterValidator, StrictStr

MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}
SHORTEST_MIN = 15  # a step starts a Spark application: more often, the steps would queue on the cluster
RATE = re.compile(r"^rate\(([1-9][0-9]{0,3}) (minute|hour|day)(s?)\)$")
CRON = re.compile(r"^cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)$")
FIELD = re.compile(r"^(\?|\*|[0-9A-Z,/#*-]+)$")
FORMS = "write rate(1 day), or cron(0 2 * * ? *): minute, hour, day of the month, month, day of the week, year"


def _expression(text: str) -> str:
    if rate := RATE.match(text):
        return _rate(text, int(rate[1]), rate[2], plural=bool(rate[3]))
    if cron := CRON.match(text):
        return _cron(text, *cron.groups())
    raise ValueError(f"'{text}' is no schedule | {FORMS}")


def _rate(text: str, number: int, unit: str, *, plural: bool) -> str:
    if plural == (number == 1):
        raise ValueError(f"'{text}' is no schedule | write 1 {unit}, or more {unit}s")
    if number * MINUTES[unit] < SHORTEST_MIN:
        raise ValueError(f"'{text}' is too often | {SHORTEST_MIN} minutes is the shortest: steps would queue")
    return text


def _cron(text: str, minute: str, hour: str, day: str, month: str, weekday: str, year: str) -> str:
    """The service checks the fields; here what it would do, but nobody means, and what it refuses most often."""
    if not all(FIELD.match(one) for one in (minute, hour, day, month, weekday, year)):
        raise ValueError(f"'{text}' is no schedule | {FORMS}")
    if (day == "?") == (weekday == "?"):
        raise ValueError(f"'{text}' must name the day of the month or of the week | write ? for the other one")
    if not re.fullmatch(r"[0-5]?[0-9](,[0-5]?[0-9]){0,3}", minute):
        raise ValueError(f"'{text}' is too often | write one to four minutes as numbers, such as 0 or 0,30")
    return text


Schedule = Annotated[StrictStr, AfterValidator(_expression)]
