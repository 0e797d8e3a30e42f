"""A batch of change events, from Kafka messages to the rows of a table: DataFrame to DataFrame."""
