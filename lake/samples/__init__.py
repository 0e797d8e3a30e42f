"""Sample databases: their schema and their rows."""
