"""A commit in one stage on executors of their own, of which one is killed while it writes.

python -m tests.integration.stage_on_executors FOLDER prints what came of it as JSON.
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import SparkSession

from lake.config.environment import load_environment
from lake.config.errors import LakeError
from lake.config.waiting import wait_until
from lake.local.spark_submit import JVM_OPTIONS
from lake.rendering.spark import SESSION
from spark_jobs.hudi import timeline
from tests.faults.executors import MASTER, Executors, settings
from tests.spark.appended import Turns

COLUMNS = "id int, name string, __deleted string, _order bigint"
ROWS, BUCKETS = 400_000, 2
NOTHING_WRITTEN = LakeError("no executor", "of the stage", "has begun a file")


def main(folder: Path) -> dict[str, Any]:
    """The new rows, the log files that are there, and those of the commit."""
    spark = session()
    turns = Turns(spark, folder, COLUMNS, buckets=BUCKETS)
    turns.general([(id, "old", "false", 1) for id in range(100)])
    rows = spark.range(ROWS).selectExpr("int(id) id", "concat('new ', id) name", "'false' __deleted", "id + 2 _order")
    killer = threading.Thread(target=kill_a_writer, args=(turns, Executors(psutil.Process(), folder / "no log")))
    killer.start()
    turns.stage(rows)
    killer.join()
    stored = spark.read.format("hudi").load(turns.path)
    return {
        "rows": stored.where("name = concat('new ', id)").select("id").distinct().count(),
        "all": stored.count(),
        "files": sorted(path.name for path in turns.meta.parent.glob(".*.log.*") if not path.name.endswith(".crc")),
        "committed": sorted(written(turns)),
    }


def session() -> SparkSession:
    home = load_environment()
    conf = {
        **SESSION,
        **settings(home),
        "spark.driver.extraClassPath": str(home.spark_build / "spark" / "*"),
        "spark.driver.extraJavaOptions": " ".join(JVM_OPTIONS),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master(MASTER)
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def kill_a_writer(turns: Turns, executors: Executors) -> None:
    """kill -9, once a file of the commit has begun."""
    wait_until(lambda: any(turns.meta.glob(".temp/*/*.marker.*")), 120, NOTHING_WRITTEN)
    executors.all()[0].kill()


def written(turns: Turns) -> list[str]:
    """The log files of the last commit."""
    instants = list(turns.line.getDeltaCommitTimeline().filterCompletedInstants().getInstants())
    stats = timeline.commit_metadata(turns.line, instants[-1])["partitionToWriteStats"].values()
    return [Path(stat["path"]).name for files in stats for stat in files]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
