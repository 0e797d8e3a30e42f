"""The engines by name."""

from importlib import import_module

from spark_jobs.sources.interface import Engine


def engine(name: str) -> Engine:
    """Each is the ENGINE of its own folder, so that a new one changes no file of the others."""
    found: Engine = import_module("spark_jobs.sources.{}.engine".format(name)).ENGINE
    return found
