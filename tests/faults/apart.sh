#!/bin/sh
# Runs a command with a network and a small disk of its own: unshare --net --mount tests/faults/apart.sh COMMAND
# Both are private, and gone when the command ends. Packets can then be dropped and the disk be filled without a
# neighbour's noticing. The disk's path is nobody else's, too: a lake knows its processes by the path of its data.
set -e
ip link set lo up
FAULTS_DISK=$PWD/build/disk.$$
mkdir -p "$FAULTS_DISK"
image=$(mktemp)
truncate -s 40G "$image"
mkfs.ext4 -q -m 0 "$image"
mount -o loop "$image" "$FAULTS_DISK"
rm "$image"
mkdir -m 1777 "$FAULTS_DISK/tmp"
export FAULTS_DISK TMPDIR="$FAULTS_DISK/tmp"
exec "$@"
