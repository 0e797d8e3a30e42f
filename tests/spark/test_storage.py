"""Small files: a reader finds the old content or the new one, never none and never half."""

import json
import threading
from pathlib import Path

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage

WRITES = 300


def test_a_reader_never_finds_the_file_missing(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    storage.write_text(spark, path.as_uri(), json.dumps({"n": 0}))
    done, seen = threading.Event(), []

    def read() -> None:
        while not done.is_set():
            seen.append(json.loads(path.read_text())["n"] if path.exists() else None)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, WRITES):
        storage.write_text(spark, path.as_uri(), json.dumps({"n": number}))
    done.set()
    reader.join()
    assert None not in seen
    assert seen == sorted(seen)
    assert [file.name for file in tmp_path.iterdir()] == ["status.json"]
