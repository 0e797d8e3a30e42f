#!/bin/bash
# Ends a continuous Spark application, known by its YARN tag, and returns once it is gone.
#   stop_job.sh <job>
# Whatever it leaves half done, Hudi rolls back when it is started again; it goes on from its checkpoint.
set -euo pipefail
job=$1
STOP_WITHIN_S=300

running() {
  yarn application -list -appTags "$job" -appStates NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING 2>/dev/null |
    awk '$1 ~ /^application_/ { print $1 }'
}

# In a variable first: inside `for` or `[` a YARN that does not answer would pass for one that runs nothing.
found=$(running)
for application in $found; do
  yarn application -kill "$application"
done
waited=0
while [ -n "$found" ]; do
  if [ "$waited" -ge "$STOP_WITHIN_S" ]; then
    echo "the running $job did not end within $STOP_WITHIN_S s" >&2
    exit 1
  fi
  sleep 2
  waited=$((waited + 2))
  found=$(running)
done
