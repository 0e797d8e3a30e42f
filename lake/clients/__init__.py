"""One client per service: Kafka, Connect, the streaming job, the guardian."""
