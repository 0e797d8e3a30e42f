"""One folder per source engine: its types, and the reader of its rows for data validation."""
