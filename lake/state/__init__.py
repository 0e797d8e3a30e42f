"""What is remembered between commands, in files of the local lake."""
