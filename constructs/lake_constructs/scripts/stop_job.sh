#!/bin/bash
# Ends a continuous Spark application, identified by its YARN tag, and returns once it has ended.
#   stop_job.sh <job>
# Hudi rolls back its unfinished commits at the next start; the application then continues from its checkpoint.
set -euo pipefail
job=$1
STOP_WITHIN_S=300

running() {
  yarn application -list -appTags "$job" -appStates NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING 2>/dev/null |
    awk '$1 ~ /^application_/ { print $1 }'
}

# A variable, because inside `for` or `[` a YARN that does not answer would look like one that runs nothing.
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
