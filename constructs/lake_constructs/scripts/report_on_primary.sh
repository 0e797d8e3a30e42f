#!/bin/bash
# Bootstrap action: the primary node reports the jobs' freshness to CloudWatch once a minute.
#   report_on_primary.sh <reporter> <region> <environment> <status file>...
set -euo pipefail
grep -q '"isMaster": *true' /mnt/var/lib/info/instance.json || exit 0
reporter=$1
shift
aws s3 cp "$reporter" /home/hadoop/report_freshness.py
echo "* * * * * hadoop python3 /home/hadoop/report_freshness.py $*" | sudo tee /etc/cron.d/lake-freshness >/dev/null
