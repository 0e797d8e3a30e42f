#!/usr/bin/env bash
# Prepares a PostgreSQL server for the lake. It is idempotent, and prints each change.
#
#     cd <folder that write_logins.py filled> && bash prepare.sh <folder>
#     <folder>: with server.sql, shared.sql and databases/<name>.sql, which connects to its database
#
# Output unread/<database>: the published tables whose existing rows must still be requested. A run requests them if it
# finds the tables in captured/<database>, which captured_tables.py writes between two runs.
#
# Output changed.<user>: this run gave the user another password. captured_tables.py then restarts who uses it.
#
# No password is in an argument, a variable or a statement: psql reads them from pg_service.conf, PostgreSQL gets
# SCRAM verifiers. Exit codes: 0 prepared, 3 (psql's) PostgreSQL refused a statement, 2 PostgreSQL was not reached.
# A database that fails does not stop the others.
set -euo pipefail
sql=$1
programs=$(dirname "$0")
export PGSERVICEFILE=$PWD/pg_service.conf PGCONNECT_TIMEOUT=10

# An alarm counts these words (constructs/lake_constructs/container_logs.py).
trap 'code=$?; [ "$code" = 0 ] || echo "the source is not prepared: see the error above" >&2; exit "$code"' EXIT

run() { # service, arguments of psql
  psql --no-psqlrc --quiet --tuples-only --no-align "service=$1 dbname=postgres" "${@:2}" | sed '/^$/d'
}

run admin --file "$sql/server.sql"
for verifier in *.verifier; do
  user=${verifier%.verifier}
  # A password that works is not set again, so the server has nothing to log.
  if ! run "$user" --command 'SELECT 1' > /dev/null 2>&1; then
    run admin --set user="$user" --file "$programs/password.sql"
    touch "changed.$user"
    echo "password of $user: as in its secret"
  fi
done
mkdir -p unread
worst=0
for script in "$sql"/databases/*.sql; do
  name=$(basename "$script" .sql)
  echo "database $name"
  captured=$(cat "captured/$name" 2> /dev/null || true)
  run admin --set captured="$captured" --set unread="unread/$name" --file "$script" || worst=$?
done
exit "$worst"
