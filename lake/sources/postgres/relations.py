"""Relations of PostgreSQL in SQL."""

# Not every version of PostgreSQL has the columns: 15 brought both. r: an entry of pg_publication_rel.
NARROWED = "(to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)"


def leaves(table: str) -> str:
    """The query of what holds the rows of a table, by oid: its partitions, or the table itself; table: an expression.

    pg_partition_tree() waits for locks: after an ALTER TABLE that waits itself, for as long as that one.
    """
    return (
        f"WITH RECURSIVE part AS (SELECT oid, relkind FROM pg_class WHERE oid = {table} UNION ALL\n"
        "    SELECT member.oid, member.relkind FROM part JOIN pg_inherits i ON i.inhparent = part.oid\n"
        "      JOIN pg_class member ON member.oid = i.inhrelid WHERE part.relkind = 'p')\n"
        "  SELECT oid FROM part WHERE relkind <> 'p'"
    )
