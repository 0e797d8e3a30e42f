"""SQL statements, as parsed by Spark."""
