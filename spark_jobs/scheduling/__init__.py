"""Commit slots, and the background pool."""
