#!/bin/bash
# Starts one continuous Spark application in place of the one that runs, and ends once YARN has accepted it.
#   start_job.sh <stop_job.sh> <job> <pipeline template> <pipeline file> <brokers> <registry> <artifacts> <silver>
#                <bronze> <spark-submit ...>
# Two applications would write the same tables, so the old one ends first; if it does not end, nothing is started.
set -euo pipefail
stopper=$1 job=$2 template=$3 pipeline=$4 brokers=$5 registry=$6 artifacts=$7 silver=$8 bronze=$9
shift 9

stop=$(aws s3 cp "$stopper" -)
bash -c "$stop" stop_job.sh "$job"

aws s3 cp "$template" - |
  sed -e "s|@BROKERS@|$brokers|g" -e "s|@REGISTRY@|$registry|g" -e "s|@ARTIFACTS@|$artifacts|g" \
      -e "s|@SILVER@|$silver|g" -e "s|@BRONZE@|$bronze|g" |
  aws s3 cp - "$pipeline"

exec spark-submit "$@"
