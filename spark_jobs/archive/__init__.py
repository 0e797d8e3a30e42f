"""Bronze: the archive of each topic."""
