"""The archive of a topic as a table of the catalog, whose columns the definition declares.

Hive and Athena read it by its SerDe, Spark by the properties with which it marks tables of its own. Partitions are
registered when their first file is there. A metastore that does not answer delays the next try, and no file.
"""

import json
import logging
from typing import Any, Dict, Iterable, List, Set
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.types import _parse_datatype_string

from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java, java_map

LOG = logging.getLogger("bronze catalog")
API = "org.apache.hadoop.hive.metastore.api."
CLIENT = "org.apache.hudi.hive.util.IMetaStoreClientUtil"  # Hudi's: it takes Glue's client on EMR
MISSING = "NoSuchObjectException"


class BronzeTable:
    """entry: of the table, in the pipeline file; format: of the files; metastore: its URI, "" if Spark knows it."""

    def __init__(self, spark: SparkSession, entry: Dict[str, Any], format: str, location: str, metastore: str) -> None:
        self._spark = spark
        self._entry = entry
        self._format = format
        self._location = location
        self._metastore = metastore
        self._known: Set[str] = set()
        self.failure = ""

    def show(self, folders: Iterable[str]) -> None:
        """Registers the table, and the partitions of folders ("year=2026/month=11/day=29") that are not known yet."""
        new = sorted(set(folders) - self._known)
        if not new:
            return
        try:
            self._register(new)
            self._known.update(new)
            self.failure = ""
        except Exception as error:  # py4j, whatever the metastore's client throws
            self.failure = root_cause(error)
            LOG.warning("%s: its new partitions are not in the catalog yet: %s", self._entry["table"], self.failure)

    def _register(self, folders: List[str]) -> None:
        client = self._client()
        database, table = self._entry["database"], self._entry["table"]
        # On AWS the stacks make both, and a job may not make a database.
        if _found(lambda: client.getDatabase(database)) is None:
            client.createDatabase(self._database())
        there = _found(lambda: client.getTable(database, table))
        if there is None:
            client.createTable(self._table())
        elif self._has_other_columns(there):
            client.alter_table(database, table, self._table())
        partitions = java(self._spark, "java.util.ArrayList")()
        for folder in folders:
            partitions.add(self._partition(folder))
        client.add_partitions(partitions, True, False)

    def _has_other_columns(self, table: Any) -> bool:
        held = [[one.getName(), one.getType()] for one in table.getSd().getCols()]
        return bool(held != self._entry["columns"])

    def _client(self) -> Any:
        conf = java(self._spark, "org.apache.hadoop.hive.conf.HiveConf")()
        conf.addResource(self._spark._jsc.hadoopConfiguration())
        if self._metastore:
            conf.set("hive.metastore.uris", self._metastore)
        return java(self._spark, CLIENT).getMSC(conf)

    def _database(self) -> Any:
        made = self._api("Database")
        made.setName(self._entry["database"])
        made.setLocationUri(self._location.rpartition("/")[0])
        return made

    def _table(self) -> Any:
        made = self._api("Table")
        made.setDbName(self._entry["database"])
        made.setTableName(self._entry["table"])
        made.setTableType("EXTERNAL_TABLE")
        made.setSd(self._storage(self._location))
        made.setPartitionKeys(self._columns(self._entry["partitions"]))
        made.setParameters(self._map(properties(self._entry, self._format)))
        return made

    def _partition(self, folder: str) -> Any:
        made = self._api("Partition")
        made.setDbName(self._entry["database"])
        made.setTableName(self._entry["table"])
        values = java(self._spark, "java.util.ArrayList")()
        for part in folder.split("/"):
            values.add(unquote(part.partition("=")[2]))
        made.setValues(values)
        made.setSd(self._storage("{}/{}".format(self._location, folder)))
        return made

    def _storage(self, location: str) -> Any:
        made, serde = self._api("StorageDescriptor"), self._api("SerDeInfo")
        serde.setSerializationLib(self._entry["serde"])
        serde.setParameters(self._map({"serialization.format": "1", "path": self._location}))
        made.setSerdeInfo(serde)
        made.setInputFormat(self._entry["input"])
        made.setOutputFormat(self._entry["output"])
        made.setCols(self._columns(self._entry["columns"]))
        made.setLocation(location)
        return made

    def _columns(self, columns: List[List[str]]) -> Any:
        found = java(self._spark, "java.util.ArrayList")()
        for name, kind in columns:
            found.add(java(self._spark, API + "FieldSchema")(name, kind, ""))
        return found

    def _api(self, name: str) -> Any:
        return java(self._spark, API + name)()

    def _map(self, values: Dict[str, str]) -> Any:
        return java_map(self._spark, "java.util.HashMap", values)


def _found(get: Any) -> Any:
    """What the catalog has; None if it has nothing of that name."""
    try:
        return get()
    except Py4JJavaError as error:
        if MISSING not in str(error.java_exception):
            raise
        return None


def properties(entry: Dict[str, Any], format: str) -> Dict[str, str]:
    """The properties of the table: those of Hive's reader, and those by which Spark takes it for a table of its own."""
    columns = entry["columns"] + entry["partitions"]
    schema = _parse_datatype_string(", ".join("`{}` {}".format(name, kind) for name, kind in columns))
    keys = {"spark.sql.sources.schema.partCol.{}".format(n): one[0] for n, one in enumerate(entry["partitions"])}
    hive = {"avro.schema.literal": json.dumps(entry["schema"])} if format == "avro" else {}
    return {
        **hive,
        **keys,
        "EXTERNAL": "TRUE",
        "spark.sql.sources.provider": format,
        "spark.sql.sources.schema": schema.json(),
        "spark.sql.sources.schema.numPartCols": str(len(keys)),
        "spark.sql.partitionProvider": "catalog",
    }
