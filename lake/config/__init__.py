"""The files that people write, as types: definition, environment, secrets. Also the helpers of all other folders."""
