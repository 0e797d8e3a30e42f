"""Hudi tables: commits, timeline, table services, the metastore."""
