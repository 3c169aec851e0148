#!/usr/bin/env bash
# Real clients install real packages from empty caches through the server, which has them from upstreams on loopback:
# verdaccio and devpi-server, filled from the package registries, and a Maven repository in a folder. Then the upstreams are
# ended, and lock files give the same from empty caches.
#   .ci/libraries-upstreams.sh        .ci/libraries-upstreams.sh npm pip
# Exit status 77: a client is not available on this machine (a line says which, and why); the checks of the others have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
ALL="npm pnpm yarn bun pip uv poetry maven"
# shellcheck disable=SC2086 # one word for each client
[ $# -gt 0 ] || set -- $ALL
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
# shellcheck source=.ci/clients/library-programs.sh
. "$ROOT/.ci/clients/library-programs.sh"
"$ROOT/.ci/tools.sh" verdaccio devpi-server >/dev/null

# What the upstreams hold, fetched once: packages with what they depend on; the plugins of a build and a library for it.
REAL=$BUILT/real
NPM_PACKAGES="chalk@4.1.2 ansi-styles@4.3.0 color-convert@2.0.1 color-name@1.1.4 supports-color@7.2.0 has-flag@4.0.0 is-odd@3.0.1 is-number@6.0.0 is-number@7.0.0 @sindresorhus/is@4.6.0"
PYPI_PROJECTS="python-dateutil==2.9.0.post0 six==1.17.0 idna==3.10"
LIBRARY='<groupId>commons-io</groupId><artifactId>commons-io</artifactId><version>2.11.0</version>'
app_pom() {
  printf '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>app</artifactId><version>1.0</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties><dependencies><dependency>%s</dependency></dependencies></project>' "$LIBRARY" >pom.xml
  mkdir -p src/main/java && echo 'class App { String name = org.apache.commons.io.FilenameUtils.getName("a/b"); }' >src/main/java/App.java
}
mkdir -p "$REAL/npm" "$REAL/pypi" "$REAL/m2"
# shellcheck disable=SC2086 # one word for each package
if [ ! -e "$REAL/npm.done" ] && npm pack --silent --pack-destination "$REAL/npm" $NPM_PACKAGES >"$REAL/npm.log" 2>&1; then touch "$REAL/npm.done"; fi
# shellcheck disable=SC2086
if [ ! -e "$REAL/pypi.done" ] && "$PY/pip" download -q --no-deps -d "$REAL/pypi" $PYPI_PROJECTS >"$REAL/pypi.log" 2>&1; then touch "$REAL/pypi.done"; fi
if [ ! -e "$REAL/m2.done" ] && command -v mvn >/dev/null; then
  mkdir -p "$REAL/app"
  if (cd "$REAL/app" && app_pom && timeout 300 mvn -q -B -Dmaven.repo.local="$REAL/m2" compile >"$REAL/m2.log" 2>&1); then touch "$REAL/m2.done"; fi
fi

own_settings
export MOORAGE_ALLOW_PRIVATE_NETWORK=1
start_server
ORG=$(bootstrap organization.name)
PULL=$(moorage pull-token create --data-dir "$DATA" --group "$ORG" --name ci --json | json password)
mkdir "$WORK/upstreams"
node "$ROOT/.ci/upstreams.ts" "$WORK/upstreams" "$REAL/npm" "$REAL/m2" >"$WORK/upstreams.json" 2>"$WORK/upstreams.log" </dev/null &
UPSTREAMS=$!
PIDS+=("$UPSTREAMS")
for _ in $(seq 600); do
  [ -s "$WORK/upstreams.json" ] && break
  kill -0 "$UPSTREAMS" 2>/dev/null || { cat "$WORK/upstreams.log"; fail "the upstreams start"; }
  sleep 0.2
done
upstream() { json "$1" <"$WORK/upstreams.json"; }
"$PY/twine" upload --non-interactive -u root -p bench-password --repository-url "$(upstream upload)" "$REAL"/pypi/* >"$WORK/out.log" 2>&1 || { cat "$WORK/out.log"; fail "devpi is filled"; }

# request METHOD PATH JSON: a request to the platform API; its answer.
request() { curl -fsS -m 20 -X "$1" -H "Authorization: Bearer $PLATFORM_TOKEN" -H "Content-Type: application/json" -d "$3" "$URL$2"; }
# behind GROUP_UID ECOSYSTEM UPSTREAM: gives the group an upstream.
behind() { request POST "/libraries/v2/upstreams/$1" "{\"ecosystem\": \"ECOSYSTEM_$2\", \"url\": \"$3\"}" >/dev/null; }
ORG_UID=$(bootstrap organization.uid)
COOL_UID=$(request POST "/iam/v2/groups/$ORG_UID" '{"name": "cool"}' | json uid)
for uid in "$ORG_UID" "$COOL_UID"; do
  behind "$uid" JAVASCRIPT "$(upstream npm)"
  behind "$uid" PYTHON "$(upstream pypi)"
  behind "$uid" JAVA "$(upstream maven)"
done
for ecosystem in JAVASCRIPT PYTHON JAVA; do
  request POST "/libraries/v2/artifactPolicies/$COOL_UID" "{\"ecosystem\": \"ECOSYSTEM_$ecosystem\", \"mode\": \"ENFORCE\"}" >/dev/null
done

# npmrc GROUP: the configuration of a folder's npm, pnpm, yarn and bun.
npmrc() { printf 'registry=%s/npm/%s/\n//%s/npm/%s/:_authToken=%s\n' "$URL" "$1" "$HOST" "$1" "$PULL" >.npmrc; }
index() { echo "http://any:$PULL@$HOST/pypi/$1/simple/"; }
USES='const [odd, chalk, is] = ["is-odd", "chalk", "@sindresorhus/is"].map((name) => require(name)); console.log(odd(3), chalk.stripColor?.("x") ?? typeof chalk.red, is.string("s"))'
app_json() { echo '{"name": "app", "version": "1.0.0", "private": true, "dependencies": {"chalk": "4.1.2", "is-odd": "3.0.1", "@sindresorhus/is": "4.6.0"}}' >package.json; }

# Each client has two functions: from_CLIENT installs by name through the upstream, locked_CLIENT by the lock file without it.
node_client() {
  local client=$1
  [ -x "$BUILT/node_modules/.bin/$client" ] || { missing "$client" "its package could not be installed"; return 1; }
  app_json && npmrc "$ORG"
  [ "$client" != yarn ] || echo 'always-auth=true' >>.npmrc
}
uses() { same "$1: and they work" "$(node -e "$USES")" "true function true"; }
# relocked CLIENT COMMAND…: installs once more with nothing of the first time but the lock file.
relocked() {
  local client=$1
  shift
  rm -rf node_modules cache store
  does "$client: the lock file gives the same without the upstream" "$@"
  uses "$client"
}

from_npm() {
  app_json && npmrc "$ORG"
  does "npm: packages of the upstream are installed" npm install --silent --no-audit --cache "$PWD/cache"
  uses npm
  refused "npm: a package that nobody has" "404" npm view --cache "$PWD/cache" moorage-nowhere
  mkdir cool && cd cool && echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json && npmrc "$ORG/cool"
  does "npm: under a cooldown is-number is installed" npm install --silent --no-audit --cache "$PWD/cache" is-number
  same "npm: which is the version before the young one" "$(node -p 'require("is-number/package.json").version')" 6.0.0
  refused "npm: the young one is not, by its number" "ETARGET\|notarget\|No matching version" npm install --no-audit --cache "$PWD/cache" is-number@7.0.0
  same "npm: nor by its URL" "$(curl -s -m 20 -o "$WORK/out.log" -w '%{http_code}' -H "Authorization: Bearer $PULL" "$URL/npm/$ORG/cool/is-number/-/is-number-7.0.0.tgz")" 403
  says "npm: with the reason" "is too young: it opens at"
  becomes "npm: which is in the list of blocks" '"version":"7.0.0"' "/libraries/v2/blocks"
}
locked_npm() { relocked npm npm ci --silent --no-audit --cache "$PWD/cache"; }

PNPM() { "$BUILT/node_modules/.bin/pnpm" install --store-dir "$PWD/store" --config.cache-dir="$PWD/cache" "$@"; }
from_pnpm() { node_client pnpm || return 0; does "pnpm: packages of the upstream are installed" PNPM; uses pnpm; }
locked_pnpm() { relocked pnpm PNPM --frozen-lockfile; }
YARN() { "$BUILT/node_modules/.bin/yarn" install --silent --cache-folder "$PWD/cache" "$@"; }
from_yarn() { node_client yarn || return 0; does "yarn: packages of the upstream are installed" YARN; uses yarn; }
locked_yarn() { relocked yarn YARN --frozen-lockfile; }
BUN() { BUN_INSTALL_CACHE_DIR="$PWD/cache" "$BUILT/node_modules/.bin/bun" install "$@"; }
from_bun() { node_client bun || return 0; does "bun: packages of the upstream are installed" BUN; uses bun; }
locked_bun() { relocked bun BUN --frozen-lockfile; }

has_python() { [ -x "$PY/twine" ] || { missing "$1" "Python and its packages could not be installed"; return 1; }; }
dates() { same "$1: and they work" "$($2 -c 'import dateutil.parser, six; print(dateutil.parser.parse("2020-01-02").year, six.PY3)')" "2020 True"; }

from_pip() {
  has_python pip || return 0
  does "pip: projects of the upstream are installed" "$PY/pip" install --no-cache-dir --index-url "$(index "$ORG")" --target installed python-dateutil
  PYTHONPATH=installed dates pip "$PY/python"
  "$PY/pip" download -q --no-cache-dir --index-url "$(index "$ORG")" -d files python-dateutil
  for file in files/*; do printf '%s --hash=sha256:%s\n' "$(basename "$file" | sed 's/_/-/; s/-\([0-9][^-]*\)-.*/==\1/')" "$(sha256sum "$file" | cut -d' ' -f1)"; done >requirements.txt
  # devpi does not say when files were uploaded: they count from when they were seen first.
  refused "pip: under a cooldown nothing is installed that was seen first now" "No matching distribution" "$PY/pip" install --no-cache-dir --index-url "$(index "$ORG/cool")" --target cool idna
  same "pip: which is answered with the reason" "$(curl -s -m 20 -o "$WORK/out.log" -w '%{http_code}' "$(index "$ORG/cool")idna/")" 409
  says "pip: in one line" "every version of idna is blocked: .* is too young"
}
locked_pip() {
  does "pip: requirements with hashes give the same without the upstream" "$PY/pip" install --no-cache-dir --require-hashes --index-url "$(index "$ORG")" --target again -r requirements.txt
  PYTHONPATH=again dates pip "$PY/python"
}

uv_sync() { UV_INDEX_ACME_USERNAME=any UV_INDEX_ACME_PASSWORD=$PULL UV_CACHE_DIR=$PWD/cache UV_PYTHON=$PY/python "$PY/uv" sync "$@"; }
from_uv() {
  has_python uv || return 0
  printf '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.9"\ndependencies = ["python-dateutil"]\n[[tool.uv.index]]\nname = "acme"\nurl = "%s/pypi/%s/simple/"\ndefault = true\n' "$URL" "$ORG" >pyproject.toml
  does "uv: projects of the upstream are installed, and locked" uv_sync
  dates uv .venv/bin/python
}
locked_uv() {
  rm -rf .venv cache
  does "uv: the lock file gives the same without the upstream" uv_sync --locked
  dates uv .venv/bin/python
}

poetry_run() { POETRY_HTTP_BASIC_ACME_USERNAME=any POETRY_HTTP_BASIC_ACME_PASSWORD=$PULL POETRY_CACHE_DIR=$PWD/cache POETRY_VIRTUALENVS_IN_PROJECT=true PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring "$PY/poetry" --no-interaction "$@"; }
from_poetry() {
  has_python poetry || return 0
  printf '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.9"\ndependencies = ["python-dateutil"]\n[tool.poetry]\npackage-mode = false\n[[tool.poetry.source]]\nname = "acme"\nurl = "%s/pypi/%s/simple/"\npriority = "primary"\n' "$URL" "$ORG" >pyproject.toml
  does "poetry: projects of the upstream are locked" poetry_run lock
  does "poetry: and installed" poetry_run install --no-root
  dates poetry .venv/bin/python
}
locked_poetry() {
  rm -rf .venv cache
  does "poetry: the lock file gives the same without the upstream" poetry_run install --no-root
  dates poetry .venv/bin/python
}

# Everything comes through the server, Maven's own plugins, too; sums are checked.
maven_build() { timeout 300 mvn -q -B -C -s settings.xml "-Dmaven.repo.local=$PWD/m2" compile; }
from_maven() {
  [ -e "$REAL/m2.done" ] || { missing maven "no mvn on PATH, or its plugins are not to be had here"; return 0; }
  app_pom
  printf '<settings><mirrors><mirror><id>acme</id><mirrorOf>*</mirrorOf><url>%s/maven/%s/-/</url></mirror></mirrors><servers><server><id>acme</id><username>any</username><password>%s</password></server></servers></settings>' "$URL" "$ORG" "$PULL" >settings.xml
  does "maven: a library and all plugins come from the upstream" maven_build
}
locked_maven() {
  rm -rf m2 target
  does "maven: and without the upstream, into an empty repository" maven_build
}

for name in "$@"; do
  mkdir "$WORK/$name"
  cd "$WORK/$name"
  "from_$name"
done
kill -TERM "$UPSTREAMS"
wait "$UPSTREAMS" || true
fails curl -s -m 5 -o /dev/null "$(upstream npm)" || fail "the upstreams have ended"
for name in "$@"; do
  [[ " ${MISSING[*]-} " != *" $name "* ]] || continue
  cd "$WORK/$name"
  "locked_$name"
done
echo "libraries-upstreams: $PASSED checks passed"
[ "${#MISSING[@]}" -eq 0 ] || { echo "libraries-upstreams: not run: ${MISSING[*]}"; exit 77; }
