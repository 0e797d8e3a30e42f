"""The pages of docs/posts on AWS: a lake with the definitions of the posts, and the commands of the blocks on it."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lake.cli.main import app
from lake.config.definition import load_databases
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.machine import Act, Paper
from tests.emulated_account.operator import RESULT, Jobs, as_operator
from tests.emulated_account.story import HOME, succeeded
from tests.runbooks import WALKS, blocks, pages
from tests.synth.synthesis import changed, described, synthesize

NAME = "dev"
REFINED = {"rows": 999, "path": "s3://silver/refined", "partitions": []}
READ = {"state": "read", "rows": 1, "commits": 1, "seconds": 1.0}
TOPIC = {"topic": "pagila.public.film", "partitions": 1, "messages": 1, "begin": {"0": 0}, "end": {"0": 1}}


@dataclass(frozen=True)
class Command:
    """One command of a page on AWS, and how it ended."""

    page: str
    text: str
    code: int
    printed: str


@dataclass(frozen=True)
class Walked:
    """What was seen: each command, and the arguments of the steps that they left, by name, the newest last."""

    commands: list[Command]
    steps: dict[str, list[str]]
    destroyed: Done


def walk(account: Account, folder: Path) -> Walked:
    cdk = Cdk(account, HOME)
    succeeded(cdk.bootstrap())
    with as_operator(account), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKE_DATABASES_DIR", str(ROOT / "posts/databases"))
        lake = synthesize(NAME, described(folder, changed(NAME, {}))).folder
        steps: dict[str, list[str]] = {}
        account.emr.machine = Paper({name: noted(name, act, steps) for name, act in acts(account).items()})
        succeeded(cdk.deploy(lake))
        commands = [played(page, words) for page in pages(WALKS) for words in on_aws(page)]
        return Walked(commands, steps, cdk.destroy(lake))


def on_aws(page: Path) -> list[list[str]]:
    """The words of each `lake` command of the blocks that are not run here; those of other tools need no lake."""
    found = [words for block in blocks(page) if not block.here for words in block.commands]
    return [[NAME if word == "E" else word for word in words[1:]] for words in found if words[0] == "lake"]


def played(page: Path, words: list[str]) -> Command:
    done = CliRunner().invoke(app, words)
    return Command(page.stem, " ".join(words), done.exit_code, f"{done.output}{done.exception or ''}")


def acts(account: Account) -> dict[str, Act]:
    """What the steps would leave on S3, by their names."""
    said = Jobs(account)
    return {
        "stream": said.reporting(tables()),
        "verify": said.result(RESULT),
        "topics": said.result({"topics": [TOPIC]}),
        "refine": said.result(REFINED),
        "streamer-once": said.result({"tables": {"moma_cow_streamer.artists": READ}}),
        "sales-seed": said.result({"sent": 250}),
        "sales-incremental": said.result({"sent": 1800}),
        "sales-results": said.result({"orders": 2050, "rows": [{"country": "China", "sales": "1379.05"}]}),
        "sales-totals": said.streamer,
    }


def tables() -> list[str]:
    """The tables of the posts, as the streaming job names them."""
    return [
        f"{one.database}_{kind}.{table.stored_as}"
        for one in load_databases(ROOT)
        for table in one.tables
        for kind in table.types
    ]


def noted(name: str, act: Act, steps: dict[str, list[str]]) -> Act:
    """The same, with its arguments kept."""

    def begin(arguments: list[str]) -> str:
        steps[name] = arguments
        return act(arguments)

    return begin
