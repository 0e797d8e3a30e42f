"""The operation of a lake, on this machine and on AWS."""
