"""The rules for DAG files, checked without Airflow: the files are parsed, not run.

    python examples/airflow/dag_rules.py [folder]      # exit code 1 if a rule is broken

A file whose name has no prefix is a helper and holds no DAG. Rules after those of a well-known set for teams that share
one Airflow: prefix, tags, description, owner, retries, no mail.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PREFIXES = ("lake__", "lakehouse__")
SHORTEST_DESCRIPTION, SHORTEST_OWNER, MOST_RETRIES = 16, 6, 3
MAIL = re.compile(r"^email|Email|^smtp|\bsmtp|Smtp")
# The key of an account, the number of an account, a password in a URL.
SECRET = re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b|\b\d{12}\b|://[^/\s:@]+:[^/\s:@]+@")


def broken(path: Path) -> list[str]:
    """The rules that a file breaks, each with the reason."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == "DAG"]
    found = [*mails(tree), *secrets(tree)]
    if not path.stem.startswith(PREFIXES):
        return [*found, *(["prefix: a file with a DAG has a name with a prefix"] if calls else [])]
    if len(calls) != 1:
        return [*found, f"prefix: the file has {len(calls)} DAGs instead of one"]
    return [*found, *broken_by_dag(literals(calls[0]), path.stem)]


def broken_by_dag(dag: dict[str, Any], stem: str) -> Iterator[str]:
    """The rules on the arguments of DAG()."""
    defaults = dag.get("default_args") or {}
    owner, retries = defaults.get("owner", ""), defaults.get("retries")
    tags = dag.get("tags") or []
    if dag.get("dag_id") != stem:
        yield f"prefix: dag_id is {dag.get('dag_id')!r} and the file is {stem}.py"
    if not tags or not all(isinstance(tag, str) and tag.strip() for tag in tags):
        yield "tags: write at least one"
    if len((dag.get("description") or "").strip()) < SHORTEST_DESCRIPTION:
        yield f"description: write at least {SHORTEST_DESCRIPTION} characters"
    if len(owner) < SHORTEST_OWNER or owner.lower() == "airflow":
        yield f"owner: write a team into default_args, {SHORTEST_OWNER} characters or more, not airflow"
    if type(retries) is not int or not 0 <= retries <= MOST_RETRIES:
        yield f"retries: write 0 to {MOST_RETRIES} into default_args"
    if dag.get("catchup") is not False or dag.get("max_active_runs") != 1:
        yield "runs: write catchup=False and max_active_runs=1: two runs at once would write the same tables"


def mails(tree: ast.AST) -> Iterator[str]:
    """Mail is for the alarms of the lake, which are subscribed in one place."""
    for node in ast.walk(tree):
        names = [node.arg] if isinstance(node, ast.keyword) else []
        names += [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from (f"mail: {name}" for name in names if isinstance(name, str) and MAIL.search(name))


def secrets(tree: ast.AST) -> Iterator[str]:
    """Settings come from variables and from the Parameter Store."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SECRET.search(node.value):
            yield f"secret: line {node.lineno} names an account, a key or a password"


def literals(call: ast.Call) -> dict[str, Any]:
    """The arguments of a call; None for what is no literal. A dict keeps its literal values."""
    return {one.arg: literal(one.value) for one in call.keywords if one.arg}


def literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {key.value: literal(value) for key, value in pairs if isinstance(key, ast.Constant)}
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def main(folder: Path) -> int:
    lines = [f"{path.name}: {rule}" for path in sorted(folder.glob("*.py")) for rule in broken(path)]
    print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "dags"))
