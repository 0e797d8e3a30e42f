"""State that commands keep in files of the local lake."""
