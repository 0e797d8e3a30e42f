"""Re-snapshots tables while changes continue to flow, and recovers captures."""
