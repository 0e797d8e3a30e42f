"""The stacks of a lake: one file each, every one a short list of constructs."""
