"""Starts a program when its disk has enough free space: disk_space.py MIB FOLDER COMMAND...

A broker that was started on a full disk, twice in a row, found its own metadata invalid when it recovered them, deleted
them, and knew of no topic (Kafka 4.3.0: "__cluster_metadata-0: Found invalid offset during recovery").
"""

import os
import shutil
import sys
import time

POLL_S = 1.0
MIB = 1024 * 1024


def wait_for_space(folder: str, needed_mib: int) -> None:
    """Returns once the disk of the folder has enough free space. Prints when it waits."""
    if left_mib(folder) >= needed_mib:
        return
    print(f"{folder}: {left_mib(folder)} MiB left, {needed_mib} MiB needed; waiting for free space", flush=True)
    while left_mib(folder) < needed_mib:
        time.sleep(POLL_S)
    print(f"{folder}: there is enough free space again", flush=True)


def left_mib(folder: str) -> int:
    """The free space of the folder's disk."""
    return shutil.disk_usage(folder).free // MIB


if __name__ == "__main__":
    wait_for_space(sys.argv[2], int(sys.argv[1]))
    os.execvp(sys.argv[3], sys.argv[3:])
