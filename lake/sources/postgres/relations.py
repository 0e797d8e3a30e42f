"""Relations of PostgreSQL in SQL."""

import re
from collections.abc import Iterable

from lake.config.naming import quoted, split

# PostgreSQL has these columns from version 15 on. r: an entry of pg_publication_rel.
NARROWED = "(to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)"

PLAIN = "[a-z0-9_]+[.][a-z0-9_]+"  # schema and table whose names are their own pattern
# The tables that a step or a query is about: those of named(), or of unnest() over the same three lists.
WANTED = "wanted (name, schema_name, table_name)"
# The oid of one of WANTED; null where there is none.
TABLE = "to_regclass(quote_ident(schema_name) || '.' || quote_ident(table_name))"


def parts(names: Iterable[str]) -> dict[str, list[str]]:
    """The three lists of WANTED, for names as the definition has them."""
    listed = list(names)
    pairs = [pair for pair in map(split, listed) if pair]
    return {"names": listed, "schemas": [schema for schema, _ in pairs], "tables": [table for _, table in pairs]}


def selector(table: str) -> str:
    """The pattern that a connector's list of tables names a table by, for no other one: Debezium folds case otherwise.

    It splits the list at commas. table: as the definition has it.
    """
    (schema,), (name,) = parts([table])["schemas"], parts([table])["tables"]
    dotted = f"{schema}.{name}"
    if re.fullmatch(PLAIN, dotted):
        return f"(?-i){dotted}"
    literal = dotted.replace(r"\E", r"\E\\E\Q").replace(",", r"\E\x2c\Q")
    return rf"(?-i)\Q{literal}\E"


def pattern(table: str, *column: str) -> str:
    """The pattern for a table, or a column of it, in a list of the connector: it holds no separator and no space."""
    (schema,), (name,) = parts([table])["schemas"], parts([table])["tables"]
    return f"(?-i){_literal('.'.join([schema, name, *column]))}"


def _literal(text: str) -> str:
    quoted_once = text.replace(r"\E", r"\E\\E\Q")
    return r"\Q{}\E".format(re.sub("[ ,;:]", lambda one: rf"\E\x{ord(one[0]):02x}\Q", quoted_once))


def all_but(table: str, columns: Iterable[str]) -> str:
    """The pattern for every column of a table but these: one that gets another name is not among them."""
    literals = "|".join(_literal(column) for column in columns)
    return rf"{pattern(table)}[.](?!(?:{literals})\z)(?s:.*)"


def signalled(table: str) -> str:
    """The name of a table in a signal: Debezium takes a part without quotes for a pattern, or splits it at a space."""
    (schema,), (name,) = parts([table])["schemas"], parts([table])["tables"]
    plain = re.fullmatch(PLAIN, f"{schema}.{name}")
    return f"{schema}.{name}" if plain else f"{quoted(schema)}.{quoted(name)}"


def selector_of(schema: str, table: str) -> str:
    """The same in SQL, of two expressions."""
    dotted = f"{schema} || '.' || {table}"
    literal = rf"replace(replace({dotted}, '\E', '\E\\E\Q'), ',', '\E\x2c\Q')"
    return rf"'(?-i)' || CASE WHEN {dotted} ~ '^{PLAIN}$' THEN {dotted} ELSE '\Q' || {literal} || '\E' END"


def stoppers(relation: str) -> str:
    """The query for columns of a relation at which Debezium fails, and says why. relation: an oid."""
    return (
        "SELECT string_agg(a.attname, ' and ' ORDER BY a.attnum) || ' differ by case only' AS why FROM pg_attribute a"
        f' WHERE {_columns(relation)} GROUP BY lower(a.attname::text COLLATE "default") HAVING count(*) > 1'
        f" UNION ALL SELECT shadow || ' bears the name of a type of PostgreSQL' FROM ({shadowed(relation)}) shadowed"
    )


def shadowed(relation: str) -> str:
    """The query for "column type" of each column whose type bears the name of a type of PostgreSQL itself.

    Debezium looks types up by their names alone.
    """
    return (
        "SELECT a.attname || ' ' || format_type(a.atttypid, NULL) AS shadow, a.attnum AS place\n"
        "    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid\n"
        "    LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'\n"
        "    JOIN pg_type own ON own.typname = coalesce(e.typname, t.typname)\n"
        "      AND own.typnamespace = 'pg_catalog'::regnamespace AND own.oid <> coalesce(e.oid, t.oid)\n"
        f"    WHERE {_columns(relation)}"
    )


def _columns(relation: str) -> str:
    """The condition for the columns of a relation among pg_attribute a."""
    return f"a.attrelid = {relation} AND a.attnum > 0 AND NOT a.attisdropped"


def above(table: str) -> str:
    """The query for a table and the tables that it is a partition of, by oid. table: as SQL."""
    return (
        f"WITH RECURSIVE up AS (SELECT {table}::oid AS oid UNION ALL\n"
        "    SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid\n"
        "      JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition)\n"
        "  SELECT oid FROM up"
    )


def leaves(table: str) -> str:
    """The query for the relations that hold a table's rows, by oid: its partitions, or itself. table: as SQL.

    It avoids pg_partition_tree(), which waits for locks: behind a waiting ALTER TABLE, as long as that one.
    """
    return (
        f"WITH RECURSIVE part AS (SELECT oid, relkind FROM pg_class WHERE oid = {table} UNION ALL\n"
        "    SELECT member.oid, member.relkind FROM part JOIN pg_inherits i ON i.inhparent = part.oid\n"
        "      JOIN pg_class member ON member.oid = i.inhrelid WHERE part.relkind = 'p')\n"
        "  SELECT oid FROM part WHERE relkind <> 'p'"
    )
