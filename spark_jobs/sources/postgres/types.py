"""PostgreSQL's types for data validation: how each is kept, and the text as which source and lake are compared.

docs/types.md lists them for readers and is checked against PG_TYPES.
"""

from typing import Dict, NamedTuple, Optional

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_jobs.sources.engine import ColumnType, Conversion, Unmapped
from spark_jobs.sources.postgres import avro_types
from spark_jobs.sources.postgres.avro_types import INFINITY_MICROS, LEAST_MICROS, MONEY, RANGES

LEAST_DAY, GREATEST_DAY = -2440550, 2145042905  # PostgreSQL's first and last finite date, days since 1970
# The type's own output; ::text would trim char(n), and IS NOT NULL is false of a composite value with a NULL in it.
OUTPUT = "CASE WHEN {x} IS DISTINCT FROM NULL THEN format('%s', {x}) END"
INTERVAL = (
    "CASE WHEN NOT isfinite({x}) THEN {x}::text ELSE "
    "'P' || extract(year FROM {x}) || 'Y' || extract(month FROM {x}) || 'M' || extract(day FROM {x}) || 'DT' "
    "|| extract(hour FROM {x}) || 'H' || extract(minute FROM {x}) || 'M' "
    "|| trim_scale(extract(second FROM {x})) || 'S' END"
)
DATE = (
    "CASE WHEN NOT isfinite({x}) THEN {x}::text WHEN {x} BETWEEN '0001-01-01' AND '9999-12-31' "
    "THEN {x}::text ELSE 'day ' || ({x} - date '1970-01-01') END"
)
TIMESTAMP = (
    "CASE WHEN NOT isfinite({x}) THEN {x}::text WHEN {x} >= '0001-01-01' AND {x} < '10000-01-01' "
    "THEN {x}::text ELSE 'microsecond ' || (extract(epoch FROM {x}) * 1000000)::bigint END"
)
ARRAY = (
    "CASE WHEN array_ndims({x}) > 1 THEN 'nested ' || {x}::text WHEN {x} IS NOT NULL THEN coalesce((SELECT "
    "json_agg({element} ORDER BY n)::text FROM {elements} WITH ORDINALITY AS u(e, n)), '[]') END"
)


def _same(column: Column) -> Column:
    return column


def _text(column: Column) -> Column:
    return column.cast("string")


def _renamed_specials(column: Column) -> Column:
    for written, name in avro_types.SPECIAL_NUMERICS.items():
        column = F.when(column == written, name).otherwise(column)
    return column


def _hex(column: Column) -> Column:
    return F.lower(F.hex(column))


def _date_text(column: Column) -> Column:
    days = F.datediff(column, F.lit("1970-01-01").cast("date"))
    bounded = F.when(days > GREATEST_DAY, "infinity").when(days < LEAST_DAY, "-infinity")
    common = bounded.when(days.between(-719162, 2932896), column.cast("string"))
    return common.otherwise(F.concat(F.lit("day "), days.cast("string")))


def _timestamp_out(column: Column) -> Column:
    micros = F.call_udf("unix_micros", column)
    bounded = F.when(micros == INFINITY_MICROS, "infinity").when(micros < LEAST_MICROS, "-infinity")
    common = bounded.when(micros.between(-62135596800000000, 253402300799999999), column.cast("string"))
    return common.otherwise(F.concat(F.lit("microsecond "), micros.cast("string")))


def _through(lake: str) -> Conversion:
    """A number's text as Spark writes it; text that is no such number is not changed."""
    return lambda column: F.coalesce(column.cast(lake).cast("string"), column)


def _point_source(column: Column) -> Column:
    ends = F.split(column, " ")
    return F.concat(ends[0].cast("double").cast("string"), F.lit(" "), ends[1].cast("double").cast("string"))


def _point_text(column: Column) -> Column:
    return F.concat(column["x"].cast("string"), F.lit(" "), column["y"].cast("string"))


STRING = ColumnType("string", OUTPUT, _same, _same)
COMPOSITE = ColumnType("string", OUTPUT, _same, _same)
PG_TYPES: Dict[str, ColumnType] = {
    "bool": ColumnType("boolean", "{x}::text", _same, _text),
    "int2": ColumnType("int", OUTPUT, _same, _text),
    "int4": ColumnType("int", OUTPUT, _same, _text),
    "int8": ColumnType("bigint", OUTPUT, _same, _text),
    "oid": ColumnType("bigint", OUTPUT, _same, _text),
    "float4": ColumnType("float", OUTPUT, _through("float"), _text),
    "float8": ColumnType("double", OUTPUT, _through("double"), _text),
    "money": ColumnType(MONEY, "{x}::numeric::text", _through(MONEY), _text),
    "bytea": ColumnType("binary", "encode({x}, 'hex')", _same, _hex),
    "date": ColumnType("date", DATE, _same, _date_text),
    "timestamp": ColumnType("timestamp", TIMESTAMP, _same, _timestamp_out),
    "timestamptz": ColumnType("timestamp", TIMESTAMP.replace("{x}", "({x} AT TIME ZONE 'UTC')"), _same, _timestamp_out),
    "interval": ColumnType("string", INTERVAL, _same, _same),
    "point": ColumnType("struct<x:double,y:double>", "({x})[0] || ' ' || ({x})[1]", _point_source, _point_text),
}
ONE_BIT = ColumnType("boolean", "CASE {x}::text WHEN '1' THEN 'true' WHEN '0' THEN 'false' END", _same, _text)
TEXTS = ("text", "varchar", "bpchar", "char", "name", "citext", "ltree", "json", "jsonb", "xml", "tsvector")
ADDRESSES = ("inet", "cidr", "macaddr", "macaddr8")
SHAPES = ("box", "circle", "line", "lseg", "path", "polygon")
PLACES = ("cid", "tid")
STRINGS = (
    *(*TEXTS, *ADDRESSES, "uuid", "time", "timetz", "bit", "varbit"),
    *(*RANGES, *SHAPES, *PLACES, *avro_types.TEXT_AS_BYTES),
)
PG_TYPES.update({name.lower(): STRING for name in STRINGS})
# Of these PostgreSQL reads the canonical text as the value it stands for: rows are found by it, and by an index.
READ_BACK = ("int2", "int4", "int8", "oid", "float4", "float8", "numeric", "text", "varchar", "bpchar", "uuid")


# In arrays these are texts. Parquet names the elements of every list alike, so Avro would have to hold two fixed
# types of one name for two arrays of decimals: Hudi 0.14 then can't merge a file ("Can't redefine: element").
ANY_NUMERIC = ColumnType("string", OUTPUT, _same, _renamed_specials)
AMOUNT = ColumnType("string", "{x}::numeric::text", _same, _same)
MADE = ("e", "c", "d", "r", "m", "x")  # kinds of types whose values are PostgreSQL's text, whatever their name
ELEMENTS = {"numeric": ANY_NUMERIC, "money": AMOUNT, "interval": STRING}


class SourceColumn(NamedTuple):
    """One column as the catalogue describes it, domains resolved to their base type.

    kind: b base, e enum, c composite, r range, m multirange; of an element also d domain (pg_type.typtype); x of an
      extension.
    precision, scale: of numeric, 0 without; of bit: its length.
    """

    name: str
    type: str
    kind: str
    precision: int
    scale: int
    is_array: bool
    dimensions: int = 0  # as declared; PostgreSQL does not hold values to it


def reads_back(column: SourceColumn) -> bool:
    """True if rows can be looked up by the canonical text of this column."""
    return column.type in READ_BACK and not column.is_array


def pg_type(column: SourceColumn) -> ColumnType:
    """The type of a column. Raises Unmapped, which names the column, when the map has none."""
    kind = _scalar(column)
    if kind is None:
        raise Unmapped("column {} has type {}, which is not in docs/types.md".format(column.name, column.type))
    if column.is_array and (column.dimensions > 1 or column.type == "box"):
        return STRING  # between the elements of a box[] are semicolons
    return _array_of(_element(column, kind)) if column.is_array else kind


def _element(column: SourceColumn, kind: ColumnType) -> ColumnType:
    return COMPOSITE if column.kind == "c" else kind if column.kind in MADE else ELEMENTS.get(column.type, kind)


def _scalar(column: SourceColumn) -> Optional[ColumnType]:
    if column.kind in MADE:
        return STRING
    if column.type == "bit" and column.precision == 1 and not column.is_array:
        return ONE_BIT
    if column.type == "numeric":
        lake = avro_types.numeric_type(column.precision, column.scale)
        return ANY_NUMERIC if lake == "string" else ColumnType(lake, OUTPUT, _through(lake), _text)
    return PG_TYPES.get(column.type)


def _array_of(element: ColumnType) -> ColumnType:
    # unnest() takes the values of a composite type apart; the cast would trim those of char(n).
    elements = "unnest({x}::text[])" if element is COMPOSITE else "unnest({x})"
    sql = ARRAY.replace("{element}", element.sql.replace("{x}", "e")).replace("{elements}", elements)

    def source(column: Column) -> Column:
        items = F.from_json(column, "array<string>")
        return F.when(column.startswith("["), F.to_json(F.transform(items, element.source))).otherwise(column)

    def text(column: Column) -> Column:
        return F.to_json(F.transform(column, element.text))

    return ColumnType("array<{}>".format(element.lake), sql, source, text)
