"""Messages to rows and rows to messages: JSON, and Avro in Confluent framing. Both have the same two methods."""

import json
from typing import Any, Dict, List

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from spark_jobs.kafka.messages import schema_id
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.sales.schema import Columns, ddl

OF_MESSAGE = ("timestamp", "offset")  # kept beside the columns of the row


class JsonFormat:
    """Values are JSON objects. columns: those that are read; no others are parsed."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def rows(self, messages: DataFrame) -> DataFrame:
        """The values as rows. A value that is no object with all columns stops the job: it would be a sale less."""
        row = F.from_json(F.col("value").cast("string"), ddl(self._columns), {"mode": "FAILFAST"}).alias("row")
        there = [F.coalesce("row.{}".format(name), _absent(name)).alias(name) for name in self._columns]
        return messages.select(row, *OF_MESSAGE).select(*there, *OF_MESSAGE)

    def messages(self, rows: DataFrame, key: Column) -> DataFrame:
        """key, value."""
        return rows.select(key.cast("string").alias("key"), F.to_json(F.struct(*rows.columns)).alias("value"))


def _absent(name: str) -> Column:
    where = F.concat(F.lit("no {} in the message at offset ".format(name)), F.col("offset").cast("string"))
    return F.raise_error(where)


class AvroFormat:
    """Key and value are Avro, each after the five bytes that name its schema in the registry, as on all topics here."""

    def __init__(self, registry: Registry, topic: str, schemas: Dict[str, Dict[str, Any]]) -> None:
        self._registry, self._topic, self._schemas = registry, topic, schemas

    def rows(self, messages: DataFrame) -> DataFrame:
        """The values as rows of our schema, each decoded with the schema of its writer.

        UnknownSchema if the topic has none yet. A schema that was registered after this call stops the job.
        """
        body, ours = F.expr("substring(value, 6)"), json.dumps(self._schemas["value"])
        writers = self._registry.by_id("{}-value".format(self._topic))
        known = [
            F.when(schema_id() == id, from_avro(body, json.dumps(writer), {"mode": "FAILFAST", "avroSchema": ours}))
            for id, writer in sorted(writers.items())
        ]
        row = F.coalesce(*known, self._refusal())
        return messages.select(row.alias("row"), *OF_MESSAGE).select("row.*", *OF_MESSAGE)

    def messages(self, rows: DataFrame, key: Column) -> DataFrame:
        """key, value. UnknownSchema if the registry does not have our schemas."""
        framed = {"key": key.cast("int"), "value": F.struct(*rows.columns)}
        return rows.select(*(self._framed(kind, column).alias(kind) for kind, column in framed.items()))

    def register(self) -> List[Dict[str, Any]]:
        """Puts our schemas into the registry. Subject and id of each; the same each time."""
        subjects = {"{}-{}".format(self._topic, kind): schema for kind, schema in self._schemas.items()}
        return [{"subject": one, "id": self._registry.register(one, schema)} for one, schema in subjects.items()]

    def _framed(self, kind: str, column: Column) -> Column:
        schema = self._schemas[kind]
        number = self._registry.id_of("{}-{}".format(self._topic, kind), schema)
        frame = F.unhex(F.lit("{:010x}".format(number)))  # a zero, and the id in four bytes
        return F.concat(frame, to_avro(column, json.dumps(schema)))

    def _refusal(self) -> Column:
        """Ends the job at a message of a schema that is not the topic's."""
        reason = F.concat(F.lit("no schema of {} has the id ".format(self._topic)), schema_id().cast("string"))
        return F.raise_error(reason)
