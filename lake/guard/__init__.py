"""The guardian of the sources: what it looks at, what it takes for drift, and what it does about it."""
