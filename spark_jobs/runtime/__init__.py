"""What every job needs: the JVM, storage, the pipeline file, status, errors."""
