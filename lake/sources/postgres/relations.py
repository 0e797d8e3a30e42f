"""Relations of PostgreSQL in SQL."""

# PostgreSQL has these columns from version 15 on. r: an entry of pg_publication_rel.
NARROWED = "(to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)"


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
