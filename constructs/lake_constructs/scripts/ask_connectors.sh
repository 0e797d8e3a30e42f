#!/usr/bin/env bash
# Asks MSK Connect which tables each connector reads, between two runs of prepare.sh. Where Connect has a REST interface,
# captured_tables.py of the chart source-database does it and knows more: here nobody can see whether a first snapshot
# runs, so that a table that appears meanwhile lets it begin again.
#
#     cd <folder of prepare.sh> && bash ask_connectors.sh <region> <database>=<connector> ...
#
# Input changed.lake_capture: the connectors have a new password. Input unread/<database>: the published tables whose
# existing rows must still be requested. Output captured/<database>: all tables of the connector; no file if none runs.
#
# Debezium learns a table when its task starts, so a connector with an unread table is restarted first. No answer is no
# failure: before the first deployment is complete there is no connector. The exit code is always 0: the next run does
# what this one could not do.
set -uo pipefail
region=$1
shift
patience=${PATIENCE:-200} # seconds that a restart may take

ask() { # arguments of the AWS CLI
  aws kafkaconnect --region "$region" "$@" --output text
}

reads() { # tables of the connector, tables that are unread: is one of these among those?
  local table
  for table in ${2//,/ }; do
    case ",$1," in *",$table,"*) return 0 ;; esac
  done
  return 1
}

restart() { # ARN
  local operation state=''
  operation=$(ask restart-connector --connector-arn "$1" --query connectorOperationArn) || return 1
  for ((waited = 0; waited < patience; waited += 5)); do
    state=$(ask describe-connector-operation --connector-operation-arn "$operation" --query connectorOperationState)
    case $state in
      RESTART_COMPLETE) return 0 ;;
      RESTART_FAILED) return 1 ;;
    esac
    sleep 5
  done
  return 1
}

settle() { # database, connector
  local arn tables unread
  arn=$(ask list-connectors --connector-name-prefix "$2" --query "connectors[?connectorName=='$2'].connectorArn | [0]")
  if [ -z "$arn" ] || [ "$arn" = None ]; then return 1; fi
  tables=$(ask describe-connector --connector-arn "$arn" --query 'connectorConfiguration."table.include.list"') || return 1
  unread=$(cat "unread/$1" 2> /dev/null || true)
  if [ -e changed.lake_capture ] || reads "$tables" "$unread"; then restart "$arn" || return 1; fi
  [ "$(ask describe-connector --connector-arn "$arn" --query connectorState)" = RUNNING ] || return 1
  printf '%s' "$tables" > "captured/$1"
  echo "$2: reads $tables"
}

mkdir -p captured
for pair in "$@"; do
  settle "${pair%%=*}" "${pair#*=}" || echo "${pair#*=}: not now"
done
