"""Who may commit, and who works in the background."""
