"""A sale and its totals: as rows, as JSON and as Avro. Money is decimal, so that every sum is exact."""

from typing import Any, Dict

Columns = Dict[str, str]  # the type of each

# The columns of the files, too.
SALE = {
    "payment_id": "int",
    "customer_id": "int",
    "amount": "decimal(10,2)",
    "payment_date": "timestamp",
    "city": "string",
    "district": "string",
    "country": "string",
}
TOTALLED = ("amount", "country")  # what totals are made of
MONEY = "decimal(20,2)"
TOTAL = {"country": "string", "sales": MONEY, "orders": "bigint"}  # of all sales of a country so far
REGION = {"country": "string", "region": "string"}

TIME = {"type": "long", "logicalType": "timestamp-millis"}


def ddl(columns: Columns) -> str:
    """The columns as Spark reads them in a schema."""
    return ", ".join("{} {}".format(name, kind) for name, kind in columns.items())


def sale_avro(topic: str) -> Dict[str, Dict[str, Any]]:
    """The schemas of key (the customer) and value of a topic of sales."""
    fields = {
        "payment_id": "int",
        "customer_id": "int",
        "amount": _decimal(10),
        "payment_date": TIME,
        "city": ["string", "null"],
        "district": ["string", "null"],
        "country": "string",
    }
    return {"key": {"type": "int"}, "value": _record(topic, fields)}


def region_total_avro(topic: str) -> Dict[str, Dict[str, Any]]:
    """The schemas of key (the second in which the window starts) and value of a topic of totals."""
    fields = {"region": "string", "sales": _decimal(20), "orders": "long", "window_start": TIME, "window_end": TIME}
    return {"key": {"type": "int"}, "value": _record(topic, fields)}


def _decimal(precision: int) -> Dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": 2}


def _record(topic: str, fields: Dict[str, Any]) -> Dict[str, Any]:
    """The name of the record is that of Debezium's."""
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Value", "namespace": topic, "fields": listed}
