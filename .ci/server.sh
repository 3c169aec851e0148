# Sourced by the checks with real clients: a fresh server in a temporary folder, stopped and removed when the script
# ends, for whatever reason. Sets DATA (its folder), WORK (temporary files), URL, HOST (host:port), REGISTRY_TOKEN and
# PLATFORM_TOKEN.

export PATH="$ROOT/node_modules/.bin:$PATH"
# shellcheck source=.ci/cleanup.sh
. "$ROOT/.ci/cleanup.sh"
DATA="$WORK/data"

moorage() { node "$ROOT/packages/cli/bin/moorage.js" "$@"; }

# start_server [PORT]
start_server() {
  local pid
  export MOORAGE_HOST=127.0.0.1 MOORAGE_PORT="${1:-0}" MOORAGE_DATA_DIR="$DATA"
  node "$ROOT/packages/cli/bin/moorage.js" serve >"$WORK/server.log" 2>&1 </dev/null &
  pid=$!
  PIDS+=("$pid")
  for _ in $(seq 600); do
    if grep -q listening "$WORK/server.log" 2>/dev/null; then break; fi
    kill -0 "$pid" 2>/dev/null || { echo "the server did not start"; exit 1; }
    sleep 0.2
  done
  grep -q listening "$WORK/server.log" || { echo "the server was not ready within 120 s"; exit 1; }
  URL=$(bootstrap baseUrl)
  HOST=${URL#*://}
  HOST=${HOST%%/*}
  PLATFORM_TOKEN=$(moorage token)
  REGISTRY_TOKEN=$(moorage token --audience registry)
}

# One value of bootstrap.json by its dotted path.
bootstrap() {
  node -e 'let v = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")); for (const k of process.argv[2].split(".")) v = v[k]; console.log(v)' \
    "$DATA/bootstrap.json" "$1"
}

# One value of the JSON on standard input by its dotted path; empty when it is missing.
json() {
  node -e 'let t = ""; process.stdin.on("data", (d) => t += d).on("end", () => { let v = JSON.parse(t); for (const k of process.argv[1].split(".")) v = v?.[k]; console.log(v ?? "") })' "$1"
}
