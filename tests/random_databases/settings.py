"""Settings of a database that change how PostgreSQL shows a value, or end a session."""

from random import Random

VALUES = {
    "bytea_output": ("escape",),
    "IntervalStyle": ("sql_standard", "iso_8601", "postgres_verbose"),
    "extra_float_digits": ("-15", "0"),
    "DateStyle": ("German, DMY", "SQL, MDY"),
    "TimeZone": ("Asia/Kolkata", "America/St_Johns"),
    "quote_all_identifiers": ("on",),
    "search_path": ("kinds", "pg_catalog"),
    "default_transaction_read_only": ("on",),
    "statement_timeout": ("2s",),
    "lock_timeout": ("1s",),
    "idle_in_transaction_session_timeout": ("3s",),
    "idle_session_timeout": ("3s",),
    "transaction_timeout": ("4s",),
    "wal_sender_timeout": ("2s",),
}
# What the session that writes pins, so that its SQL means the same everywhere.
WRITER = "-c default_transaction_read_only=off -c search_path=public -c TimeZone=UTC -c DateStyle=ISO,MDY " + (
    "-c IntervalStyle=postgres -c statement_timeout=0 -c lock_timeout=0 -c transaction_timeout=0 "
    "-c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0"
)


def some(chooser: Random) -> dict[str, str]:
    chosen = chooser.sample(list(VALUES), chooser.choice([0, 0, 0, 1, 1, 2]))
    return {setting: chooser.choice(VALUES[setting]) for setting in chosen}
