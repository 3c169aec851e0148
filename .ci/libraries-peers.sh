#!/usr/bin/env bash
# The same requests of npm's and PyPI's protocols to Moorage, verdaccio and devpi-server, all on loopback; each difference is one
# that docs/libraries-peers.md explains. --write writes that document.
# Exit status 77: a peer is not available on this machine (a line says which, and why).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$ROOT/node_modules/.bin:$PATH"
"$ROOT/.ci/tools.sh" verdaccio devpi-server >/dev/null
exec node "$ROOT/scripts/libraries-peers/main.ts" "$@"
