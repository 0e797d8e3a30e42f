"""Serves requests of operators, who cannot reach Kafka Connect: reads files of requests, writes files of answers.

    python3 answer_requests.py <URL of Connect> <owner> <folder with <name>.json declarations> <folder of requests>
        <folder of answers> <login> [seconds to try]

The files are those of the control channel (lake/clients/control.py). A request is
{"id", "verb": one of VERBS, "arguments": {"names": [connectors]}}; no names are all. It names declared connectors and
contains no settings: `apply` puts the declarations of this release. Its answer, a file of the same name, is
{"id", "code", "result"}: code 0 with the result of the verb; 1 Connect failed or refused, 2 the request is wrong, both
with {"error": why}. A request older than EXPIRES_S gets no answer: its sender no longer waits, and does not
expect a change now.

login: the secret of Connect's operators, JSON from Secrets Manager; it is deleted once it was read.

Exit code 0: every request that is not too old has its answer. A wrong secret ends the program.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from apply_connectors import declared, login
from reconcile import VERBS, BadDeclaration, Connect, Refused, Settings, check

EXPIRES_S = 300.0
SECONDS_TO_TRY = 60.0
FAILED, WRONG = 1, 2
Declared = dict[str, Settings]


class BadRequest(Exception):
    """The request is wrong."""


def main(arguments: list[str]) -> int:
    url, owner = arguments[0].rstrip("/"), arguments[1]
    declarations, requests, answers = (Path(folder) for folder in arguments[2:5])
    seconds = float(arguments[6]) if len(arguments) > 6 else SECONDS_TO_TRY
    operator = login(Path(arguments[5]))
    connect = Connect(url, seconds, lambda: operator)
    for path in sorted(requests.glob("*.json")):
        # The AWS CLI gives a file the time of its object.
        if time.time() - path.stat().st_mtime > EXPIRES_S:
            print(f"{path.name}: too old")
            continue
        code, result = served(connect, declarations, owner, path)
        answer = {"id": path.stem, "code": code, "result": result}
        (answers / path.name).write_text(json.dumps(answer), encoding="utf-8")
        print(f"{path.name}: {result['error'] if code else 'done'}")
    return 0


def served(connect: Connect, declarations: Path, owner: str, path: Path) -> tuple[int, dict[str, Any]]:
    """The code and the result of one request."""
    try:
        known = declared(declarations, owner)
        verb, names = parsed(path, known)
        wanted = {name: known[name] for name in names}
        if verb == "apply":
            check(connect, wanted)
        return 0, VERBS[verb](connect, wanted)
    except (BadRequest, BadDeclaration) as problem:
        return WRONG, {"error": str(problem).strip()}
    except Refused as refusal:
        return FAILED, {"error": str(refusal)}


def parsed(path: Path, wanted: Declared) -> tuple[str, list[str]]:
    """The verb and the names of a request. BadRequest unless all of them are known."""
    try:
        request = json.loads(path.read_text(encoding="utf-8"))
        verb, names = request["verb"], request["arguments"]["names"] or sorted(wanted)
    except (ValueError, KeyError, TypeError):
        raise BadRequest('expected {"verb": ..., "arguments": {"names": [...]}}') from None
    if verb not in VERBS:
        raise BadRequest(f"there is no verb '{verb}'; there are: {', '.join(VERBS)}")
    unknown = [str(name) for name in names if name not in wanted]
    if unknown:
        raise BadRequest(f"no connector '{unknown[0]}' is deployed; there are: {', '.join(sorted(wanted)) or 'none'}")
    return verb, names


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
