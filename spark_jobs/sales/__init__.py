"""Sales of a film rental shop on Kafka: sent, totalled by country, by region and in windows; as JSON and as Avro."""
