"""The SQL that makes a database capturable."""

from lake.sources.postgres import publication


def test_a_publication_holds_tables_heartbeat_and_signal() -> None:
    made = publication.create_publication("lake_moma", ["public.artists", "public.artworks"])
    assert made == (
        'CREATE PUBLICATION "lake_moma" FOR TABLE '
        '"public"."artists", "public"."artworks", "lake"."heartbeat", "lake"."signal" '
        "WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true)"
    )


def test_membership_statements() -> None:
    assert publication.add_to_publication("lake_moma", "public.a") == (
        'ALTER PUBLICATION "lake_moma" ADD TABLE "public"."a"'
    )
    assert publication.drop_from_publication("lake_moma", "public.a") == (
        'ALTER PUBLICATION "lake_moma" DROP TABLE "public"."a"'
    )
    assert publication.set_publication_options("lake_moma") == (
        "ALTER PUBLICATION \"lake_moma\" SET (publish = 'insert, update, delete, truncate', "
        "publish_via_partition_root = true)"
    )


def test_replica_identity_statements() -> None:
    assert publication.set_replica_identity("public.a", "full") == ('ALTER TABLE "public"."a" REPLICA IDENTITY FULL')
    assert publication.set_replica_identity("public.a", "default") == (
        'ALTER TABLE "public"."a" REPLICA IDENTITY DEFAULT'
    )


def test_grants() -> None:
    assert publication.grant_usage("public", "lake_capture") == 'GRANT USAGE ON SCHEMA "public" TO "lake_capture"'
    assert publication.grant(("SELECT", "INSERT"), "lake.signal", "lake_capture") == (
        'GRANT SELECT, INSERT ON "lake"."signal" TO "lake_capture"'
    )


def test_quotes_in_a_name_cannot_leave_the_identifier() -> None:
    assert publication.drop_from_publication("p", 'public.x"; DROP TABLE y; --') == (
        'ALTER PUBLICATION "p" DROP TABLE "public"."x""; DROP TABLE y; --"'
    )


def test_the_tables_of_the_lake_schema() -> None:
    assert publication.create_schema() == "CREATE SCHEMA IF NOT EXISTS lake"
    assert publication.create_heartbeat() == (
        "CREATE TABLE lake.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)"
    )
    assert publication.create_signal() == (
        "CREATE TABLE lake.signal (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)"
    )
