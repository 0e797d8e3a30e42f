"""Makes the connectors of a Kafka Connect cluster equal to the declared ones.

    python3 apply_connectors.py <URL of Connect> <owner> <folder with <name>.json files> <login> [seconds to try]

login: the secret of Connect's operators, JSON from Secrets Manager; it is deleted once it was read.

First Connect itself checks every declared connector. Only when all pass, connectors that are no longer declared are
deleted and those that are new or changed are put. Can be repeated.

Each connector that is put here carries the setting `lake.owner`. Only connectors that carry this owner are ever
deleted: one that was put by hand, or by another release, stays. A connector with a declared name is
replaced, even if it has another owner.

Exit codes: 0 as declared; 1 Connect did not answer in time, or refused; 2 a declaration or the secret is wrong,
nothing was changed.
"""

import json
import sys
from pathlib import Path

from read_secret import BadSecret, credentials
from reconcile import OWNER, BadDeclaration, Connect, Refused, Settings, check, reconcile

SECONDS_TO_TRY = 210.0


def main(arguments: list[str]) -> int:
    url, owner, folder = arguments[0].rstrip("/"), arguments[1], Path(arguments[2])
    seconds = float(arguments[4]) if len(arguments) > 4 else SECONDS_TO_TRY
    try:
        operator = login(Path(arguments[3]))
        connect = Connect(url, seconds, lambda: operator)
        wanted = declared(folder, owner)
        check(connect, wanted)
        reconcile(connect, wanted, print, owner)
    except (BadDeclaration, BadSecret) as problem:
        print(f"nothing was changed:\n{problem}", file=sys.stderr)
        return 2
    except Refused as refusal:
        print(f"Kafka Connect: {refusal}", file=sys.stderr)
        return 1
    return 0


def login(path: Path) -> tuple[str, str]:
    """User and password of Connect's operators. BadSecret if the secret has none."""
    with credentials(path, "Connect") as found:
        return found


def declared(folder: Path, owner: str) -> dict[str, Settings]:
    """The settings of every file of the folder by its name, each with the owner. BadDeclaration lists all mistakes."""
    problems: list[str] = []
    wanted: dict[str, Settings] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            wanted[path.stem] = {**parsed(path), "name": path.stem, OWNER: owner}
        except ValueError as problem:
            problems.append(f"{path.name}: {problem}")
    if problems:
        raise BadDeclaration(problems)
    return wanted


def parsed(path: Path) -> Settings:
    """The settings of one file. ValueError says what is wrong with them."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(settings, dict) or not all(isinstance(text, str) for text in settings.values()):
        raise ValueError("expected one JSON object whose values are all texts")
    if "connector.class" not in settings:
        raise ValueError("it has no 'connector.class'")
    if settings.get("name", path.stem) != path.stem:
        raise ValueError(f"it is named '{settings['name']}'; a connector is named as its file")
    return settings


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
