"""Makes the connectors of a Kafka Connect cluster equal to the declared ones, over Connect's REST interface.

The command line uses this file, and the chart of Kafka Connect carries it: it needs Python's standard library only.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from http.client import HTTPException
from typing import Any

# Each connector put by the chart carries this setting. Connect keeps it with the others, and every plug-in ignores it.
OWNER = "lake.owner"
NOT_FOUND = 404
# Connectors refer to their secrets. One that was put by hand may not: its value is never shown.
SECRETS = ("password", "secret", "token", "credential", "jaas")
HIDDEN = "(hidden: it is not a reference)"

Settings = dict[str, str]
Login = tuple[str, str]  # user and password
Declared = Mapping[str, Settings]  # by the connector's name
Say = Callable[[str], None]


class BadDeclaration(Exception):
    """The declared connectors cannot be right. `problems` lists all that is wrong; nothing was changed."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(f"  {problem}" for problem in problems))
        self.problems = problems


class Refused(Exception):
    """Connect refused a call, or did not answer in time. status: HTTP's, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def basic(login: Login) -> dict[str, str]:
    """The header of HTTP's basic authentication."""
    return {"Authorization": f"Basic {base64.b64encode(':'.join(login).encode()).decode()}"}


class Connect:
    """The REST interface. While the cluster starts or rebalances, calls are repeated until the deadline."""

    # Rebalancing, starting, or (0) no answer at all. Every call made here can be sent twice.
    try_again = frozenset({409, 500, 502, 503, 504, 0})
    seconds_between = 2.0
    seconds_per_call = 100.0  # Connect itself gives up after 90 s

    def __init__(self, url: str, seconds_to_try: float, login: Callable[[], Login]) -> None:
        self.url = url
        self._login = login
        self._deadline = time.monotonic() + seconds_to_try
        # Connect is near: no proxy of the environment leads there.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def deadline(self) -> float:
        """The time (monotonic) after which a call is not sent again."""
        return self._deadline

    def call(self, method: str, path: str, settings: Settings | None = None, unless: int = 0) -> Any:
        """The parsed answer. None without one, or if Connect refuses with the status `unless`."""
        deadline = self.deadline()
        while True:
            try:
                return self._once(method, path, settings)
            except urllib.error.HTTPError as error:
                reason, status = f"{error.code} {_message(error)}", error.code
            except (OSError, HTTPException, ValueError) as error:
                reason, status = str(error), 0
            if status and status == unless:
                return None
            if status not in self.try_again or time.monotonic() + self.seconds_between > deadline:
                raise Refused(f"{method} {self.url}{path}: {reason}", status)
            time.sleep(self.seconds_between)

    def _once(self, method: str, path: str, settings: Settings | None) -> Any:
        body = None if settings is None else json.dumps(settings).encode()
        headers = {"Content-Type": "application/json", **basic(self._login())}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with self._opener.open(request, timeout=self.seconds_per_call) as answer:
            return json.loads(answer.read() or b"null")

    def plugins(self) -> set[str]:
        """The classes of all plug-ins."""
        return {plugin["class"] for plugin in _expect(list, self.call("GET", "/connector-plugins"))}

    def running(self) -> dict[str, Settings]:
        """The settings of all connectors."""
        found = _expect(dict, self.call("GET", "/connectors?expand=info"))
        return {name: _expect(dict, _expect(dict, about)["info"])["config"] for name, about in found.items()}

    def problems(self, settings: Settings) -> list[str]:
        """The mistakes that Connect and the plug-in find in these settings."""
        path = f"/connector-plugins/{_quoted(settings['connector.class'])}/config/validate"
        found = _expect(dict, self.call("PUT", path, settings))["configs"]
        values = [config["value"] for config in _expect(list, found)]
        return [f"{value['name']}: {error}" for value in values for error in value["errors"]]

    def status(self, name: str) -> dict[str, Any]:
        """{"connector": {"state": ...}, "tasks": [{"id": 0, "state": ..., "trace": ...}]}.

        {} if there is no such connector, or it was put a moment ago and its worker has not started it.
        """
        found = self.call("GET", f"/connectors/{_quoted(name)}/status", unless=NOT_FOUND)
        return {} if found is None else dict(_expect(dict, found))

    def put(self, settings: Settings) -> None:
        """Creates the connector, or replaces its settings."""
        self.call("PUT", f"/connectors/{_quoted(settings['name'])}/config", settings)

    def delete(self, name: str) -> None:
        """Deletes the connector. An earlier try may have got through without an answer."""
        self.call("DELETE", f"/connectors/{_quoted(name)}", unless=NOT_FOUND)

    def tell(self, name: str, verb: str) -> None:
        """restart (with all tasks), pause, stop (its tasks end) or resume."""
        method, more = ("POST", "?includeTasks=true") if verb == "restart" else ("PUT", "")
        self.call(method, f"/connectors/{_quoted(name)}/{verb}{more}")


# --- The reconciler.


def check(connect: Connect, wanted: Declared) -> None:
    """Lets Connect check all declared connectors. BadDeclaration lists all problems of all of them."""
    plugins = connect.plugins()
    problems = []
    for name, settings in wanted.items():
        if settings["connector.class"] in plugins:
            problems += [f"{name}: {problem}" for problem in connect.problems(settings)]
        else:
            known = ", ".join(sorted(plugins))
            problems.append(f"{name}: no plug-in has the class {settings['connector.class']}; there are: {known}")
    if problems:
        raise BadDeclaration(problems)


def reconcile(connect: Connect, wanted: Declared, say: Say, owner: str = "") -> dict[str, Settings]:
    """Puts the connectors that differ. With an owner, first deletes its connectors that are not declared any more.

    Call check() first. Returns the earlier settings of all connectors. A connector with a declared name is
    replaced, also that of another owner. Other connectors of other owners stay.
    """
    running = connect.running()
    for name in sorted(name for name, settings in running.items() if owner and settings.get(OWNER) == owner):
        if name not in wanted:
            connect.delete(name)
            say(f"{name}: deleted, it is no longer declared")
    for name, settings in wanted.items():
        if running.get(name) == settings:
            say(f"{name}: as declared")
        else:
            connect.put(settings)
            say(f"{name}: {'changed' if name in running else 'created'}")
    return running


# --- The verbs of an operator.


def _compared(running: Declared, wanted: Declared) -> dict[str, Any]:
    """The running settings (None without a connector) and the declared ones."""
    return {name: {"running": _shown(running.get(name)), "defined": wanted[name]} for name in wanted}


def _shown(running: Settings | None) -> Settings | None:
    if running is None:
        return None
    secret = {key for key in running if any(word in key.lower() for word in SECRETS) and "${" not in running[key]}
    return {key: HIDDEN if key in secret else value for key, value in running.items()}


def _status(connect: Connect, wanted: Declared) -> dict[str, Any]:
    """The status of each connector. A failure is shortened to its root cause."""
    found = {name: connect.status(name) for name in wanted}
    for part in [part for one in found.values() if one for part in (one["connector"], *one["tasks"])]:
        if "trace" in part:
            part["trace"] = root_cause(part["trace"])
    return found


def _tell(verb: str, connect: Connect, wanted: Declared) -> dict[str, Any]:
    for name in wanted:
        connect.tell(name, verb)
    return {name: {} for name in wanted}


VERBS: Mapping[str, Callable[[Connect, Declared], dict[str, Any]]] = {
    "settings": lambda connect, wanted: _compared(connect.running(), wanted),
    # Call check() first.
    "apply": lambda connect, wanted: _compared(reconcile(connect, wanted, lambda line: None), wanted),
    "status": _status,
    **{verb: partial(_tell, verb) for verb in ("restart", "pause", "resume")},
}


def root_cause(trace: str) -> str:
    """The innermost cause of a failure, in one line: outer causes do not give the reason."""
    causes = [line.removeprefix("Caused by: ") for line in trace.splitlines() if line.startswith("Caused by: ")]
    return causes[-1] if causes else trace.partition("\n")[0]


def _message(error: urllib.error.HTTPError) -> str:
    """The message inside Connect's answer, or the whole answer if it is not Connect's."""
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip() or str(error.reason)


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _expect(kind: type, answer: Any) -> Any:
    """The answer, if it is of the type that Connect's has."""
    if isinstance(answer, kind):
        return answer
    wanted = "an object" if kind is dict else "a list"
    raise Refused(f"expected {wanted} in the answer, found {type(answer).__name__}; is the URL Connect's?")
