"""The constructs of the stacks: one file each, AWS only, no settings."""
