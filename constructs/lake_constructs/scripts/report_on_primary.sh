#!/bin/bash
# Bootstrap action: the primary node reports the jobs' freshness to CloudWatch once a minute.
#   report_on_primary.sh <region> <environment> <parameter>
# The program that reports, and the list of the jobs, are read each time from the parameter of the deployment: arguments of
# a bootstrap action that change replace the cluster. A timer of systemd, because Amazon Linux 2023 has no cron.
set -euo pipefail
grep -q '"isMaster": *true' /mnt/var/lib/info/instance.json || exit 0
region=$1 environment=$2 parameter=$3

sudo tee /usr/local/bin/lake-report >/dev/null <<'END'
#!/bin/bash
#   lake-report <region> <environment> <parameter>
set -euo pipefail
outputs=$(aws ssm get-parameter --region "$1" --name "$3" --query Parameter.Value --output text)
url=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["reporter"]["program"])' <<<"$outputs")
program=$(aws s3 cp --region "$1" "$url" -)
exec python3 -c "$program" "$1" "$2" <<<"$outputs"
END

sudo tee /etc/systemd/system/lake-report.service >/dev/null <<END
[Unit]
Description=Report the freshness of the lake's tables

[Service]
Type=oneshot
User=hadoop
TimeoutStartSec=50
ExecStart=/bin/bash /usr/local/bin/lake-report $region $environment $parameter
END

sudo tee /etc/systemd/system/lake-report.timer >/dev/null <<'END'
[Unit]
Description=Report the freshness of the lake's tables every minute

[Timer]
OnCalendar=*-*-* *:*:00
AccuracySec=1s

[Install]
WantedBy=timers.target
END

sudo systemctl daemon-reload
sudo systemctl enable --now lake-report.timer
