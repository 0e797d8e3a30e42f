"""Does what operators ask of Kafka Connect. They don't reach it: a request comes as a file, and leaves one as answer.

    python3 answer_requests.py <URL of Connect> <owner> <folder with <name>.json declarations> <folder of requests>
        <folder of answers> [seconds to try]

A request is {"verb": one of VERBS, "names": [connectors]}, without names: all. It names declared connectors and brings
no settings: what `apply` puts are the declarations of this release. Its answer, a file of the same name, is
{"answer": what the verb found} or {"error": the reason, "code": 1 Connect failed or refused, 2 the request is wrong}.
A request older than EXPIRES_S gets none: whoever asked has given up, and would not expect anything to happen now.

Exit code 0: every request that is not too old has its answer.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from apply_connectors import BadDeclaration, Connect, Refused, Settings, check, declared, mapping, quoted

EXPIRES_S = 300.0
SECONDS_TO_TRY = 60.0
# Connectors refer to their secrets. One that was put by hand may not: its value stays here.
SECRET = re.compile("password|secret|token|credential|jaas", re.IGNORECASE)
HIDDEN = "(hidden: it is no reference)"
Declared = dict[str, Settings]


class BadRequest(Exception):
    """Raised when a request can't be meant."""


def main(arguments: list[str]) -> int:
    url, owner = arguments[0].rstrip("/"), arguments[1]
    declarations, requests, answers = (Path(folder) for folder in arguments[2:5])
    seconds = float(arguments[5]) if len(arguments) > 5 else SECONDS_TO_TRY
    connect = Connect(url, time.monotonic() + seconds)
    for path in sorted(requests.glob("*.json")):
        # The AWS CLI gives a file the time of its object.
        if time.time() - path.stat().st_mtime > EXPIRES_S:
            print(f"{path.name}: too old")
            continue
        answer = answered(connect, declared(declarations, owner), path)
        (answers / path.name).write_text(json.dumps(answer), encoding="utf-8")
        print(f"{path.name}: {answer.get('error', 'done')}")
    return 0


def answered(connect: Connect, wanted: Declared, path: Path) -> dict[str, object]:
    """The content of the answer to one request."""
    try:
        verb, names = parsed(path, wanted)
        return {"answer": VERBS[verb](connect, {name: wanted[name] for name in names})}
    except (BadRequest, BadDeclaration) as problem:
        return {"error": str(problem).strip(), "code": 2}
    except Refused as refusal:
        return {"error": str(refusal), "code": 1}


def parsed(path: Path, wanted: Declared) -> tuple[str, list[str]]:
    """Verb and names of a request; BadRequest unless all of them are known."""
    try:
        request = json.loads(path.read_text(encoding="utf-8"))
        verb, names = request["verb"], request["names"] or sorted(wanted)
    except (ValueError, KeyError, TypeError):
        raise BadRequest('expected {"verb": ..., "names": [...]}') from None
    if verb not in VERBS:
        raise BadRequest(f"there is no verb '{verb}'; there are: {', '.join(VERBS)}")
    unknown = [str(name) for name in names if name not in wanted]
    if unknown:
        raise BadRequest(f"no connector '{unknown[0]}' is deployed; there are: {', '.join(sorted(wanted)) or 'none'}")
    return verb, names


def settings(connect: Connect, wanted: Declared) -> dict[str, object]:
    """Name -> what runs, None where nothing does, and what is declared."""
    return compared(connect.running(), wanted)


def compared(running: Declared, wanted: Declared) -> dict[str, object]:
    return {name: {"running": shown(running.get(name)), "defined": wanted[name]} for name in wanted}


def shown(running: Settings | None) -> Settings | None:
    """The settings without any secret."""
    if running is None:
        return None
    return {key: HIDDEN if SECRET.search(key) and "${" not in value else value for key, value in running.items()}


def apply(connect: Connect, wanted: Declared) -> dict[str, object]:
    """Puts what differs, once Connect has checked all of it; what there was before."""
    check(connect, wanted)
    running = connect.running()
    for name in wanted:
        if running.get(name) != wanted[name]:
            connect.put(wanted[name])
    return compared(running, wanted)


def status(connect: Connect, wanted: Declared) -> dict[str, object]:
    """Name -> what Connect says of connector and tasks, of a failure its first line only; {} where there is none."""
    return {name: one_status(connect, name) for name in wanted}


def one_status(connect: Connect, name: str) -> object:
    try:
        found = mapping(connect.call("GET", f"/connectors/{quoted(name)}/status"))
    except Refused as refusal:
        if refusal.status != 404:
            raise
        return {}
    for part in (found["connector"], *found["tasks"]):
        if "trace" in part:
            part["trace"] = part["trace"].partition("\n")[0]
    return found


def tell(method: str, words: str, connect: Connect, wanted: Declared) -> dict[str, object]:
    """One call for each."""
    for name in wanted:
        connect.call(method, f"/connectors/{quoted(name)}/{words}")
    return {}


VERBS: dict[str, Callable[[Connect, Declared], dict[str, object]]] = {
    "settings": settings,
    "apply": apply,
    "status": status,
    "restart": partial(tell, "POST", "restart?includeTasks=true"),
    "pause": partial(tell, "PUT", "pause"),
    "resume": partial(tell, "PUT", "resume"),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
