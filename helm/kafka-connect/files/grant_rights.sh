#!/bin/bash
# Gives the users of Kafka their rights, as entries of Kafka's own ACLs. What is there already stays as it is.
#   grant_rights.sh <kafka-acls.sh> <brokers> <settings of the client> <file of rights>
# A line of the file: user, cluster or group or topic, literal or prefixed, name, operations with commas between them.
set -euo pipefail
tool=$1 brokers=$2 settings=$3 rights=$4
while read -r user kind pattern name operations; do
  resource=("--$kind" "$name" --resource-pattern-type "$pattern")
  if [ "$kind" = cluster ]; then resource=(--cluster); fi
  allowed=()
  for operation in ${operations//,/ }; do allowed+=(--operation "$operation"); done
  "$tool" --bootstrap-server "$brokers" --command-config "$settings" --add --force \
    --allow-principal "User:$user" "${resource[@]}" "${allowed[@]}" < /dev/null > /dev/null
  echo "$user: $kind $name $operations"
done < "$rights"
