"""What the processor time of a JVM was spent for: its threads by name, and its Java threads by their stacks."""

from collections import Counter
from collections.abc import Iterable, Mapping

COMPILERS, COLLECTOR, PYTHON, REST = "compilers", "garbage collector", "Python", "the rest"
# Names of threads, as the kernel cuts them. The serial collector works in the thread of the JVM's own operations.
OF_THREADS = {
    "C1 Compiler": COMPILERS,
    "C2 Compiler": COMPILERS,
    "VM Thread": COLLECTOR,
    "GC ": COLLECTOR,
    "G1 ": COLLECTOR,
    PYTHON: PYTHON,  # as processor_time.py calls the processes of Python
}
# Pieces of the names in a stack, in this order: what is called within a stage belongs to it.
OF_STACKS: dict[str, dict[str, tuple[str, ...]]] = {
    "connect": {
        "convert to Avro": ("io/apicurio/", "org/apache/avro/"),
        "transform": ("lake/connect/", "org/apache/kafka/connect/runtime/Transformation"),
        "send to Kafka": ("org/apache/kafka/clients/producer/",),
        "read and decode the log": ("io/debezium/connector/postgresql/connection/", "org/postgresql/"),
        "make events": ("io/debezium/",),
    },
    "stream": {
        "compaction": ("hudi/table/action/compact/", "HoodieMergeHandle", "RunCompactionActionExecutor"),
        "cleaning and archiving": ("hudi/table/action/clean/", "HoodieTimelineArchiver"),
        "archive": ("lake/stream/DatumFile",),
        "short road: commit": ("lake/hudi/Appender",),
        "short road: decode": ("lake/stream/PlainBatch",),
        "read Kafka": ("lake/stream/Feed", "org/apache/kafka/clients/consumer/"),
        "general road: append in a stage": ("lake/hudi/StageAppend", "lake/hudi/RowRecords"),
        "general road: write Hudi": ("org/apache/hudi/",),
        "general road: Spark": ("org/apache/spark/",),
        "Python's calls": ("py4j/",),
    },
}


def thread_stage(name: str) -> str | None:
    """The stage of a thread of the JVM itself; None of one that runs Java, whose time the stacks divide."""
    return next((stage for start, stage in OF_THREADS.items() if name.startswith(start)), None)


def samples(collapsed: Iterable[str], service: str) -> Counter[str]:
    """Samples by stage. collapsed: lines "frame;frame;frame count", the outermost frame first."""
    found = Counter[str]()
    for line in collapsed:
        stack, _, count = line.rpartition(" ")
        found[_stack_stage(stack, OF_STACKS[service])] += int(count)
    return found


def divided(seconds: float, by: Mapping[str, int]) -> dict[str, float]:
    """The processor seconds of the Java threads, in proportion to their samples."""
    total = sum(by.values())
    return {stage: seconds * count / total for stage, count in by.items()} if total else {REST: seconds}


def _stack_stage(stack: str, stages: Mapping[str, tuple[str, ...]]) -> str:
    return next((stage for stage, pieces in stages.items() if any(one in stack for one in pieces)), REST)
