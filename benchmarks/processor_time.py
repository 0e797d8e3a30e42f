"""Where the processor time of a million changes goes: Connect and the streaming job, by stage.

The run is that of `throughput`. JFR, which each JDK has, takes samples of the stacks of both JVMs; the kernel counts
the time of each thread. Threads of the JVM itself (compilers, collector) are stages of their own. The time of the
others is divided by the samples. JFR takes no sample in native code, so what waits in the kernel is spread over them.
"""

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from rich.table import Table

from benchmarks import stages, throughput
from benchmarks.bench_lake import BenchLake, bench_lake, console
from lake.config.environment import PROJECT

CONVERTER = PROJECT / "build" / "profile"
FOLDER = PROJECT / "build" / "flame_graphs"
SERVICES = tuple(stages.OF_STACKS)
NO_WAITS = "jdk.NativeMethodSample#enabled=false"  # most native code waits for a socket
TICKS = 100  # of a second, in /proc/PID/task/TID/stat
Seconds = dict[str, float]  # of a processor, by name of thread


def measure() -> dict[str, Any]:
    """Processor seconds per million changes by service and stage, and the paths of the flame graphs."""
    with bench_lake() as lake:
        throughput.prepare(lake)
        pids = _pids(lake)
        with _recorded(pids), _spent(pids) as spent:
            figures = throughput.run(lake, "orders", throughput.CHANGES)
        parity = lake.json("verify")["equal"]
    millions = throughput.CHANGES / 1e6
    found = {name: _by_stage(name, spent[name], millions) for name in SERVICES}
    console.print(*map(_table, found.items()), sep="\n")
    graphs = [str(_graph(name, "html").relative_to(PROJECT)) for name in SERVICES]
    return {"per_s": figures["per_s"], "stages_s": found, "flame_graphs": graphs, "parity": parity, "met": parity}


def _pids(lake: BenchLake) -> dict[str, int]:
    services = {one["name"]: one["pid"] for one in lake.json("status")["services"]}
    return {name: services[name] for name in SERVICES}


@contextmanager
def _recorded(pids: dict[str, int]) -> Iterator[None]:
    """Records both JVMs as long as the block runs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for pid in pids.values():
        _jcmd(pid, "JFR.start", "name=profile", "settings=profile", NO_WAITS)
    yield
    for name, pid in pids.items():
        _jcmd(pid, "JFR.stop", "name=profile", f"filename={_recording(name)}")


def _jcmd(pid: int, *command: str) -> None:
    jcmd = shutil.which("jcmd") or "jcmd"
    subprocess.run((jcmd, str(pid), *command), check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _spent(pids: dict[str, int]) -> Iterator[dict[str, Seconds]]:
    """Fills in what each service spent in the block."""
    before = {name: _threads(pid) for name, pid in pids.items()}
    found: dict[str, Seconds] = {}
    yield found
    for name, pid in pids.items():
        found[name] = {thread: seconds - before[name].get(thread, 0.0) for thread, seconds in _threads(pid).items()}


def _threads(pid: int) -> Seconds:
    """So far. Threads that have ended have no name; the processes of Python are one thread."""
    process, found = psutil.Process(pid), defaultdict[str, float](float)
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found[(thread / "comm").read_text().strip()] += _seconds((thread / "stat").read_text())
    found[""] = sum(process.cpu_times()[:2]) - sum(found.values())
    found[stages.PYTHON] = sum(sum(child.cpu_times()[:2]) for child in process.children(recursive=True))
    return found


def _seconds(stat: str) -> float:
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def _by_stage(name: str, spent: Seconds, millions: float) -> Seconds:
    found, java = defaultdict[str, float](float), 0.0
    for thread, seconds in spent.items():
        stage = stages.thread_stage(thread)
        if stage:
            found[stage] += seconds
        else:
            java += seconds
    found.update(stages.divided(java, stages.samples(_collapsed(name), name)))
    return {stage: round(found[stage] / millions, 2) for stage in sorted(found, key=found.__getitem__, reverse=True)}


def _collapsed(name: str) -> list[str]:
    return _graph(name, "collapsed").read_text().splitlines()


def _graph(name: str, form: str) -> Path:
    """The recording in another form, of async-profiler's converter: "html" is a flame graph."""
    made = FOLDER / f"{name}.{form}"
    (converter,) = CONVERTER.glob("jfr-converter-*.jar")
    command = ("java", "-jar", converter, "--norm", "--title", name, "-o", form, _recording(name), made)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def _recording(name: str) -> Path:
    return FOLDER / f"{name}.jfr"


def _table(one: tuple[str, Seconds]) -> Table:
    name, found = one
    table = Table("stage", "processor s per million", title=f"{name}: {sum(found.values()):.1f} s")
    for stage, seconds in found.items():
        table.add_row(stage, f"{seconds:.2f}")
    return table
