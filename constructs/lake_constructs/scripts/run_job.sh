#!/bin/bash
# Runs a Spark job to its end, with passwords from Secrets Manager in its environment and nowhere else.
#   run_job.sh <region> <secret,...> <variable,...> <spark-submit ...>
# The region is named, because the AWS CLI of EMR 6 (version 1) does not take it from the machine.
set -euo pipefail
region=$1
IFS=, read -ra secrets <<<"$2"
IFS=, read -ra variables <<<"$3"
shift 3
for place in "${!secrets[@]}"; do
  secret=${secrets[place]}
  text=$(aws secretsmanager get-secret-value --region "$region" --secret-id "$secret" --query SecretString --output text)
  password=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["password"])' <<<"$text")
  export "${variables[place]}=$password"
done
exec spark-submit "$@"
