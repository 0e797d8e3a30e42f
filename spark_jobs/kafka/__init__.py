"""Kafka and the schema registry: topics, offsets, writer schemas, lag."""
