"""What PostgreSQL says must not depend on settings of a database, a role or a server: each session of ours has its own.

They come with the start of the session (libpq's `options`), which beats ALTER DATABASE and ALTER ROLE. The drivers send
TimeZone, DateStyle and client_encoding. transaction_timeout is not among them: servers before 17 refuse such a session.
It is set by a first statement; the session that streams the log has none, and relies on a setting of its role.
"""

SETTINGS = {
    # How values are written.
    "bytea_output": "hex",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    "quote_all_identifiers": "off",
    "search_path": "public",  # names of regclass and the like; whose operators and functions are meant
    # What ends a session, or a statement of it.
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "wal_sender_timeout": "60s",
}
OPTIONS = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
NO_TIMEOUT = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'"
READER = f"{OPTIONS} -c row_security=off"  # an error if policies hide rows: they would look deleted
