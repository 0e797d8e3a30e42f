"""The roles of a PostgreSQL source, by name; only here."""

CAPTURE = "lake_capture"  # reads changes, for Debezium
VERIFY = "lake_verify"  # reads rows, for the proof
REGISTRY = "registry"  # owns the registry's database and nothing else
ADMIN = "lake_admin"  # of the server that the stacks make
USERS = (CAPTURE, VERIFY, REGISTRY)
REGISTRY_DATABASE = "registry"
