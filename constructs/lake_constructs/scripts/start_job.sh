#!/bin/bash
# Starts one continuous Spark application in place of the one that runs, and ends once YARN has accepted it.
#   start_job.sh <job> <pipeline template> <pipeline file> <brokers> <registry> <artifacts> <silver> <bronze> <spark-submit ...>
# The application is known by its YARN tag. Two of them would write the same tables, so the old one ends first;
# whatever it leaves half done, Hudi rolls back.
set -euo pipefail
job=$1 template=$2 pipeline=$3 brokers=$4 registry=$5 artifacts=$6 silver=$7 bronze=$8
shift 8
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
    echo "the running $job did not end within $STOP_WITHIN_S s: nothing was started" >&2
    exit 1
  fi
  sleep 2
  waited=$((waited + 2))
  found=$(running)
done

aws s3 cp "$template" - |
  sed -e "s|@BROKERS@|$brokers|g" -e "s|@REGISTRY@|$registry|g" -e "s|@ARTIFACTS@|$artifacts|g" \
      -e "s|@SILVER@|$silver|g" -e "s|@BRONZE@|$bronze|g" |
  aws s3 cp - "$pipeline"

exec spark-submit "$@"
