"""Trials on the shared lake, and the table of what came of them."""

import random
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.faults import report
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, OTHER, TABLES
from tests.faults.trial import Entry, Void
from tests.running_lake import RunningLake

FIXED = 20261121
SHOP = "shop"
FIRST = 100  # rows of each table of a small database
ENTRY = pytest.StashKey[Entry]()
ENTRIES = pytest.StashKey[list[Entry]]()
RIG = pytest.StashKey[Rig]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=FIXED, help="of the workloads; 0 takes a new one")
    parser.addoption("--soak", type=int, default=3600, help="seconds of the soak")
    parser.addoption("--report", type=Path, help="add the table of the run to this Markdown file")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ENTRIES] = []
    config.option.seed = seed(config) or random.SystemRandom().randrange(1, 2**31)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before any is left out: no line stays on the page whose test is gone, or has another name."""
    page = config.getoption("--report", None)
    if page and not any("::" in argument for argument in config.args):
        nodes = {item.nodeid for item in items}
        report.forget(page, {node.split("::")[0] for node in nodes}, nodes)


def pytest_report_header(config: pytest.Config) -> str:
    return f"faults: --seed {seed(config)}"


def seed(config: pytest.Config) -> int:
    return int(config.getoption("--seed", FIXED))


@pytest.fixture
def entry(request: pytest.FixtureRequest) -> Entry:
    """This test's line of the table."""
    found: Entry = request.node.stash[ENTRY]
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """@pytest.mark.matrix(row, fault, phase) says what the line is of."""
    if marker := item.get_closest_marker("matrix"):
        variant = getattr(getattr(item, "callspec", None), "id", "")
        fault = " ".join(filter(None, [marker.args[1], variant]))
        phase = marker.kwargs.get("phase", "streaming")
        item.stash[ENTRY] = Entry(str(marker.args[0]), fault, phase, seed(item.config), test=item.nodeid)
        item.config.stash[ENTRIES].append(item.stash[ENTRY])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """No line of a former run stays: a trial whose preparation or end fails has failed, and one may be skipped.

    One that failed because its lake is gone says nothing, and the run ends with it.
    """
    result = yield
    if (
        call.when != "teardown"
        and result.failed
        and (used := item.config.stash.get(RIG, None))
        and (gone := used.gone())
    ):
        pytest.exit(f"{item.nodeid} had no lake to be tried on: {gone}", returncode=pytest.ExitCode.INTERRUPTED)
    if (made := item.stash.get(ENTRY, None)) and (call.when == "call" or result.outcome != "passed"):
        void = call.excinfo is not None and call.excinfo.errisinstance(Void)
        made.seconds += call.duration
        made.why = call.excinfo.exconly() if call.excinfo else ""
        made.verdict = "void" if void else "known fault" if hasattr(result, "wasxfail") else result.outcome
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A trial that ended is in the file at once: whatever ends the run loses none."""
    result = yield
    path, made = item.config.getoption("--report", None), item.stash.get(ENTRY, None)
    if path and made and made.verdict:
        report.write(path, [made], time.time())
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    entries = [entry for entry in config.stash[ENTRIES] if entry.verdict]
    if not entries:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line(report.plain(entries))


@pytest.fixture(scope="session")
def rig(lake: RunningLake, spark: SparkSession, pytestconfig: pytest.Config) -> Rig:
    """The shared lake, as the trials use it."""
    made = pytestconfig.stash[RIG] = Rig(lake, spark, seed(pytestconfig))
    return made


@pytest.fixture(scope="session")
def shop(rig: Rig) -> str:
    """The database of the streaming phase: captured, and at rest."""
    rig.create(SHOP, TABLES)
    rig.capture(SHOP)
    rig.come_to_rest(SHOP)
    return SHOP


@pytest.fixture
def small(rig: Rig) -> Iterator[str]:
    """A captured database of its own with two tables, at rest: for what can't be undone."""
    with rig.temporary((ACCOUNT, OTHER)) as database:
        _fill(rig, database)
        yield database


@pytest.fixture
def aside(rig: Rig) -> Iterator[str]:
    """The same with tables that set aside what can't be applied, and go on."""
    policy = {"on_bad_message": "quarantine"}
    account, other = (replace(table, settings={**table.settings, **policy}) for table in (ACCOUNT, OTHER))
    with rig.temporary((account, other)) as database:
        _fill(rig, database)
        yield database


def _fill(rig: Rig, database: str) -> None:
    rig.execute(
        database,
        f"INSERT INTO account (id, version, note) SELECT i, i, 'old' FROM generate_series(1, {FIRST}) i",
        f"INSERT INTO other (id, version, n) SELECT i, i, i FROM generate_series(1, {FIRST}) i",
    )
    rig.come_to_rest(database)
