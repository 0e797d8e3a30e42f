"""Where the services beside EMR write their logs, if no Kubernetes runs them."""

# As the charts are named, so that `lake logs` calls them the same everywhere.
SERVICES = ("kafka-connect", "apicurio-registry", "source-database")


def log_group(environment: str, service: str) -> str:
    return f"lake-{environment}-{service}"
