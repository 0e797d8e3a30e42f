"""PostgreSQL: types in the connector's Avro, types in the lake, rows for data validation."""
