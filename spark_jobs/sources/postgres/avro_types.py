"""The type map: what a column of the writer's Avro schema is in the lake, as SQL that silver and HoodieStreamer share.

A column passes three stations: PostgreSQL, the writer's Avro schema (Debezium's semantic name in
`connect.name`, the source type in `connect.parameters`), and the lake. `converted` takes the second to the third;
types.py compares the first with the third. docs/types.md lists the map for readers and is checked against both.

A value that the lake type cannot hold is unrepresentable: it fails the query, and validate.py finds its message by the
same conditions.
"""

from typing import Any, Callable, Dict, Optional

from spark_jobs.sources.columns import Converted, field_of

SOURCE = "__debezium.source.column."
BASE_TYPE = "lake.type"  # from our converter, where Debezium would name the domain
MONEY = "decimal(19,2)"
GREATEST_PRECISION = 38  # of a Spark or Hive decimal
LEAST_MICROS = -210866803200000000  # PostgreSQL's first finite timestamp, 4714-11-24 BC
INFINITY_MICROS = 2**63 - 1  # how an infinite timestamp is kept: the last value of the type, and the first
INFINITY_DAYS = 2**31 - 1
INFINITY_MS = 10**17  # Debezium's infinity is about 9.2e18 ms; the last finite timestamp is 9.2e15 ms
GREATEST_MS = (2**63 - 1) // 1000
RANGES = ("INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE")
# Types without a Debezium mapping arrive as the bytes of their text.
MULTIRANGES = tuple(name.replace("RANGE", "MULTIRANGE") for name in RANGES)
TEXT_AS_BYTES = ("PG_LSN", "XID", "XID8", "TXID_SNAPSHOT", "PG_SNAPSHOT", "TSQUERY", "JSONPATH", *MULTIRANGES)
# The elements of arrays arrive as PostgreSQL's text, and so does money.
CAST_FROM_TEXT = {
    "BOOL": "boolean",
    "INT2": "int",
    "INT4": "int",
    "INT8": "bigint",
    "OID": "bigint",
    "FLOAT4": "float",
    "FLOAT8": "double",
}
TEMPORAL_FROM_TEXT = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamp"}
NESTED = "chr(0)"  # how the converter marks the literal of an array of several dimensions
SEVERAL_DIMENSIONS = "an array of several dimensions, or what is no array, which no ARRAY type can hold"
REMEDY = "write another value in PostgreSQL"
SPECIAL_NUMERICS = {"NAN": "NaN", "POSITIVE_INFINITY": "Infinity", "NEGATIVE_INFINITY": "-Infinity"}


def converted(field: Dict[str, Any], row: str) -> Converted:
    """One field of a decoded record. No text about an unrepresentable value shows the value: no log may have it."""
    shape, name = _shape(field["type"]), field["name"]
    found = _converted(shape, _source_type(shape), field_of(name, row))
    text = "column {} holds {}: " + REMEDY
    return found.where(lambda condition, problem: (condition, text.format(name, problem)))


def _shape(avro_type: Any) -> Dict[str, Any]:
    """The branch of a union that is not null, as a mapping."""
    if isinstance(avro_type, list):
        avro_type = [branch for branch in avro_type if branch != "null"][0]
    return avro_type if isinstance(avro_type, dict) else {"type": avro_type}


def _source_type(shape: Dict[str, Any]) -> str:
    parameters = shape.get("connect.parameters", {})
    return str(parameters.get(BASE_TYPE) or parameters.get(SOURCE + "type", "")).upper()


def _converted(shape: Dict[str, Any], source: str, column: str) -> Converted:
    kind, semantic = shape["type"], shape.get("connect.name", "")
    if semantic in SEMANTIC:
        return SEMANTIC[semantic](column)
    if semantic == "io.debezium.data.Bits":
        return _always(_bits(column, int(shape["connect.parameters"]["length"])))
    if kind == "array":
        return _array(shape, source, column)
    if kind == "string":
        return _from_text(shape, source, column)
    if kind == "bytes" and source in TEXT_AS_BYTES:
        return _always("decode({}, 'UTF-8')".format(column))
    return _always(column)


def _always(value: str) -> Converted:
    """A value that exists for every value of the column."""
    return Converted(value, [])


def _where_it_fits(column: str, value: str, lake: str) -> Converted:
    """A value that is NULL where the lake type has none for the column's."""
    condition = "{} IS NOT NULL AND ({}) IS NULL".format(column, value)
    return Converted(value, [(condition, "a value that {} cannot hold".format(lake.upper()))])


def _from_text(shape: Dict[str, Any], source: str, column: str) -> Converted:
    if source == "NUMERIC":
        parameters = shape["connect.parameters"]
        return _numeric(column, parameters.get(SOURCE + "length"), parameters.get(SOURCE + "scale"))
    if source == "BYTEA":
        return _always("unhex(substring_index({}, 'x', -1))".format(column))
    if source in TEMPORAL_FROM_TEXT and not shape.get("connect.name"):
        return _temporal_text(column, TEMPORAL_FROM_TEXT[source])
    if source == "MONEY":
        return _where_it_fits(column, "CAST({} AS {})".format(_amount(column), MONEY), MONEY)
    return _cast(column, CAST_FROM_TEXT[source]) if source in CAST_FROM_TEXT else _always(column)


def _amount(column: str) -> str:
    """'-$1,234.50' as -1234.50; null for an amount that is written with another decimal point or other digits."""
    digits = "regexp_replace({}, '[^0-9.-]', '')".format(column)
    return "CASE WHEN {0} RLIKE '^-?[0-9]+[.][0-9]{{2}}$' THEN {0} END".format(digits)


def _numeric(column: str, precision: Optional[str], scale: Optional[str]) -> Converted:
    signed = (int(scale or 0) ^ 1024) - 1024  # Debezium passes PostgreSQL's 11 bits on as they are: 2046 is -2
    lake = numeric_type(int(precision or 0), signed)
    if lake == "string":
        cases = ["WHEN '{}' THEN '{}'".format(*pair) for pair in SPECIAL_NUMERICS.items()]
        return _always("CASE {0} {1} ELSE {0} END".format(column, " ".join(cases)))
    return _cast(column, lake)


def numeric_type(precision: int, scale: int) -> str:
    """The lake type of numeric(precision, scale); precision 0 or beyond any limit: numeric without them."""
    digits = max(precision - min(scale, 0), scale)
    if 0 < precision <= 1000 and digits <= GREATEST_PRECISION:
        return "decimal({},{})".format(digits, max(scale, 0))
    return "string"


def _array(shape: Dict[str, Any], source: str, column: str) -> Converted:
    items = _shape(shape["items"])
    inherited = {**items.get("connect.parameters", {}), **shape.get("connect.parameters", {})}
    inherited.pop(SOURCE + "length", None)  # of numeric: text, see types.ELEMENTS
    element = _element({**items, "connect.parameters": inherited}, source[1:])
    value = "transform({}, item -> {})".format(column, element.value)
    exists = "exists({}, item -> {})"
    return element.where(lambda item, problem: (exists.format(column, item), problem))._replace(value=value)


def _element(shape: Dict[str, Any], source: str) -> Converted:
    found = _converted(shape, source, "item")
    if source == "MONEY":
        found = found._replace(value="CAST({} AS string)".format(found.value))
    nested = [("startswith(item, {})".format(NESTED), SEVERAL_DIMENSIONS)] if shape["type"] == "string" else []
    return found._replace(unrepresentable=nested + found.unrepresentable)


def _cast(column: str, lake: str) -> Converted:
    return _where_it_fits(column, "CAST({} AS {})".format(column, lake), lake)


def _infinite(column: str, finite: str, low: str, high: str) -> str:
    """The SQL `finite`, except for values for which one of the conditions (low, high) says that they are infinite."""
    text = "CASE WHEN {} THEN timestamp_micros({}L) WHEN {} THEN timestamp_micros(-{}L - 1) ELSE {} END"
    return text.format(high, INFINITY_MICROS, low, INFINITY_MICROS, finite).replace("{x}", column)


def _timestamp_ms(column: str) -> Converted:
    finite = "CASE WHEN {{x}} BETWEEN -{0}L AND {0}L THEN timestamp_micros({{x}} * 1000) END".format(GREATEST_MS)
    low, high = "{{x}} < -{}L".format(INFINITY_MS), "{{x}} > {}L".format(INFINITY_MS)
    return _where_it_fits(column, _infinite(column, finite, low, high), "timestamp")


def _timestamp_micros(column: str) -> Converted:
    # Debezium's arithmetic wraps beyond the year 294247, to values before PostgreSQL's first timestamp.
    wrapped = "{0} < {1}L AND {0} <> -{2}L - 1".format(column, LEAST_MICROS, INFINITY_MICROS)
    value = "CASE WHEN NOT ({}) THEN timestamp_micros({}) END".format(wrapped, column)
    return _where_it_fits(column, value, "timestamp")


def _timestamp_text(column: str) -> Converted:
    # The session is in UTC, as Debezium's Z is: for a zone in the text Spark compiles a regular expression per value.
    bounded = _infinite(column, "CAST(rtrim('Z', {x}) AS timestamp)", "{x} = '-infinity'", "{x} = 'infinity'")
    return _where_it_fits(column, bounded, "timestamp")


def _time_text(per_second: int) -> Callable[[str], Converted]:
    """'HH:MM:SS[.ffffff]' as PostgreSQL writes it, 24:00:00 included."""

    def convert(column: str) -> Converted:
        seconds = "floor({} / {})".format(column, per_second)
        fraction = "lpad(CAST(({} % {}) * {} AS string), 6, '0')".format(column, per_second, 1000000 // per_second)
        clock = "format_string('%02d:%02d:%02d', floor({0} / 3600), floor({0} / 60) % 60, {0} % 60)".format(seconds)
        whole = "concat({}, '.', {})".format(clock, fraction)
        short = "regexp_replace(regexp_replace({}, '0+$', ''), '[.]$', '')".format(whole)
        return _always("CASE WHEN {} IS NOT NULL THEN {} END".format(column, short))

    return convert


def _temporal_text(column: str, lake: str) -> Converted:
    """A date or timestamp as PostgreSQL writes it: '0044-03-15 12:00:00 BC', '10000-01-01', 'infinity'."""
    year = "CAST(regexp_extract({x}, '^([0-9]+)-', 1) AS int)"
    rest = "regexp_replace(regexp_replace({x}, '^[0-9]+-', '-'), ' BC$', '')"
    before, after = "format_string('-%04d', {} - 1)".format(year), "format_string('+%04d', {})".format(year)
    era = "CASE WHEN endswith({{x}}, ' BC') THEN {} ELSE {} END".format(before, after)
    finite = "CASE WHEN NOT endswith({{x}}, 'infinity') THEN CAST(concat({}, {}) AS {}) END".format(era, rest, lake)
    if lake == "date":
        days = "CASE {{x}} WHEN 'infinity' THEN {0} WHEN '-infinity' THEN -{0} - 1 END".format(INFINITY_DAYS)
        bounded = "coalesce({}, date_add(DATE'1970-01-01', {}))".format(finite, days).replace("{x}", column)
    else:
        bounded = _infinite(column, finite, "{x} = '-infinity'", "{x} = 'infinity'")
    return _where_it_fits(column, bounded, lake)


def _bits(column: str, length: int) -> str:
    """'0101': the bytes arrive with the last eight bits first."""
    size = (length + 7) // 8
    last_first = "rpad(hex({}), {}, '0')".format(column, 2 * size)
    places = ["substring({}, {}, 2)".format(last_first, 2 * place + 1) for place in reversed(range(size))]
    letters = "translate(concat({}), '0123456789ABCDEF', 'ghijklmnopqrstuv')".format(", ".join(places))
    for value in range(16):
        letters = "replace({}, '{}', '{:04b}')".format(letters, chr(ord("g") + value), value)
    return "substring({}, {}, {})".format(letters, 8 * size - length + 1, length)


def _as(sql: str) -> Callable[[str], Converted]:
    """A value that every value of the column has, as SQL of {0}."""
    return lambda column: _always(sql.format(column))


SEMANTIC: Dict[str, Callable[[str], Converted]] = {
    "io.debezium.time.Date": _as("date_add(DATE'1970-01-01', {0})"),
    "io.debezium.time.Time": _time_text(1000),
    "io.debezium.time.MicroTime": _time_text(1000000),
    "io.debezium.time.Timestamp": _timestamp_ms,
    "io.debezium.time.MicroTimestamp": _timestamp_micros,
    "io.debezium.time.NanoTimestamp": _as("timestamp_micros(floor({0} / 1000))"),
    "io.debezium.time.ZonedTimestamp": _timestamp_text,
    "io.debezium.data.geometry.Point": _as("CASE WHEN {0} IS NOT NULL THEN named_struct('x', {0}.x, 'y', {0}.y) END"),
}
