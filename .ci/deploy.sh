#!/usr/bin/env bash
# Checks deploy/ without a container engine: lays out the content of the image and starts it, lints the Dockerfile,
# loads the compose file and the proxy's, renders the Helm chart with each of .ci/chart/*.yaml, validates the result,
# and checks that wrong values are rejected. Plays the rules of Prometheus, and checks systemd's unit.
#
# Exit status 77: a tool is not available on this machine (a line says which); all checks without it have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
export PATH="$ROOT/node_modules/.bin:$PATH"
CHART=deploy/helm/moorage
# The oldest Kubernetes of Chart.yaml, and the newest that the schemas support.
KUBERNETES="1.30 1.37"

# shellcheck source=.ci/cleanup.sh
. "$ROOT/.ci/cleanup.sh"

MISSING=0
# tool NAME: sets TOOL to its path; false when it is not available.
tool() {
  local status=0
  TOOL=$(.ci/tools.sh "$1") || status=$?
  [ "$status" -ne 77 ] || MISSING=1
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit "$status"
  return "$status"
}
ok() { echo "ok - $1"; }
fail() { echo "not ok - $1"; exit 1; }

# The commands of the Dockerfile, without its base image: nothing is there but what it copies and what npm installs.
mkdir "$WORK/context"
sed -n '/--from/d; s/^COPY \(.*\) [^ ]*$/\1/p' deploy/Dockerfile | tr ' ' '\n' >"$WORK/copied"
tar -cf - --exclude='*.test.ts' --exclude='packages/*/test' --exclude='packages/console/dist' -T "$WORK/copied" | tar -xf - -C "$WORK/context"
cp -al node_modules "$WORK/context/" 2>/dev/null || cp -a node_modules "$WORK/context/"
"$WORK/context/deploy/image/assemble.sh" "$WORK/image" >"$WORK/assemble.log" 2>&1 || { tail -n 20 "$WORK/assemble.log"; fail "what the image holds is laid out"; }
PORT=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
healthy() { MOORAGE_PORT=$PORT timeout 10 node "$WORK/image/health.mjs"; }
! healthy || fail "the health check fails where nothing answers"
mkdir "$WORK/data"
(cd "$WORK/data" && exec env -i PATH="$PATH" NODE_ENV=production MOORAGE_PORT="$PORT" MOORAGE_DATA_DIR="$WORK/data" "$WORK/image/bin/moorage" serve) >"$WORK/server.log" 2>&1 &
PIDS=("$!")
for _ in $(seq 600); do healthy && break; kill -0 "${PIDS[0]}" 2>/dev/null || break; sleep 0.2; done
healthy || { tail -n 20 "$WORK/server.log"; fail "what the image holds serves, and its health check passes"; }
env -i PATH="$PATH" MOORAGE_DATA_DIR="$WORK/data" timeout 20 "$WORK/image/bin/moorage" token | grep -q '^ey.*\..*\.' || fail "moorage token works in the image"
if tool caddy; then
  caddy() { env -i HOME="$WORK" SITE_ADDRESS="$address" "$TOOL" "$@" --adapter caddyfile --config deploy/Caddyfile; }
  for address in registry.example.com :8080; do
    caddy validate >"$WORK/caddy.log" 2>&1 || { cat "$WORK/caddy.log"; fail "the proxy takes its configuration"; }
  done
  "$TOOL" fmt --diff deploy/Caddyfile >/dev/null || fail "deploy/Caddyfile is formatted"
  caddy adapt >"$WORK/caddy.json" 2>/dev/null
  timeout 60 node .ci/check-proxy.ts "$TOOL" "$WORK/caddy.json" "$PORT" || fail "the proxy passes REST, the registry and gRPC on"
  ok "caddy: deploy/Caddyfile, and the server behind it"
fi

kill -TERM "${PIDS[0]}"
STATUS=0
wait "${PIDS[0]}" || STATUS=$?
PIDS=()
[ "$STATUS" -eq 0 ] || fail "SIGTERM ends it with status 0, not $STATUS"
ok "what the image holds serves, is healthy and ends ($(du -sm "$WORK/image" | cut -f1) MB beside the base image)"

if tool hadolint; then
  "$TOOL" deploy/Dockerfile || fail "hadolint"
  ok "hadolint: deploy/Dockerfile"
fi

if tool compose-go; then
  # The validator does not resolve variables: each gets its default, a secret its own name. scripts/deploy.test.ts
  # checks the variables.
  mkdir "$WORK/compose"
  sed -E -e 's/\$\{[A-Z0-9_]+:-([^}]*)\}/\1/g' -e 's/\$\{([A-Z0-9_]+):\?[^}]*\}/\1/g' deploy/compose.yaml >"$WORK/compose/compose.yaml"
  ! grep -n '\${' "$WORK/compose/compose.yaml" || fail "every variable of the compose file has a default or is required"
  compose() { (cd "$WORK/compose" && "$TOOL" --no-interpolation --format json compose.yaml) >"$WORK/compose.json" 2>"$WORK/compose.log"; }
  compose || { cat "$WORK/compose.log"; fail "the compose file loads"; }
  node -e 'if (JSON.parse(require("fs").readFileSync(process.argv[1])).services.moorage.deploy.replicas !== 2) process.exit(1)' "$WORK/compose.json" || fail "two replicas"
  sed -i 's/^    deploy:$/    deploys:/' "$WORK/compose/compose.yaml"
  ! compose || fail "a word that the Compose Specification does not know is refused"
  ok "compose: deploy/compose.yaml"
fi

if tool helm; then
  HELM=$TOOL
  mkdir "$WORK/rendered"
  for values in .ci/chart/*.yaml; do
    name=$(basename "$values" .yaml)
    "$HELM" lint --strict --quiet "$CHART" --values "$values" || fail "helm lint with $values"
    for version in $KUBERNETES; do
      "$HELM" template moorage "$CHART" --values "$values" --kube-version "$version.0" >"$WORK/rendered/$name-$version.yaml" || fail "helm template with $values"
    done
  done
  node .ci/check-chart.ts "$WORK"/rendered/*.yaml
  grep -q 'runbook_url: https://docs.example.com/moorage/docs/operations.md#mooragedown' "$WORK"/rendered/everything-*.yaml || fail "alerts lead to their run-books"
  ok "helm: $CHART renders to what fits together"

  # refused MESSAGE VALUE…: the embedded values with these added must be rejected with that message.
  refused() {
    local message=$1 arguments=()
    shift
    for value in "$@"; do arguments+=(--set "$value"); done
    ! "$HELM" template moorage "$CHART" --values .ci/chart/embedded.yaml "${arguments[@]}" >/dev/null 2>"$WORK/refused.log" || fail "$* is refused"
    grep -qF -- "$message" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "$* is refused with: $message"; }
  }
  refused "baseUrl: is required" baseUrl=
  refused "replicas: embedded mode has one" replicas=2
  refused "autoscaling.enabled: embedded mode has one" autoscaling.enabled=true
  refused "secrets.databaseUrl: belongs to mode: replicated" secrets.databaseUrl=postgres://a:b@c/d
  refused "blobs.url: is required" mode=replicated
  refused "secrets.databaseUrl: is required" mode=replicated blobs.url=s3://bucket
  refused "secrets.secretKey: is required" mode=replicated blobs.url=s3://bucket secrets.databaseUrl=postgres://a:b@c/d
  refused "secrets.existingSecret: has the secrets" secrets.existingSecret=a secrets.secretKey=b
  refused "one is of no use without the other" secrets.awsAccessKeyId=a
  refused "metrics.networks: is required" metrics.serviceMonitor.enabled=true metrics.networks=null
  refused "settings.MOORAGE_DATABASE_URL: the chart sets it; its value is secrets.databaseUrl" settings.MOORAGE_DATABASE_URL=postgres://a:b@c/d
  refused "'/mode': value must be one of" mode=other
  refused "'/baseUrl'" baseUrl=https://registry.example.com/path
  refused "additional properties 'replica' not allowed" replica=2
  ok "helm: wrong values are refused by name"

  if tool kubernetes-validate; then
    for version in $KUBERNETES; do
      "$TOOL" --strict --quiet -k "$version" "$WORK"/rendered/*-"$version".yaml >"$WORK/validate.log" 2>&1 || { cat "$WORK/validate.log"; fail "Kubernetes $version takes what is rendered"; }
      # The schemas of Kubernetes do not include the kinds of the Prometheus operator.
      ! grep -v "schema for kind \(ServiceMonitor\|PrometheusRule\)" "$WORK/validate.log" || fail "every kind has a schema"
    done
    ok "kubernetes-validate: strictly, for Kubernetes $KUBERNETES"
  fi
fi

if tool promtool; then
  PROMTOOL=$TOOL
  "$PROMTOOL" check rules deploy/prometheus/moorage.rules.yaml >"$WORK/rules.log" 2>&1 || { cat "$WORK/rules.log"; fail "promtool takes the rules"; }
  "$PROMTOOL" test rules deploy/prometheus/moorage.rules.test.yaml >"$WORK/rules.log" 2>&1 || { cat "$WORK/rules.log"; fail "alerts fire when they should, and only then"; }
  node .ci/dashboard-rules.ts deploy/grafana/*.json >"$WORK/dashboards.yaml"
  "$PROMTOOL" check rules "$WORK/dashboards.yaml" >"$WORK/rules.log" 2>&1 || { cat "$WORK/rules.log"; fail "promtool takes the expressions of the dashboards"; }
  ok "promtool: deploy/prometheus, and the expressions of deploy/grafana"
fi

if command -v systemd-analyze >/dev/null; then
  # The program must exist, and is elsewhere here.
  sed "s#^ExecStart=/usr/local/bin/moorage #ExecStart=$WORK/image/bin/moorage #" deploy/systemd/moorage.service >"$WORK/moorage.service"
  systemd-analyze verify "$WORK/moorage.service" >"$WORK/systemd.log" 2>&1 || { cat "$WORK/systemd.log"; fail "systemd takes the unit"; }
  [ ! -s "$WORK/systemd.log" ] || { cat "$WORK/systemd.log"; fail "systemd has nothing to say about the unit"; }
  # 0 is a service that may do nothing, 100 one that may do everything.
  systemd-analyze security --offline=true --threshold=20 "$WORK/moorage.service" >"$WORK/systemd.log" 2>&1 || { cat "$WORK/systemd.log"; fail "the unit may do no more than it needs"; }
  ok "systemd: deploy/systemd/moorage.service"
else
  echo "systemd-analyze: not available on this machine: deploy/systemd was not checked by it"
  MISSING=1
fi

[ "$MISSING" -eq 0 ] || { echo "deploy: not all was checked"; exit 77; }
echo "deploy: passed"
