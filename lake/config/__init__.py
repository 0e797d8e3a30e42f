"""What is written by people, read into types: definition, environment, secrets; and what all rooms share."""
