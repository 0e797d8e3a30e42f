#!/bin/bash
# Gives the users of Kafka exactly these rights, as entries of Kafka's own ACLs. Other users keep theirs.
#   grant_rights.sh <kafka-acls.sh> <brokers> <settings of the client> <file of rights>
# A line of the file: user, cluster or group or topic, literal or prefixed, names, operations; with commas between several.
set -euo pipefail
tool=$1 brokers=$2 settings=$3 rights=$4

acls() { "$tool" --bootstrap-server "$brokers" --command-config "$settings" "$@" < /dev/null; }

change() { # --add or --remove, then a line of the file
  local verb=$1 user=$2 kind=$3 name operation words=(--resource-pattern-type "$4")
  for name in ${5//,/ }; do words+=("--$kind" "$name"); done
  if [ "$kind" = cluster ]; then words=(--cluster); fi
  for operation in ${6//,/ }; do words+=(--operation "$operation"); done
  acls "$verb" --force --allow-principal "User:$user" "${words[@]}" > /dev/null
  echo "${verb#--}: $user $kind $5 $6"
}

standing() { # user: what the user has, a line for each operation, which may have other letters than in the file
  local words
  words=$(acls --list --principal "User:$1")
  sed -n -e 's/.*resourceType=\(.*\), name=\(.*\), patternType=\([A-Z]*\).*/\1 \3 \2/p' \
    -e 's/.*operation=\(.*\), permissionType=ALLOW.*/ \1/p' <<< "$words" |
    while IFS= read -r line; do
      case $line in
        ' '*) echo "$1 $of ${line//[_ ]/}" ;;
        *) read -r kind pattern name <<< "$line" && of="${kind,,} ${pattern,,} $name" ;;
      esac
    done
}

wanted=$(while read -r user kind pattern names operations; do
  operations=${operations^^}
  for name in ${names//,/ }; do
    for operation in ${operations//,/ }; do echo "$user $kind $pattern $name $operation"; done
  done
done < "$rights")

# First what is missing, so that a worker that runs loses nothing.
while read -r line; do change --add $line; done < "$rights"
for user in $(cut -d ' ' -f 1 "$rights" | sort -u); do
  found=$(standing "$user")
  while read -r line; do
    if [ -n "$line" ] && ! grep -qxF "$line" <<< "$wanted"; then change --remove $line; fi
  done <<< "$found"
done
