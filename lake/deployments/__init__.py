"""A lake as its operator sees it, on this machine and on AWS."""
