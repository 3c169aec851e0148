#!/usr/bin/env bash
# Packages that npm has published to a real verdaccio on loopback move in, and npm installs them from here.
# Exit status 77: verdaccio is not available on this machine (a line says why).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
VERDACCIO=$(readlink -f "$("$ROOT/.ci/tools.sh" verdaccio)")
PORT=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
OLD=http://127.0.0.1:$PORT
cd "$WORK"
cat >verdaccio.yaml <<END
storage: $WORK/storage
auth: {htpasswd: {file: $WORK/htpasswd, max_users: 10}}
packages: {"**": {access: "\$authenticated", publish: "\$authenticated", unpublish: "\$authenticated"}}
log: {type: stdout, format: json, level: fatal}
END
node "$VERDACCIO" -c verdaccio.yaml -l "127.0.0.1:$PORT" >verdaccio.log 2>&1 &
PIDS+=("$!")
for _ in $(seq 300); do
  curl -fs -m 5 -o /dev/null "$OLD/-/ping" && break
  sleep 0.2
done
curl -fsS -m 20 -o /dev/null -X PUT -H "Content-Type: application/json" -d '{"name": "root", "password": "a-password"}' "$OLD/-/user/org.couchdb.user:root"
printf a-password >password
npmrc() { printf 'registry=%s/\n%s/:%s\nfund=false\nupdate-notifier=false\n' "$1" "${1#*:}" "$2" >"$WORK/npmrc"; }
export npm_config_userconfig="$WORK/npmrc" npm_config_cache="$WORK/cache"

npmrc "$OLD" "_auth=$(printf root:a-password | base64)"
publish() {
  mkdir -p "$WORK/package" && cd "$WORK/package"
  printf '{"name": "%s", "version": "%s", "main": "index.js"}' "$1" "$2" >package.json
  printf 'module.exports = "%s";\n' "$2" >index.js
  npm publish --silent --tag "$3" >/dev/null
  cd "$WORK"
}
publish @acme/ui 1.0.0 latest
publish @acme/ui 1.1.0 latest
publish @acme/ui 2.0.0-rc.1 next
publish tool 0.1.0 latest
npm deprecate --silent @acme/ui@1.0.0 "use 1.1.0" >/dev/null 2>&1
npm dist-tag add @acme/ui@1.0.0 stable >/dev/null
seen() { npm view --json "$1" versions dist-tags time | node -e 'const v = JSON.parse(require("node:fs").readFileSync(0)); delete v.time.modified; console.log(JSON.stringify([v.versions, Object.entries(v["dist-tags"]).sort(), v.time]))'; }
sums() { for v in 1.0.0 1.1.0 2.0.0-rc.1; do npm view "@acme/ui@$v" dist.integrity deprecated; done; }
THERE=$(seen @acme/ui; seen tool; sums)

start_server
ORG=$(bootstrap organization.name)
moorage groups create "$ORG/old" >/dev/null
does "a verdaccio is planned" moorage import-from verdaccio "$OLD" --into "$ORG/old" --plan plan.json --username root --password-file password
does "and applied" moorage import-from verdaccio "$OLD" --into "$ORG/old" --apply plan.json --pull-username root --pull-password-file password
does "and once more" moorage import-from verdaccio "$OLD" --into "$ORG/old" --apply plan.json --pull-username root --pull-password-file password
says "which has nothing to do" "versions  0     4 "
npmrc "$URL/npm/$ORG/old" "_authToken=$REGISTRY_TOKEN"
same "versions, tags, times, sums and deprecations are those of before" "$(seen @acme/ui; seen tool; sums)" "$THERE"
mkdir app && cd app && echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json
does "npm installs them" npm install --silent --no-audit @acme/ui tool
same "and they work" "$(node -p 'require("@acme/ui") + require("tool")')" "1.1.00.1.0"
echo "move-packages: $PASSED checks passed"
