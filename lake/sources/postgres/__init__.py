"""PostgreSQL as a source: catalogue, publication, slot, write-ahead log."""
