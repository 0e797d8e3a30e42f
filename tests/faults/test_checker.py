"""Negative controls (step i): a sound lake passes, and each thing that can be wrong is found. No service is started."""

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import machine
from lake.config.environment import PROJECT
from tests.faults import checker, marker, report, trial, workload
from tests.faults.evidence import Evidence, File, Logged, Version, witnessed
from tests.faults.onlooker import Read
from tests.faults.source import ACCOUNT, BARE, GONE, Table
from tests.faults.workload import Sequel
from tests.integration import readers

PLACEHOLDER = "lake\0unavailable"
HEX = PLACEHOLDER.encode().hex()
Damage = Callable[[Evidence], Any]


def version(number: int, token: int, deleted: bool = False) -> Version:
    return Version((str(number),), deleted, {"id": str(number), "version": str(token), "note": f"n{token}"})


def sound(table: Table = ACCOUNT) -> Evidence:
    """Row 1 was changed twice, row 2 deleted, row 3 deleted and inserted again; event 1 was delivered twice."""
    audit = [
        version(1, 10),
        version(2, 20),
        version(1, 11),
        version(3, 30),
        version(3, 30, deleted=True),
        version(2, 20, deleted=True),
        version(3, 31),
        version(1, 12),
    ]
    topic = [*audit[:3], *audit[1:]]
    live = [version(1, 12), version(3, 31)]
    gone = Version(("2",), True, {"id": "2"} if table.hard or table.partial_deletes else version(2, 20).row)
    source = {row.key: row.row for row in live}
    archive = [File("t+0+0000000000.avro", 0, [0, 1, 2, 3]), File("t+0+0000000004.avro", 4, [4, 5, 6, 7, 8, 9])]
    lake = {kind: deepcopy([*live, gone]) for kind in ("cow", "mor")}
    observed = {kind: [version(1, 10), version(3, 30)] for kind in lake}
    return Evidence(
        table, source, audit, topic, archive, lake, deepcopy(lake["mor"]), observed, dict.fromkeys(lake, 10)
    )


def swap_in_topic(found: Evidence) -> None:
    """Two events of one key, in every delivery."""
    first, second = version(1, 11), version(1, 12)
    found.topic = [second if one == first else first if one == second else one for one in found.topic]


def never_came(found: Evidence, *lost: Version) -> None:
    found.topic = [one for one in found.topic if one not in lost]


def flip(rows: list[Version], place: int) -> None:
    rows[place] = rows[place]._replace(deleted=not rows[place].deleted)


def change(rows: list[Version], **values: str) -> None:
    rows[0] = rows[0]._replace(row={**rows[0].row, **values})


DAMAGES: dict[str, tuple[str, Damage]] = {
    "a value differs": ("b", lambda found: change(found.lake["cow"], note="other")),
    "a value is NULL": ("b", lambda found: found.lake["mor"][0].row.pop("note")),
    "a row is missing": ("b", lambda found: found.lake["cow"].pop(0)),
    "a row too many": ("b", lambda found: found.lake["mor"].append(version(9, 90))),
    "an older version": ("b", lambda found: change(found.lake["mor"], version="11", note="n11")),
    "the read-optimised view is behind": ("b", lambda found: change(found.optimised or [], note="other")),
    "a key in two rows": ("c", lambda found: found.lake["mor"].append(found.lake["mor"][0])),
    "a deleted row is gone": ("d", lambda found: found.lake["cow"].pop(2)),
    "a deleted row lost its data": ("d", lambda found: found.lake["cow"][2].row.pop("note")),
    "a deleted row lives": ("d", lambda found: flip(found.lake["cow"], 2)),
    "a live row is deleted": ("d", lambda found: flip(found.lake["mor"], 0)),
    "an offset is not archived": ("e", lambda found: found.archive[1].offsets.remove(6)),
    "a file of the archive is missing": ("e", lambda found: found.archive.pop(0)),
    "an offset is archived twice": ("e", lambda found: found.archive.append(File("t+0+0000000003.avro", 3, [3]))),
    "a file has a wrong name": ("e", lambda found: found.archive[1].offsets.pop(0)),
    "a table did not consume all": ("e", lambda found: found.consumed.update(cow=9)),
    "an event never came": ("e order", lambda found: never_came(found, version(1, 11))),
    "the first events of a key never came": (
        "e order",
        lambda found: never_came(found, version(3, 30), version(3, 30, True), version(3, 31)),
    ),
    "the first event of a key never came": ("e order", lambda found: never_came(found, version(1, 10))),
    "a key that is gone never came": (
        "e order",
        lambda found: never_came(found, version(2, 20), version(2, 20, deleted=True)),
    ),
    "two events are swapped": ("e order", swap_in_topic),
    "an event of a transaction that was rolled back": ("e order", lambda found: found.topic.insert(5, version(1, 99))),
    "the lake showed what was never committed": ("f", lambda found: found.observed["cow"].append(version(1, 99))),
    "the lake showed a deletion that never was": (
        "f",
        lambda found: found.observed["mor"].append(version(1, 12, True)),
    ),
    "a placeholder": ("g", lambda found: change(found.lake["cow"], note=PLACEHOLDER)),
    "a placeholder in bytes": ("g", lambda found: change(found.lake["cow"], note="\\x" + HEX)),
    "the audit missed a version": ("audit", lambda found: found.audit.pop()),
    "the audit's order is doubtful": ("audit", lambda found: found.doubts.append("one behind another")),
}


@pytest.mark.parametrize("table", [ACCOUNT, GONE, BARE], ids=lambda table: table.name)
def test_a_sound_lake_passes(table: Table) -> None:
    assert checker.check({table.name: sound(table)}) == []


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_by_its_step(name: str) -> None:
    step, damage = DAMAGES[name]
    found = deepcopy(sound())
    damage(found)
    letters = {line.rsplit(f" {ACCOUNT.name}: ", 1)[0] for line in checker.check({ACCOUNT.name: found})}
    assert step in letters


def test_an_order_that_is_not_that_of_the_commits_is_doubted() -> None:
    first, second = Logged(version(1, 10), 1, "700", 1), Logged(version(1, 11), 2, "701", 2)
    other = Logged(version(2, 20), 3, "702", 1)
    doubts: list[str] = []
    assert list(witnessed([other, first, second], doubts)) == [version(2, 20), version(1, 10), version(1, 11)]
    assert doubts == []
    list(witnessed([second, first._replace(place=3)], doubts))
    list(witnessed([first, second._replace(place=None)], doubts))
    assert doubts == [
        "('1',): version 1 of transaction 700 at place 3, behind version 2 of transaction 701 at place 2",
        "('1',): version 2 of transaction 701 at place None, behind version 1 of transaction 700 at place 1",
    ]


def test_each_step_has_a_control() -> None:
    assert {step for step, _ in DAMAGES.values()} == set(checker.STEPS)


def test_a_snapshot_that_begins_anew() -> None:
    """It may pass over versions and be followed by older ones, but not by none of a row that it did not find."""
    found, again = sound(), version(1, 12)._replace(read=True)
    found.topic = [
        version(1, 10)._replace(read=True),
        *found.audit[1:2],
        *found.audit[3:7],
        again,
        version(1, 11),
        again,
    ]
    found.archive[1].offsets.remove(9)
    found.consumed.update(cow=9, mor=9)
    assert checker.check({ACCOUNT.name: found}) == []
    found.topic.remove(version(2, 20, deleted=True))
    assert any(
        line.startswith("e order account: topic: ('2',) lacks 1") for line in checker.check({ACCOUNT.name: found})
    )


def test_deletes_that_bring_the_key_alone_are_alike() -> None:
    found = sound(BARE)
    found.audit = [version(3, 29), version(3, 29, deleted=True), *found.audit]
    bare = Version(("3",), True, {"id": "3", "version": "0"})
    found.topic = [version(3, 29), bare, *[bare if one == version(3, 30, True) else one for one in found.topic]]
    found.archive.append(File("t+0+0000000010.avro", 10, [10, 11]))
    found.consumed.update(cow=12, mor=12)
    assert checker.check({BARE.name: found}) == []


def test_an_event_may_lack_what_the_lake_may_not() -> None:
    """A large value that did not change, under identity DEFAULT."""
    found = sound(BARE)
    last = version(1, 12)
    last.row["t"] = "large"
    found.audit[-1], found.source[last.key] = last, last.row
    found.topic[-1] = last._replace(row={**last.row, "t": PLACEHOLDER})
    for rows in (*found.lake.values(), found.optimised or []):
        rows[0] = deepcopy(last)
    assert checker.check({BARE.name: found}) == []
    found.lake["mor"][0].row["t"] = PLACEHOLDER
    lines = checker.check({BARE.name: found})
    assert {"b", "f", "g"} == {line.split()[0] for line in lines}


def test_data_of_a_hard_delete_that_stay_are_found() -> None:
    found = sound(GONE)
    found.lake["mor"][2] = version(2, 20, deleted=True)
    assert any(line.startswith("d gone: mor") for line in checker.check({"gone": found}))


def test_a_seed_repeats_the_statements() -> None:
    def some(seed: str) -> list[Any]:
        sequel = Sequel(seed)
        return [sequel.transaction() for _ in range(200)]

    assert some("1.0") == some("1.0") != some("1.1")


def test_too_little_traffic_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "WRITTEN_WITHIN_S", 0.2)
    monkeypatch.setattr(trial.evidence, "committed", lambda home, database: 999)
    rig: Any = SimpleNamespace(home=None)
    trial.await_versions(rig, "shop", 999)
    with pytest.raises(trial.Void):
        trial.await_versions(rig, "shop", 1000)


def test_the_table_shows_verdicts() -> None:
    entry = trial.Entry("1", "kill -9", "streaming", 7, ["SIGKILL connect"], 1234, 12.3, 56.7, verdict="void")
    assert report.plain([entry]).splitlines()[1].split() == [
        *("1", "kill", "-9", "streaming", "7", "SIGKILL", "connect", "1234", "12", "s", "57", "s", "void")
    ]
    assert "0 of 1 trials passed" in report.markdown([entry])


def test_the_table_shows_how_slow_the_machine_was() -> None:
    quick, slow = (trial.Entry("1", "kill -9", "streaming", 7, recovered_s=96, slower=slower) for slower in (1.0, 2.6))
    assert "| 96 s |" in report.markdown([quick])
    assert "| 96 s (machine 2.6 times slower) |" in report.markdown([slow])


@pytest.mark.parametrize(
    ("loop_s", "slower", "after_s", "told"),
    [(0.05, 1, 59, 0), (0.05, 1, 61, 1), (0.15, 1.5, 89, 0), (0.15, 1.5, 91, 1), (0.3, 3, 179, 0), (0.3, 3, 181, 1)],
)
def test_a_slow_machine_has_more_time(
    monkeypatch: pytest.MonkeyPatch, loop_s: float, slower: float, after_s: int, told: int
) -> None:
    """A new row is in the lake at once, so long after the fault."""
    monkeypatch.setattr(machine, "loop_s", lambda runs: loop_s)
    rig: Any = SimpleNamespace(reach=lambda database, every_s: 0.0)
    entry = trial.Entry("1", "kill -9", "streaming", 7, healing=time.monotonic() - after_s)
    wrong = trial._recovery(rig, entry, "shop", 60)
    assert (len(wrong), round(entry.slower or 0, 2), round(entry.recovered_s or 0)) == (told, slower, after_s)


@pytest.mark.parametrize(("loop_s", "within"), [(0.05, "1 s"), (0.2, "2 s")])
def test_a_wait_is_longer_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch, loop_s: float, within: str) -> None:
    monkeypatch.setattr(machine, "loop_s", lambda runs: loop_s)
    began = time.monotonic()
    with pytest.raises(AssertionError, match=f"it is not so within {within}"):
        workload.until(lambda: False, "it is not so", 1.0, 0.01)
    assert time.monotonic() - began >= float(within.removesuffix(" s"))


@pytest.mark.parametrize(("loop_s", "lag_s", "told"), [(0.05, 30, 0), (0.05, 31, 1), (0.3, 89, 0), (0.3, 91, 1)])
def test_a_row_is_fresh_for_longer_on_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch, loop_s: float, lag_s: float, told: int
) -> None:
    """Each new row takes so long; soon it is late."""
    monkeypatch.setattr(machine, "loop_s", lambda runs: loop_s)
    monkeypatch.setattr(trial, "PROBE_S", 0.01)
    rig: Any = SimpleNamespace(reach=lambda database, every_s: lag_s)
    entry = trial.Entry("1", "kill -9", "streaming", 7, healing=time.monotonic())
    assert len(trial._recovery(rig, entry, "shop", 0.1)) == told


def test_a_marker_has_come_once_it_was_in_every_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known by its bytes: not by an older version's, and not by what a broker that is away says."""
    came = [[], [("two", 2**50, "away")], [("one", 2**50, "")], [("one", 2**51, ""), ("two", 2**50 + 1, "")]]
    answers = iter([*came, [("two", 2**50, "")]])
    consumer = SimpleNamespace(assign=list, close=dict, consume=lambda count, timeout: map(_message, next(answers)))
    monkeypatch.setattr(readers, "consumer_of", lambda home, settings: consumer)
    home: Any = SimpleNamespace(kafka="")
    with marker.MarkerWatch(home, {"one": 0, "two": 0}, 2**50) as watch:
        assert [watch.arrived() for _ in came] == [False] * len(came)
        assert watch.arrived()


def _message(came: tuple[str, int, str]) -> SimpleNamespace:
    topic, token, error = came
    value = b"\0\0\0\0\7\2" + marker.encoded(token) + b"\2n"
    return SimpleNamespace(topic=lambda: topic, value=lambda: value, error=lambda: error)


def test_the_page_keeps_the_lines_of_earlier_runs(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    first = [trial.Entry(row, "kill -9", "streaming", 7, verdict="failed", test=f"test_{row}") for row in ("10", "2")]
    report.write(page, first, 0)
    report.write(page, [replace(first[0], verdict="passed")], 86_400)
    lines = [line.split(" | ") for line in page.read_text().splitlines() if "kill -9" in line]
    assert [(line[0], line[8], line[9]) for line in lines] == [
        ("| 2", "failed", "1970-01-01"),
        ("| 10", "passed", "1970-01-02"),
    ]
    assert "1 of 2 trials passed" in page.read_text()


def test_the_page_alone_is_the_memory_of_its_lines(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    odd = trial.Entry("3", "a | b \\ c", "", 7, ["x|y"], verdict="passed", test="test_odd[a|b]")
    report.write(page, [odd, trial.Entry("9", "other", "streaming", 7, verdict="known fault", test="test_9")], 0)
    once = page.read_text()
    report.write(page, [odd], 0)
    assert page.read_text() == once
    assert [path.name for path in tmp_path.iterdir()] == [page.name]


def test_every_line_of_the_page_is_of_a_test_in_the_tree() -> None:
    page = PROJECT / "docs" / "reliability.md"
    lines = [line for line in page.read_text().splitlines() if "tests/faults/" in line and line.startswith("| ")]
    tests = [line.rsplit(" | ", 1)[1].removesuffix(" |").split("[")[0].split("::") for line in lines]
    assert tests
    assert [name for name in tests if f"def {name[1]}(" not in (PROJECT / name[0]).read_text()] == []


def test_a_line_goes_with_its_test(tmp_path: Path) -> None:
    page, names = tmp_path / "reliability.md", ("a.py::kept", "a.py::gone", "b.py::not_collected")
    report.write(page, [trial.Entry("1", name, "streaming", 7, verdict="passed", test=name) for name in names], 0)
    report.forget(page, {"a.py"}, {"a.py::kept", "a.py::new"})
    assert [name for name in names if name in page.read_text()] == ["a.py::kept", "b.py::not_collected"]
    assert "2 of 2 trials passed" in page.read_text()


class Untold:
    """A fault of which the product says nothing."""

    name = "nothing"

    def inject(self, rig: Any) -> None: ...

    def heal(self, rig: Any) -> None: ...

    def seen(self, rig: Any) -> bool:
        return False


def test_a_fault_that_nothing_tells_of_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SEEN_WITHIN_S", 0)
    nowhere: Any = None
    entry = trial.Entry("1", "nothing", "streaming", 7)
    assert trial.hold(nowhere, entry, Untold(), 0) == ["h: nothing told of nothing within 0 s"]


@pytest.mark.parametrize(("code", "wrong"), [(0, []), (1, ["h: lake status is not well again:", "stream is silent"])])
def test_a_lake_that_does_not_get_well_is_named(monkeypatch: pytest.MonkeyPatch, code: int, wrong: list[str]) -> None:
    monkeypatch.setattr(trial, "WELL_WITHIN_S", 0)
    said = SimpleNamespace(returncode=code, stdout="stream is silent")
    rig: Any = SimpleNamespace(lake=SimpleNamespace(run=lambda *arguments, check: said))
    assert trial.well(rig, "again") == wrong


BEFORE, AFTER = [version(1, 10), version(2, 20)], [version(1, 12), version(2, 20, deleted=True), version(3, 31)]


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ([BEFORE, BEFORE, AFTER], ""),
        ([AFTER, BEFORE], "lacks 1 keys, which were there: [('3',)]"),
        ([AFTER, [*BEFORE, version(3, 31)]], "has ('1',) as it never was, or was before"),
        ([[version(1, 13)]], "has ('1',) as it never was, or was before"),
        ([[*BEFORE, version(1, 11)]], "has 1 keys twice"),
    ],
)
def test_what_queries_showed(shown: list[list[Version]], told: str) -> None:
    found = list(checker.reads(sound(), "mor", shown))
    assert any(told in line for line in found) if told else found == [], found


def test_a_read_that_lacks_rows_tells_where_they_were() -> None:
    """By commit and file, with the timeline that it read: what hid them may be gone a second later."""
    first = Read(1.0, 2.0, [], {("1",): "10 a.log", ("2",): "11 a.log", ("3",): "11 a.log"}, (["10"], ["10", "11"]))
    second = Read(3.0, 4.0, [], {("1",): "10 a.log"}, (["10"], ["10", "12"]))
    assert list(first.lost(second)) == []
    (line,) = second.lost(first)
    assert line == "read from 3.000 to 4.000 lacks {'11 a.log': 2}; files: ['10']; after: ['10', '12']"
