"""The commands: each parses, calls and prints. Only main.py imports them."""
