"""What a table has stored, by its timeline on S3: read without Spark and without the pipeline's code.

Hudi lists .hoodie/ to know what a query may see: a commit counts from the moment that its last file is there. To look
there costs a hundredth of a query, so it can be done often: the quantiles of 60 queries are too rough to hold
`lake status` against.
"""

import json
import random
import threading
import time
from typing import Any

import boto3

from benchmarks.writer import SteadyWriter
from lake.local.home import Home

COMPLETE = (".commit", ".deltacommit")
OFFSETS = "lake.offsets"  # of the source, in the metadata of each commit that brought messages


class Timeline:
    """The timeline of one table in a bucket; prefix: of the table's folder."""

    def __init__(self, store: Any, bucket: str, prefix: str) -> None:
        self._store, self._bucket, self._folder = store, bucket, f"{prefix}/.hoodie/"
        self._last, self._messages = self._folder, 0

    def messages(self) -> int:
        """How many messages of its topic, which has one partition, are in the table; 0 before the first commit."""
        later = self._store.list_objects_v2(Bucket=self._bucket, Prefix=self._folder, StartAfter=self._last)
        keys = [entry["Key"] for entry in later.get("Contents", []) if entry["Key"].endswith(COMPLETE)]
        for key in sorted(keys, reverse=True):
            offsets = self._metadata(key).get(OFFSETS)  # a compaction has none
            if offsets is not None:
                self._last, self._messages = key, json.loads(offsets)["0"]
                break
        return self._messages

    def _metadata(self, key: str) -> dict[str, str]:
        found = json.load(self._store.get_object(Bucket=self._bucket, Key=key)["Body"])
        return found.get("extraMetadata") or {}


class Stored(threading.Thread):
    """Looks, at moments of a Poisson process, how stale a table is: seconds since the newest change that it has.

    every_s: on average, for each table. `staleness` grows until stop().
    """

    def __init__(self, home: Home, tables: dict[str, str], writers: dict[str, SteadyWriter], every_s: float) -> None:
        super().__init__(daemon=True)
        keys = {"aws_access_key_id": home.secrets.s3_access_key, "aws_secret_access_key": home.secrets.s3_secret_key}
        store = boto3.client("s3", endpoint_url=home.s3, region_name="us-east-1", **keys)
        self._timelines = {name: Timeline(store, home.bucket, prefix) for name, prefix in tables.items()}
        self._writers, self._gap_s = writers, every_s / len(tables)
        self._stopping = threading.Event()
        self.staleness: list[float] = []

    def run(self) -> None:
        while not self._stopping.wait(random.expovariate(1 / self._gap_s)):
            name, asked = random.choice(list(self._timelines)), time.time()
            newest = self._timelines[name].messages() - 1
            self.staleness.append(asked - self._writers[name].committed[newest])

    def stop(self) -> None:
        self._stopping.set()
        self.join()
