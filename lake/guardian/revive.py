"""Starts the services that lost their supervisors: python -m lake.guardian.revive."""

import sys

from lake.config.errors import LakeError
from lake.config.home import load_home
from lake.local.stack import Stack


def main() -> int:
    """Exits with 1 when another command starts or stops the lake, or a service does not come up."""
    try:
        Stack(load_home(), lambda service, what, _: print(f"{service}: {what}", flush=True)).revive()
    except LakeError as error:
        print(error, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
