#!/usr/bin/env bash
# Packages move in from real registries on loopback, and are installed from here: those that npm has published to
# verdaccio, and those that were uploaded to devpi-server.
#   .ci/move-packages.sh        .ci/move-packages.sh devpi
# Exit status 77: one of them is not available on this machine (a line says which, and why); the other's checks have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
[ $# -gt 0 ] || set -- verdaccio devpi

free_port() { node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
# answers URL: waits until something does, for a minute at most.
answers() {
  for _ in $(seq 300); do
    curl -fs -m 5 -o /dev/null "$1" && return
    sleep 0.2
  done
  fail "$1 answers"
}
# moves KIND ADDRESS GROUP: plans, applies, and applies once more.
moves() {
  moorage groups create "$ORG/$3" >/dev/null
  does "$1: a plan is made" moorage import-from "$1" "$2" --into "$ORG/$3" --plan "$1.json" --username root --password-file "$WORK/password"
  for once in "" " once more"; do
    does "$1: and applied$once" moorage import-from "$1" "$2" --into "$ORG/$3" --apply "$1.json" --pull-username root --pull-password-file "$WORK/password"
  done
}

cd "$WORK"
printf a-password >password

verdaccio_moves() {
  OLD=http://127.0.0.1:$(free_port)
  cat >verdaccio.yaml <<END
storage: $WORK/storage
auth: {htpasswd: {file: $WORK/htpasswd, max_users: 10}}
packages: {"**": {access: "\$authenticated", publish: "\$authenticated", unpublish: "\$authenticated"}}
log: {type: stdout, format: json, level: fatal}
END
  node "$(readlink -f "$1")" -c verdaccio.yaml -l "${OLD#*//}" >verdaccio.log 2>&1 &
  PIDS+=("$!")
  answers "$OLD/-/ping"
  curl -fsS -m 20 -o /dev/null -X PUT -H "Content-Type: application/json" -d '{"name": "root", "password": "a-password"}' "$OLD/-/user/org.couchdb.user:root"
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

  moves verdaccio "$OLD" old
  says "verdaccio: which has nothing to do" "versions  0     4 "
  npmrc "$URL/npm/$ORG/old" "_authToken=$REGISTRY_TOKEN"
  same "verdaccio: versions, tags, times, sums and deprecations are those of before" "$(seen @acme/ui; seen tool; sums)" "$THERE"
  mkdir app && cd app && echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json
  does "verdaccio: npm installs them" npm install --silent --no-audit @acme/ui tool
  same "verdaccio: and they work" "$(node -p 'require("@acme/ui") + require("tool")')" "1.1.00.1.0"
}

devpi_moves() {
  local bin
  bin=$(dirname "$(readlink -f "$1")")
  OLD=http://127.0.0.1:$(free_port)
  "$bin/devpi-init" --serverdir "$WORK/devpi" --no-root-pypi --root-passwd a-password >devpi-init.log 2>&1
  # Its key of tokens is slow to make on purpose.
  "$bin/devpi-server" --serverdir "$WORK/devpi" --host 127.0.0.1 --port "${OLD##*:}" --argon2-memory-cost 8 --argon2-parallelism 1 --argon2-time-cost 1 >devpi.log 2>&1 &
  PIDS+=("$!")
  answers "$OLD/+api"
  asked() { curl -fsS -m 30 -u root:a-password -H "Accept: application/json" "$@"; }
  index() { asked -o /dev/null -X PUT -H "Content-Type: application/json" -d "$2" "$OLD/$1"; }
  index root/pypi '{"type": "mirror", "mirror_url": "https://pypi.org/simple/", "mirror_no_project_list": true}'
  index root/dev '{"type": "stage", "bases": ["root/pypi"], "volatile": false}'
  index root/prod '{"type": "stage", "bases": ["root/dev"], "volatile": false}'
  wheel() {
    "$bin/python" - "$1" "$2" <<'END'
import sys, zipfile
name, version = sys.argv[1:]
stem = name.replace("-", "_")
info = f"{stem}-{version}.dist-info"
with zipfile.ZipFile(f"{stem}-{version}-py3-none-any.whl", "w") as file:
    file.writestr(f"{stem}.py", f'version = "{version}"\n')
    file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: moorage\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    file.writestr(f"{info}/RECORD", "")
END
  }
  sdist() {
    mkdir -p "$1-$2"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$1-$2/PKG-INFO"
    tar -czf "$1-$2.tar.gz" "$1-$2"
  }
  upload() { asked -o /dev/null -F :action=file_upload -F "name=$1" -F "version=$2" -F "content=@$3" "$OLD/root/dev/"; }
  wheel Hello-Py 1.0 && upload Hello-Py 1.0 Hello_Py-1.0-py3-none-any.whl
  sdist Hello-Py 1.0 && upload Hello-Py 1.0 Hello-Py-1.0.tar.gz
  wheel Hello-Py 1.1 && upload Hello-Py 1.1 Hello_Py-1.1-py3-none-any.whl
  sdist tool 0.1 && upload tool 0.1 tool-0.1.tar.gz
  asked -o /dev/null -X PUSH -H "Content-Type: application/json" -d '{"name": "hello-py", "version": "1.0", "targetindex": "root/prod"}' "$OLD/root/dev"
  # Every file by name, with its sum and when it was uploaded.
  there() { asked "$OLD/root/$1/$2?ignore_bases" | node -e 'const files = Object.values(JSON.parse(require("node:fs").readFileSync(0)).result).flatMap((v) => v["+links"] ?? []).filter(({ rel }) => rel === "releasefile"); const time = ([y, m, ...rest]) => new Date(Date.UTC(y, m - 1, ...rest)).toISOString(); console.log(files.map(({ href, hash_spec, hashes, log }) => [href.split("/").at(-1).split("#")[0], hashes?.sha256 ?? hash_spec.split("=")[1], time(log.find(({ what }) => what === "upload").when)].join(" ")).sort().join("\n"))'; }
  here() { curl -fsS -m 20 -u "any:$REGISTRY_TOKEN" -H "Accept: application/vnd.pypi.simple.v1+json" "$URL/pypi/$ORG/devpi/root/$1/simple/$2/" | node -e 'console.log(JSON.parse(require("node:fs").readFileSync(0)).files.map((f) => [f.filename, f.hashes.sha256, f["upload-time"]].join(" ")).sort().join("\n"))'; }

  moves devpi "$OLD" devpi
  says "devpi: which has nothing to do" "files      0     6 "
  for project in "dev hello-py" "dev tool" "prod hello-py"; do
    # shellcheck disable=SC2086 # an index and a project
    same "devpi: files, sums and times of $project are those of before" "$(here $project)" "$(there $project)"
  done
  same "devpi: its mirror is an upstream" "$(moorage upstreams list "$ORG/devpi/root/dev" -o json | json upstreams.0.url)" https://pypi.org/simple
  does "devpi: pip installs them" "$bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --no-deps --target app-py --index-url "http://any:$REGISTRY_TOKEN@$HOST/pypi/$ORG/devpi/root/dev/simple/" hello-py
  same "devpi: and they work" "$(PYTHONPATH=app-py "$bin/python" -c 'import Hello_Py; print(Hello_Py.version)')" 1.1
}

start_server
ORG=$(bootstrap organization.name)
MISSING=0
for kind in "$@"; do
  cd "$WORK"
  case $kind in verdaccio) tool=verdaccio ;; devpi) tool=devpi-server ;; *) fail "$kind: there are verdaccio and devpi" ;; esac
  status=0
  program=$("$ROOT/.ci/tools.sh" "$tool") || status=$?
  case $status in
    0) "${kind}_moves" "$program" ;;
    77) MISSING=77 ;;
    *) exit "$status" ;;
  esac
done
echo "move-packages: $PASSED checks passed"
exit "$MISSING"
