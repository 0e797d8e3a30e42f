"""The constructs the stacks are made of: one file each, AWS only, no settings."""
