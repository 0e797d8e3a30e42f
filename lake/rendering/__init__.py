"""What the definition renders to: SQL, topics, connectors, Hudi options, the pipeline file."""
