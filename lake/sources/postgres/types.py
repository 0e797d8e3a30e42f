"""The PostgreSQL types that the lake keeps, by pg_type.typname; docs/types.md says how.

Enums, composite types, ranges and types of extensions are kept whatever their name; arrays when their elements are, or
are a domain; domains when their base type is.
"""

# ruff: noqa: SIM905 - a list of one name a line would fill a screen
MAPPED = frozenset(
    """
    bit bool box bpchar bytea char cid cidr circle citext date datemultirange daterange float4 float8 inet int2
    int4 int4multirange int4range int8 int8multirange int8range interval json jsonb jsonpath line lseg ltree macaddr
    macaddr8 money name numeric nummultirange numrange oid path pg_lsn pg_snapshot point polygon text tid time
    timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector txid_snapshot uuid
    varbit varchar xid xid8 xml
    """.split()
)
MADE = ("e", "c", "d", "r", "m")  # by pg_type.typtype; d of the elements of an array: a domain that is not resolved
