"""Starts a program when its disk has enough free space: room.py MIB FOLDER COMMAND...

A broker that was started on a full disk, twice in a row, found its own metadata invalid when it recovered them, deleted
them, and knew of no topic (Kafka 4.3.0: "__cluster_metadata-0: Found invalid offset during recovery").
"""

import os
import shutil
import sys
import time

LOOK_EVERY_S = 1.0
MIB = 1024 * 1024


def wait_for_room(folder: str, needed_mib: int) -> None:
    """Returns once the disk of the folder has enough free space. Prints when it waits."""
    if left_mib(folder) >= needed_mib:
        return
    print(f"{folder}: {left_mib(folder)} MiB left, {needed_mib} MiB needed; waiting for room", flush=True)
    while left_mib(folder) < needed_mib:
        time.sleep(LOOK_EVERY_S)
    print(f"{folder}: there is room again", flush=True)


def left_mib(folder: str) -> int:
    """The free space of the folder's disk."""
    return shutil.disk_usage(folder).free // MIB


if __name__ == "__main__":
    wait_for_room(sys.argv[2], int(sys.argv[1]))
    os.execvp(sys.argv[3], sys.argv[3:])
