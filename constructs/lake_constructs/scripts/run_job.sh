#!/bin/bash
# Runs a Spark job to its end, with one password from Secrets Manager in its environment and nowhere else.
#   run_job.sh <secret> <variable> <spark-submit ...>
set -euo pipefail
secret=$1 variable=$2
shift 2
text=$(aws secretsmanager get-secret-value --secret-id "$secret" --query SecretString --output text)
password=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["password"])' <<<"$text")
export "$variable=$password"
exec spark-submit "$@"
