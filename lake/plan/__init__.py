"""Finds the difference between the definition and what runs, and applies it."""
