"""The streaming queries: one per Hudi table."""
