#!/usr/bin/env bash
# Runs tests through Debian's PgBouncer in transaction mode, on a PostgreSQL of Debian that it starts for this run. As root, with
# the packages postgresql and pgbouncer: scripts/deploy/test-pgbouncer.sh [test files]; without files the tests of requests and
# workers.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
folder=$(mktemp -d /tmp/tipping-pgbouncer-XXXXXX)
postgres=54398
pooler=64398
as_postgres() { runuser -u postgres -- "$@"; }
stop() {
  [ ! -f "$folder/pgbouncer.pid" ] || kill "$(cat "$folder/pgbouncer.pid")" || true
  as_postgres "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
chown postgres "$folder"
as_postgres "$bin/initdb" -D "$folder/data" -A trust -U postgres >/dev/null
as_postgres "$bin/pg_ctl" -D "$folder/data" -l "$folder/postgres.log" -w \
  -o "-p $postgres -k $folder -c max_connections=200 -c fsync=off -c autovacuum=off" start >/dev/null
psql -q -h 127.0.0.1 -p $postgres -U postgres <<'SQL'
alter role postgres set statement_timeout = '10s';
alter role postgres set lock_timeout = '4s';
alter role postgres set idle_in_transaction_session_timeout = '10s';
SQL
# Every client becomes one user here: the tests make roles and databases of their own.
cat >"$folder/pgbouncer.ini" <<INI
[databases]
* = host=127.0.0.1 port=$postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $pooler
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 10
server_idle_timeout = 1
pidfile = $folder/pgbouncer.pid
logfile = $folder/pgbouncer.log
INI
as_postgres /usr/sbin/pgbouncer -q -d "$folder/pgbouncer.ini"
export TEST_DATABASE_URL=postgres://postgres@127.0.0.1:$postgres/
export TEST_POOLER_URL=postgres://postgres@127.0.0.1:$pooler/
[ $# -gt 0 ] || set -- test/http/*.test.ts test/workers/*.test.ts
npm test -- "$@"
