"""The Hudi options of one table: written once here, used by every job that writes it."""

from lake.config.definition import Table, TableType
from lake.config.environment import Environment

ORDER = "_order"
KEY = "_key"
PAYLOAD = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
TYPES = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}
BUCKETS = "hoodie.bucket.index.num.buckets"
SYNC = "hoodie.datasource.hive_sync"
MESSAGES = Table(full_name="quarantine.messages", key=("id",), types=("cow",), buckets=1)

# The newest by _order stays, whatever comes later. The default payload ignores the order of what is stored
# (apache/hudi#2756): an old event delivered again would overwrite a newer row. Compaction has a separate option for
# the same class.
STORED_ORDER = {
    "hoodie.datasource.write.precombine.field": ORDER,
    "hoodie.payload.ordering.field": ORDER,
    "hoodie.datasource.write.payload.class": PAYLOAD,
    "hoodie.compaction.payload.class": PAYLOAD,
}
# The file of each key, in Hudi's metadata table.
RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.index.class": "lake.hudi.RecordIndex",  # hudi_index/: Hudi 0.14 doubles rows that move (ADR 7)
    "hoodie.record.index.update.partition.path": "true",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "1",
    "hoodie.metadata.record.index.max.filegroup.count": "16",
}
SMALL_COMMITS = {
    # Few tasks and no servers: a commit of some rows pays for each of them.
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.upsert.shuffle.parallelism": "2",
    "hoodie.bulkinsert.shuffle.parallelism": "2",
    "hoodie.insert.shuffle.parallelism": "2",
    "hoodie.global.index.reconcile.parallelism": "2",
    "hoodie.parquet.small.file.limit": "134217728",
    # Base files without the filter of their keys, which only the index BLOOM reads. Its default size is 430 kB in the
    # footer of each file, which each reader gets twice and each writer fills with 30 hashes per row: a table of 200
    # small files took 40 s to read. Hudi 0.15 can leave it out (HUDI-7278); 0.14 can make it as small as this. It then
    # answers for each key that the file may hold it, which is still true.
    "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.index.bloom.num_entries": "1",
    "hoodie.index.bloom.fpp": "0.5",
}


def hudi_options(
    *, hive_database: str, table: Table, table_type: TableType, environment: Environment
) -> dict[str, str]:
    """All options of one Hudi table, key to value, ready for DataFrameWriter or a properties file."""
    return {
        "hoodie.table.name": table.stored_as,
        "hoodie.datasource.write.table.type": TYPES[table_type],
        "hoodie.datasource.write.operation": "upsert",
        **of_table(hive_database, table),
        **STORED_ORDER,
        "hoodie.combine.before.upsert": "true",
        "hoodie.combine.before.insert": "true",
        **_index(table),
        **SMALL_COMMITS,
        # A block of a log file is in memory three times while it is written; the default is 256 MiB.
        "hoodie.logfile.data.block.max.size": str(32 * 1024 * 1024),
        "hoodie.datasource.write.commitmeta.key.prefix": "lake.",
        # Compaction reads all log files of a file slice at once, each through a buffer of this size, which is 16 MiB by
        # default: 75 small log files took 1.2 GB of heap.
        "hoodie.memory.dfs.buffer.max.size": str(256 * 1024),
        # Everything except the commit itself is off here; the table services run in separate threads.
        "hoodie.compact.inline": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.archive.automatic": "false",
        # The writer and the table services of one job complete one commit at a time. Each of them replaces
        # hoodie.properties, through a backup that only one can have; and in a table with a metadata table each rolls
        # back what another one has begun there. The commit of a compaction failed because of that.
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        **retention(environment.silver.history_commits),  # at least: spark_jobs/hudi/retention.py
        **catalogue(environment.metastore),
    }


def of_table(hive_database: str, table: Table) -> dict[str, str]:
    """The field that Hudi knows a row by, the partition column if there is one, and the table's name in the catalog."""
    partition = ",".join(table.stored_partition)
    kind = ("Nonpartitioned", "Simple", "Complex")[min(len(table.partition), 2)]
    extractor = "MultiPartKeysValue" if partition else "NonPartitioned"
    return {
        # Hudi joins the values of a composite key with ',' and ':' unescaped, so ('a,k2:b','c') and ('a','b,k2:c')
        # would be one row. The job writes an unambiguous text of all key columns to _key instead.
        "hoodie.datasource.write.recordkey.field": table.stored_key[0] if len(table.stored_key) == 1 else KEY,
        "hoodie.datasource.write.partitionpath.field": partition,
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{kind}KeyGenerator",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.partitionpath.urlencode": "true",  # '/' in a value would nest folders
        f"{SYNC}.partition_fields": partition,
        f"{SYNC}.partition_extractor_class": f"org.apache.hudi.hive.{extractor}Extractor",
        f"{SYNC}.database": hive_database,
        f"{SYNC}.table": table.stored_as,
    }


def _index(table: Table) -> dict[str, str]:
    # A bucket index finds the file by hash, without reading: the fastest small commits. It is not global, so a
    # row that moves to another partition would stay in the old one too: partitioned tables have a record index,
    # which lives in Hudi's metadata table and costs a third of reading all keys in each commit (ADR 7).
    if table.partition:
        return RECORD_INDEX
    return {"hoodie.index.type": "BUCKET", BUCKETS: str(table.buckets), "hoodie.metadata.enable": "false"}


def retention(commits: int) -> dict[str, str]:
    """For how many commits back a table can be read as it was."""
    # Each commit lists the timeline several times, so its length is paid for in every commit (docs/measured.md).
    # Archived commits can't be read any more, so archiving starts after the commits that are kept (F33).
    return {
        "hoodie.cleaner.policy": "KEEP_LATEST_COMMITS",
        "hoodie.cleaner.commits.retained": str(commits),
        "hoodie.keep.min.commits": str(commits + 10),
        "hoodie.keep.max.commits": str(commits + 30),
        # In parallel, a newer commit can leave the timeline before an older one, and for readers and writers it has
        # then never been (HUDI-7207, fixed in 0.15): they do not see the files that it wrote.
        "hoodie.archive.delete.parallelism": "1",
    }


def catalogue(metastore: str) -> dict[str, str]:
    """Sync through the metastore's own interface. metastore: '' where Spark's settings name it."""
    return {
        "hoodie.meta.sync.client.tool.class": "org.apache.hudi.hive.HiveSyncTool",
        f"{SYNC}.mode": "hms",
        **({f"{SYNC}.metastore.uris": metastore} if metastore else {}),
        f"{SYNC}.support_timestamp": "true",
        f"{SYNC}.sync_as_datasource": "true",
    }
