"""Makes the connectors of a Kafka Connect cluster equal to the declared ones.

    python3 apply_connectors.py <URL of Connect> <owner> <folder with <name>.json files> [seconds to try]

First Connect itself checks every declared connector. Only when all pass, connectors that are no longer declared are
deleted and those that are new or changed are put. Twice is the same as once.

Whose a connector is stands in the connector: each one put here carries the setting `lake.owner`, which Connect keeps
with the others and every plug-in ignores. Only connectors that carry this owner are ever deleted, so that one made by
hand, or by another release, stays. A declared name is taken over, whoever made it.

Exit codes: 0 as declared; 1 Connect did not answer in time, or refused; 2 a declaration is wrong, nothing was changed.
"""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

OWNER = "lake.owner"
SECONDS_TO_TRY = 540.0
SECONDS_BETWEEN = 2.0
# Connect itself gives up after 90 s.
SECONDS_PER_CALL = 100.0
# Rebalancing, starting, or (0) no answer at all; whatever is sent here can be sent again.
TRY_AGAIN = {409, 500, 502, 503, 504, 0}

Settings = dict[str, str]


class BadDeclaration(Exception):
    """Raised when what is declared can't be right; lists everything that is wrong."""


class Refused(Exception):
    """Raised when Connect answers no, or not at all until the time is over; status is HTTP's, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Connect:
    """The REST interface, with patience: a cluster that starts or rebalances is asked again."""

    def __init__(self, url: str, deadline: float) -> None:
        self.url = url
        self.deadline = deadline

    def call(self, method: str, path: str, settings: Settings | None = None) -> object:
        """The answer, parsed; None where there is none. Refused when the time is over or asking again is no use."""
        while True:
            try:
                return self._once(method, path, settings)
            except urllib.error.HTTPError as error:
                reason, status = f"{error.code} {said(error)}", error.code
            except (OSError, HTTPException, ValueError) as error:
                reason, status = str(error), 0
            if status not in TRY_AGAIN or time.monotonic() + SECONDS_BETWEEN > self.deadline:
                raise Refused(f"{method} {self.url}{path}: {reason}", status)
            time.sleep(SECONDS_BETWEEN)

    def _once(self, method: str, path: str, settings: Settings | None) -> object:
        body = None if settings is None else json.dumps(settings).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS_PER_CALL) as answer:
            return json.loads(answer.read() or b"null")

    def plugins(self) -> set[str]:
        return {plugin["class"] for plugin in listed(self.call("GET", "/connector-plugins"))}

    def running(self) -> dict[str, Settings]:
        """Name -> settings of every connector of the cluster."""
        found = mapping(self.call("GET", "/connectors?expand=info"))
        return {name: mapping(mapping(about)["info"])["config"] for name, about in found.items()}

    def problems(self, settings: Settings) -> list[str]:
        """What Connect and the plug-in say against these settings."""
        path = f"/connector-plugins/{quoted(settings['connector.class'])}/config/validate"
        values = [config["value"] for config in listed(mapping(self.call("PUT", path, settings))["configs"])]
        return [f"{value['name']}: {error}" for value in values for error in value["errors"]]

    def put(self, settings: Settings) -> None:
        self.call("PUT", f"/connectors/{quoted(settings['name'])}/config", settings)

    def delete(self, name: str) -> None:
        try:
            self.call("DELETE", f"/connectors/{quoted(name)}")
        except Refused as refusal:
            if refusal.status != 404:  # 404: gone already, an earlier try got through
                raise


def main(arguments: list[str]) -> int:
    url, owner, folder = arguments[0].rstrip("/"), arguments[1], Path(arguments[2])
    seconds = float(arguments[3]) if len(arguments) > 3 else SECONDS_TO_TRY
    try:
        apply(Connect(url, time.monotonic() + seconds), declared(folder, owner), owner, print)
    except BadDeclaration as problem:
        print(f"nothing was changed:\n{problem}", file=sys.stderr)
        return 2
    except Refused as refusal:
        print(f"Kafka Connect: {refusal}", file=sys.stderr)
        return 1
    return 0


def declared(folder: Path, owner: str) -> dict[str, Settings]:
    """Name -> settings of every file of the folder, marked with their owner."""
    problems: list[str] = []
    wanted: dict[str, Settings] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            wanted[path.stem] = {**parsed(path), "name": path.stem, OWNER: owner}
        except ValueError as problem:
            problems.append(f"  {path.name}: {problem}")
    refuse(problems)
    return wanted


def parsed(path: Path) -> Settings:
    """The settings of one file; ValueError says what is wrong with them."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(settings, dict) or not all(isinstance(text, str) for text in settings.values()):
        raise ValueError("expected one JSON object whose values are all texts")
    if "connector.class" not in settings:
        raise ValueError("it has no 'connector.class'")
    if settings.get("name", path.stem) != path.stem:
        raise ValueError(f"it is named '{settings['name']}'; a connector is named as its file")
    return settings


def apply(connect: Connect, wanted: dict[str, Settings], owner: str, say: Callable[[str], None]) -> None:
    """Check everything, then delete what is not declared any more, then put what is new or changed."""
    check(connect, wanted)
    running = connect.running()
    for name in sorted(name for name, settings in running.items() if settings.get(OWNER) == owner):
        if name not in wanted:
            connect.delete(name)
            say(f"{name}: deleted, it is not declared any more")
    for name, settings in wanted.items():
        if running.get(name) == settings:
            say(f"{name}: as declared")
        else:
            connect.put(settings)
            say(f"{name}: {'changed' if name in running else 'created'}")


def check(connect: Connect, wanted: dict[str, Settings]) -> None:
    """BadDeclaration with all that Connect has against any of them."""
    plugins = connect.plugins()
    problems = []
    for name, settings in wanted.items():
        if settings["connector.class"] in plugins:
            problems += [f"  {name}: {problem}" for problem in connect.problems(settings)]
        else:
            there = ", ".join(sorted(plugins))
            problems.append(f"  {name}: no plug-in has the class {settings['connector.class']}; there are: {there}")
    refuse(problems)


def refuse(problems: list[str]) -> None:
    if problems:
        raise BadDeclaration("\n".join(problems))


def said(error: urllib.error.HTTPError) -> str:
    """The message inside Connect's answer, or the whole answer where it is not Connect's."""
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip() or str(error.reason)


def quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def mapping(answer: object) -> dict:
    """The answer as the object it must be; anything else is not Connect."""
    if not isinstance(answer, dict):
        raise Refused(f"expected an object in the answer, found {type(answer).__name__}; is the URL Connect's?")
    return answer


def listed(answer: object) -> list:
    if not isinstance(answer, list):
        raise Refused(f"expected a list in the answer, found {type(answer).__name__}; is the URL Connect's?")
    return answer


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
