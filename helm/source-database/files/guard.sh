#!/usr/bin/env bash
# Gives the application its updates back where a migration made them fail because of the capture: looks at each captured
# database every few seconds, for a limited time. The next run of the schedule begins before that time is over.
#
#     cd <folder that write_logins.py filled> && bash guard.sh <folder as of prepare.sh> <seconds>
#
# A database that does not answer is tried again; what was done is a warning of PostgreSQL in the output.
set -u
sql=$1
until=$((SECONDS + $2))
export PGSERVICEFILE=$PWD/pg_service.conf PGCONNECT_TIMEOUT=5

while [ "$SECONDS" -lt "$until" ]; do
  for script in "$sql"/databases/*.sql; do
    psql --no-psqlrc --quiet --tuples-only --no-align "service=admin dbname=postgres" \
      --set guard=1 --file "$script"
  done
  sleep "${GUARD_EVERY_S:-5}"
done
