"""Passwords of a job, which come in variables of its environment and nowhere else."""

import json
import os


def password(variable: str) -> str:
    """The content of LAKE_..._PASSWORD; or the password in the secret that EMR Serverless puts into LAKE_..._SECRET."""
    secret = os.environ.get(variable.replace("PASSWORD", "SECRET"))
    return str(json.loads(secret)["password"]) if secret else os.environ[variable]
