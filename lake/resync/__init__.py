"""Reads tables again from their source while the stream continues."""
