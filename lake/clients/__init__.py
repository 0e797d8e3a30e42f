"""One client per service that the lake asks: Kafka, Connect, the streaming job, the guardian."""
