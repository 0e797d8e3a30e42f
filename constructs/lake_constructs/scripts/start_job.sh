#!/bin/bash
# Starts one continuous Spark application in place of the one that runs, and ends once YARN has accepted it.
#   start_job.sh <region> <stop_job.sh> <job> <pipeline template> <pipeline file> <brokers> <registry> <artifacts>
#                <silver> <bronze> <spark-submit ...>
# Two applications would write the same tables, so the old one ends first; if it does not end, nothing is started.
set -euo pipefail
region=$1 stopper=$2 job=$3 template=$4 pipeline=$5
shift 5
brokers=$1 registry=$2 artifacts=$3 silver=$4 bronze=$5
shift 5

stop=$(aws s3 cp --region "$region" "$stopper" -)
bash -c "$stop" stop_job.sh "$job"

aws s3 cp --region "$region" "$template" - |
  sed -e "s|@BROKERS@|$brokers|g" -e "s|@REGISTRY@|$registry|g" -e "s|@ARTIFACTS@|$artifacts|g" \
      -e "s|@SILVER@|$silver|g" -e "s|@BRONZE@|$bronze|g" |
  aws s3 cp --region "$region" - "$pipeline"

exec spark-submit "$@"
