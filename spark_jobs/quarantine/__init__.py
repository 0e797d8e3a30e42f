"""Messages that cannot be applied to any table, in a quarantine table."""
