"""The lake on AWS as data: environments/<name>.yaml typed, and what is rendered for the stacks."""
