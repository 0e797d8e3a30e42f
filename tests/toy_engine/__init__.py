"""A source engine in one file, over SQLite: what a new engine has to bring, and no more."""
