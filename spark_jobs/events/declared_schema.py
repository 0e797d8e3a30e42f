"""The schema of a topic without a registry: messages of JSON, and the fields that the definition declares."""

from typing import Any, Dict, List

from spark_jobs.events.flatten import CONTENT, MOVED_FROM, ROW, UNAVAILABLE, WAS
from spark_jobs.events.message_form import ADDED_TYPES, JSON, branch, nullable, record_name
from spark_jobs.kafka.messages import DECLARED_ID
from spark_jobs.kafka.schema_registry import Registry, UnknownSchema
from spark_jobs.runtime.pipeline import Pipeline, Table


class DeclaredSchema(Registry):
    """Answers like a registry that has one schema."""

    def __init__(self, table: Table) -> None:
        super().__init__("")
        self._subject = table.topic + "-value"
        self._schema = declared(table)

    def schema(self, schema_id: int) -> Dict[str, Any]:
        if schema_id != DECLARED_ID:
            raise UnknownSchema("the message is not JSON of {}".format(self._subject))
        return self._schema

    def versions(self, subject: str) -> List[Dict[str, Any]]:
        return [self._schema]

    def require(self, subject: str) -> List[int]:
        return [1]


def schemas_of(pipeline: Pipeline, table: Table) -> Registry:
    """Where the schemas of a table's messages are."""
    return DeclaredSchema(table) if table.is_json else Registry(pipeline.registry)


def declared(table: Table) -> Dict[str, Any]:
    """The declared fields, and those that the connector adds. Each may be missing, as a member of JSON may."""
    fields = {field["name"]: nullable(field["name"], branch(field["type"])) for field in table.avsc["fields"]}
    for name, kind in ADDED_TYPES.items():
        fields.setdefault(name, nullable(name, kind))
    added = [ROW, CONTENT, WAS] if table.is_multiset else [ROW] if table.without_key else []
    fields.update({name: nullable(name, "string") for name in added})
    key = {"type": "record", "name": "Key", "fields": [fields[name] for name in table.keys]}
    fields[UNAVAILABLE] = nullable(UNAVAILABLE, {"type": "array", "items": "string"})
    fields[MOVED_FROM] = nullable(MOVED_FROM, key)
    return {
        "type": "record",
        "name": "Value",
        "namespace": record_name(table.topic),
        "fields": list(fields.values()),
        JSON: True,
    }
