"""Messages that no table can take, in a table of their own."""
