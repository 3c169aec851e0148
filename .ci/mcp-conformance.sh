#!/usr/bin/env bash
# The conformance program of MCP against /mcp, in both versions of the protocol, and the metadata of the issuer. What the
# server cannot pass is in packages/server/test/conformance/mcp-expected-failures.yaml, with the reasons; a scenario
# there that passes is a failure too.
#
# Needs the npm registry once. Exit status 77: the program is not available on this machine, so nothing was tested.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
# The first version with scenarios for 2026-07-28. It brings 120 packages, so it is no dependency.
VERSION=${MCP_CONFORMANCE_VERSION:-0.2.0-alpha.12}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/moorage/mcp-conformance-$VERSION
PROGRAM=$CACHE/node_modules/@modelcontextprotocol/conformance/dist/index.js
EXPECTED=$ROOT/packages/server/test/conformance/mcp-expected-failures.yaml
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"

if [ ! -f "$PROGRAM" ]; then
  mkdir -p "$CACHE"
  if ! npm install --prefix "$CACHE" --no-audit --no-fund --ignore-scripts "@modelcontextprotocol/conformance@$VERSION" >"$WORK/install.log" 2>&1; then
    tail -n 3 "$WORK/install.log"
    echo "mcp-conformance: not run: the npm registry does not give out @modelcontextprotocol/conformance@$VERSION"
    exit 77
  fi
fi

# The program sends no token, so a proxy adds it: clients see the server under the proxy's URL.
PORTS=$(node -e 'const s = [0, 0].map(() => require("node:net").createServer().listen(0, "127.0.0.1")); setTimeout(() => { console.log(s.map((one) => one.address().port).join(" ")); s.forEach((one) => one.close()) }, 100)')
read -r SERVER_PORT PROXY_PORT <<<"$PORTS"
export MOORAGE_BASE_URL=http://localhost:$PROXY_PORT MOORAGE_REGISTRY_URL=http://localhost:$PROXY_PORT
start_server "$SERVER_PORT"
MOORAGE_TOKEN=$PLATFORM_TOKEN node "$ROOT/.ci/mcp-proxy.ts" "$SERVER_PORT" "$PROXY_PORT" >"$WORK/proxy.log" 2>&1 </dev/null &
PIDS+=("$!")
for _ in $(seq 100); do if grep -q http "$WORK/proxy.log"; then break; fi; sleep 0.1; done

STATUS=0
for REVISION in 2026-07-28 2025-11-25; do
  timeout 120 node "$PROGRAM" server --url "$URL/mcp" --requirements "$REVISION" \
    --expected-failures "$EXPECTED" --output-dir "$WORK/results-$REVISION" >"$WORK/$REVISION.log" 2>&1 || STATUS=1
  echo "mcp-conformance: $REVISION: $(grep -c '^✓' "$WORK/$REVISION.log" || true) scenarios passed; $(grep '^Total' "$WORK/$REVISION.log" || true)"
done
timeout 60 node "$PROGRAM" authorization --url "$URL" --scenario authorization-server-metadata-endpoint \
  --output-dir "$WORK/results-issuer" >"$WORK/issuer.log" 2>&1 || STATUS=1
echo "mcp-conformance: issuer: $(grep '^Passed' "$WORK/issuer.log" || true)"
if [ "$STATUS" -ne 0 ]; then
  grep -A 20 'not in baseline\|Stale\|stale' "$WORK"/2026-07-28.log "$WORK"/2025-11-25.log || true
  tail -n 8 "$WORK/issuer.log"
  echo "mcp-conformance: failed"
  exit 1
fi
echo "mcp-conformance: passed"
