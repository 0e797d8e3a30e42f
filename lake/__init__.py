"""The lake command line: definition, rendering, local services and operations."""
