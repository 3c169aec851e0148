#!/usr/bin/env bash
# Runs a command with an S3 server: the Versity gateway over a temporary folder, on loopback, stopped when the command ends.
#   .ci/versity.sh npm test -- s3
# Needs Go and the Go module proxy, or a built gateway: VERSITY_BINARY=/path/to/versitygw .ci/versity.sh …
# Sets MOORAGE_TEST_S3_URL, MOORAGE_TEST_S3_VIRTUAL_URL (the bucket in the host's name), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
# Exit status 77: the gateway is not available on this machine (a line says why), so the command was not run; otherwise the command's.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

[ $# -gt 0 ] || { echo "usage: .ci/versity.sh COMMAND…"; exit 2; }

GATEWAY=${VERSITY_BINARY:-}
[ -n "$GATEWAY" ] || GATEWAY=$("$ROOT/.ci/tools.sh" versitygw)

# shellcheck source=.ci/cleanup.sh
. "$ROOT/.ci/cleanup.sh"

# A bucket is a folder. Metadata of objects is stored in another folder: not every file system has extended attributes.
mkdir -p "$WORK/root/blobs" "$WORK/sidecar"
export PATH="$ROOT/node_modules/.bin:$PATH"
export AWS_ACCESS_KEY_ID=moorage-test
AWS_SECRET_ACCESS_KEY=$(node -p 'require("node:crypto").randomBytes(20).toString("hex")')
export AWS_SECRET_ACCESS_KEY
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3

# Another program may take the free port before the gateway does: then another port is used.
for _ in 1 2 3; do
  PORT=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY "$GATEWAY" \
    --port "127.0.0.1:$PORT" --health /health --quiet --virtual-domain "s3.localhost:$PORT" posix --sidecar "$WORK/sidecar" "$WORK/root" \
    >"$WORK/gateway.log" 2>&1 </dev/null &
  PIDS=("$!")
  for _ in $(seq 300); do
    kill -0 "${PIDS[0]}" 2>/dev/null || { PIDS=(); break; }
    if node -e 'fetch(process.argv[1]).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "http://127.0.0.1:$PORT/health"; then break 2; fi
    sleep 0.1
  done
  [ "${#PIDS[@]}" -eq 0 ] || { kill -KILL "${PIDS[0]}" 2>/dev/null || true; PIDS=(); }
done
[ "${#PIDS[@]}" -gt 0 ] || { tail -n 5 "$WORK/gateway.log"; echo "versity: the gateway did not start"; exit 1; }

export MOORAGE_TEST_S3_URL="s3://blobs/test?endpoint=http://127.0.0.1:$PORT&region=us-east-1&style=path"
export MOORAGE_TEST_S3_VIRTUAL_URL="s3://blobs/test?endpoint=http://s3.localhost:$PORT&region=us-east-1&style=virtual"
"$@"
