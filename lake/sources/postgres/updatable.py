"""PostgreSQL's own rule for a published relation: can its rows be updated and deleted?

Where they cannot, the statements of the application fail. This is CheckCmdReplicaIdentity of execReplication.c, as SQL
over catalogs, which waits for no lock. An identity is one of PostgreSQL's letters: "f", "d", "i", "n".
"""

from lake.sources.postgres.relations import leaves

# PostgreSQL 18 has this setting of a publication: "n" or "s" (stored generated columns). Before, no rule needs it.
GENERATED = "to_jsonb(p) ->> 'pubgencols'"
LIST = "nullif(to_jsonb(r) -> 'prattrs', 'null')"  # the column list of a member of a publication, from 15 on
FILTER = "to_jsonb(r) ->> 'prqual'"  # its row filter, which names columns by number


def broken_where(relation: str, identity: str, generated: str = GENERATED) -> str:
    """A condition: an UPDATE or DELETE of the relation fails if it is published and has this identity.

    relation: an oid; generated: the publication's setting for generated columns. Both as SQL.
    """
    unpublished = _any_column(
        relation,
        f"a.attgenerated <> '' AND {generated} IS NOT NULL AND NOT (a.attgenerated = 's' AND {generated} = 's')"
        f" AND {_identifies('a.attnum', relation, identity)}",
    )
    return f"(NOT ({identity} = 'f' OR EXISTS ({_index(relation, identity)})) OR {unpublished})"


def broken_member(relation: str, identity: str) -> str:
    """The same for a member r of the publication p, or a partition of it: column list and row filter count, too."""
    named = "EXISTS (SELECT FROM pg_attribute m WHERE m.attrelid = r.prrelid AND m.attname = a.attname AND {})"
    identifies = _identifies("a.attnum", relation, identity)
    listed, filtered = (
        named.format(f"{LIST} @> to_jsonb(m.attnum)"),
        named.format(f"m.attnum = ANY ({_filtered()})"),
    )
    outside = _any_column(relation, f"{LIST} IS NOT NULL AND {identifies} AND NOT {listed}")
    unknown = _any_column(relation, f"{FILTER} IS NOT NULL AND {filtered} AND NOT {identifies}")
    whole = f"({LIST} IS NOT NULL AND {identity} = 'f')"
    rules = " OR ".join((broken_where(relation, identity), outside, unknown, whole))
    return f"((p.pubupdate OR p.pubdelete) AND ({rules}))"


def broken_members(publication: str) -> str:
    """A FROM clause: each relation l that holds rows of a member c of the publication, and whose updates fail.

    publication: its name, as SQL.
    """
    return (
        f"FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid AND p.pubname = {publication}\n"
        "  JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace\n"
        f"  JOIN pg_class l ON l.relkind = 'r' AND l.relpersistence = 'p' AND l.oid IN ({leaves('c.oid')})\n"
        "  JOIN pg_namespace ln ON ln.oid = l.relnamespace\n"
        f"  AND {broken_member('l.oid', 'l.relreplident')}"
    )


def _index(relation: str, identity: str) -> str:
    """The index by which a change names its row."""
    return (
        f"SELECT FROM pg_index i WHERE i.indrelid = {relation} AND i.indisvalid AND i.indisunique AND i.indimmediate"
        f" AND i.indpred IS NULL AND CASE {identity} WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END"
    )


def _identifies(column: str, relation: str, identity: str) -> str:
    return f"({identity} = 'f' OR EXISTS ({_index(relation, identity)} AND {column} = ANY (i.indkey)))"


def _any_column(relation: str, condition: str) -> str:
    return (
        f"EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = {relation} AND a.attnum > 0"
        f" AND NOT a.attisdropped AND {condition})"
    )


def _filtered() -> str:
    return f"ARRAY(SELECT number[1]::int FROM regexp_matches({FILTER}, ':varattno ([0-9]+)', 'g') number)"
