"""What every job stands on: the JVM, storage, the pipeline file, status, errors."""
