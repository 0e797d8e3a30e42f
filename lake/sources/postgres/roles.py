"""The names of all roles in a PostgreSQL source."""

CAPTURE = "lake_capture"  # reads changes, for Debezium
VERIFY = "lake_verify"  # reads rows, for data validation
REGISTRY = "registry"  # owns the registry's database and nothing else
ADMIN = "lake_admin"  # the administrator of the server that the stacks create
READERS = (CAPTURE, VERIFY)  # of a captured database
USERS = (*READERS, REGISTRY)
REGISTRY_DATABASE = "registry"
