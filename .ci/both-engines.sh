#!/usr/bin/env bash
# Runs a command with the engines that are not the default, a fresh PostgreSQL and the Versity S3 gateway, and stops
# both when it ends:
#
#   .ci/both-engines.sh .ci/clients.sh skopeo
#
# Sets MOORAGE_DATABASE_URL, MOORAGE_BLOBS_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Exit status 77: the gateway
# is not available on this machine, so the command was not run; otherwise the command's.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$ROOT/node_modules/.bin:$PATH"

[ $# -gt 0 ] || { echo "usage: .ci/both-engines.sh COMMAND…"; exit 2; }

# shellcheck disable=SC2016 # the inner shell reads it: only the gateway's script knows where the gateway listens
exec "$ROOT/.ci/versity.sh" bash -c 'MOORAGE_BLOBS_URL=$MOORAGE_TEST_S3_URL exec "$@"' both-engines node "$ROOT/.ci/postgres.ts" "$@"
