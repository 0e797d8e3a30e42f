"""Finds what a server has and what of it can be captured, and writes that as a definition."""
