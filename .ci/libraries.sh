#!/usr/bin/env bash
# Real clients of libraries against a real server on loopback: npm, pnpm, yarn, bun; pip, twine, uv, poetry; Maven, Gradle.
#   .ci/libraries.sh        .ci/libraries.sh npm pip
# Each publishes and installs with empty caches of its own; what it installs comes from the server alone.
# Exit status 77: a client is not available on this machine (a line says which, and why); the checks of the others have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
ALL="npm pnpm yarn bun pip uv poetry python_upstream maven maven_upstream gradle"
# shellcheck disable=SC2086 # one word for each client
[ $# -gt 0 ] || set -- $ALL
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
# shellcheck source=.ci/clients/python-upstream.sh
. "$ROOT/.ci/clients/python-upstream.sh"
# shellcheck source=.ci/clients/maven-upstream.sh
. "$ROOT/.ci/clients/maven-upstream.sh"

# shellcheck source=.ci/clients/library-programs.sh
. "$ROOT/.ci/clients/library-programs.sh"
prepare_python_upstream
prepare_maven_upstream

# Upstreams are on loopback.
export MOORAGE_ALLOW_PRIVATE_NETWORK=1
# Groups may be public.
export MOORAGE_PUBLIC_GROUPS=1
start_server
ORG=$(bootstrap organization.name)
PUSH=$(moorage push-token create --data-dir "$DATA" --group "$ORG" --name ci --json | json password)
PULL=$(moorage pull-token create --data-dir "$DATA" --group "$ORG" --name ci --json | json password)
own_settings

# A public group, whose libraries are read without a log-in.
OPEN="$ORG/open"
moorage groups create "$OPEN" >/dev/null
moorage bindings create "$OPEN" --identity-uid everybody --role-uid registry.pull >/dev/null

# npmrc PASSWORD: the configuration of a folder's npm, pnpm, yarn and bun.
npmrc() { printf 'registry=%s/npm/%s/\n//%s/npm/%s/:_authToken=%s\n' "$URL" "$ORG" "$HOST" "$ORG" "$1" >.npmrc; }

check_npm() {
  mkdir -p lib app && cd lib
  echo '{"name": "@ci/lib", "version": "1.0.0", "main": "i.js"}' >package.json && echo 'module.exports = 41' >i.js
  npmrc "$PUSH"
  does "npm: a package is published" npm publish --silent
  refused "npm: it is not published again" "previously published" npm publish
  echo '{"name": "ci-top", "version": "2.0.0", "main": "i.js", "dependencies": {"@ci/lib": "^1.0.0"}}' >package.json
  echo 'module.exports = require("@ci/lib") + 1' >i.js
  does "npm: one that depends on it is published" npm publish --silent
  cd ../app && echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json && npmrc "$PULL"
  does "npm: both are installed by name" npm install --silent --cache "$PWD/c1" ci-top
  same "npm: and work" "$(node -p 'require("ci-top")')" 42
  rm -rf node_modules
  does "npm: and by the lock file, with an empty cache" npm ci --silent --cache "$PWD/c2"
  mkdir ../open ../anybody && cd ../open
  echo '{"name": "ci-open", "version": "1.0.0", "main": "i.js"}' >package.json && echo 'module.exports = 43' >i.js
  printf 'registry=%s/npm/%s/\n//%s/npm/%s/:_authToken=%s\n' "$URL" "$OPEN" "$HOST" "$OPEN" "$PUSH" >.npmrc
  does "npm: a package is published in a public group" npm publish --silent
  cd ../anybody && echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json
  echo "registry=$URL/npm/$OPEN/" >.npmrc
  does "npm: and installed without a log-in" npm install --silent --cache "$PWD/c3" ci-open
  same "npm: and works" "$(node -p 'require("ci-open")')" 43
  echo "registry=$URL/npm/$ORG/" >.npmrc
  refused "npm: a package of the group above is not" "E401\|E403\|E404" npm install --cache "$PWD/c4" ci-top
  cd ../app
  refused "npm: a pull token publishes nothing" "403" bash -c 'cd ../lib && cp ../app/.npmrc . && sed -i s/2.0.0/3.0.0/ package.json && npm publish'
}

# installed_by CLIENT COMMAND…: what npm published is installed by another client.
installed_by() {
  local client=$1
  shift
  [ -x "$BUILT/node_modules/.bin/$client" ] || { missing "$client" "its package could not be installed"; return; }
  echo '{"name": "app", "version": "1.0.0", "private": true, "dependencies": {"ci-top": "2.0.0"}}' >package.json && npmrc "$PULL"
  # Version 1 of yarn sends a token for packages without a scope only with this setting.
  [ "$client" != yarn ] || echo 'always-auth=true' >>.npmrc
  does "$client: packages are installed by name" "$BUILT/node_modules/.bin/$client" install "$@"
  same "$client: and work" "$(node -p 'require("ci-top")')" 42
  rm -rf node_modules
  does "$client: and by the lock file" "$BUILT/node_modules/.bin/$client" install --frozen-lockfile "$@"
}
check_pnpm() { installed_by pnpm --store-dir "$PWD/store" --config.cache-dir="$PWD/cache"; }
check_yarn() { installed_by yarn --silent --cache-folder "$PWD/cache"; }
check_bun() { BUN_INSTALL_CACHE_DIR="$PWD/cache" installed_by bun; }

# project NAME VERSION: a wheel and a source distribution of a Python project in dist/.
project() {
  mkdir -p src/"${1//-/_}" && echo "answer = 42" >src/"${1//-/_}"/__init__.py
  printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "%s"\nversion = "%s"\nrequires-python = ">=3.8"\n' "$1" "$2" >pyproject.toml
  rm -rf dist
  "$PY/python" -m build --no-isolation >"$WORK/build.log" 2>&1 || { tail "$WORK/build.log"; fail "$1: is built"; }
}
has_python() { [ -x "$PY/twine" ] || { missing "$1" "Python and its packages could not be installed"; return 1; }; }
INDEX() { echo "http://any:$PULL@$HOST/pypi/$ORG/simple/"; }

check_pip() {
  has_python pip || return 0
  project ci-lib 1.0
  export TWINE_USERNAME=any TWINE_PASSWORD=$PUSH
  does "twine: a wheel and its sources are uploaded" "$PY/twine" upload --non-interactive --repository-url "$URL/pypi/$ORG/legacy/" dist/*
  does "twine: the same files again are taken" "$PY/twine" upload --non-interactive --repository-url "$URL/pypi/$ORG/legacy/" dist/*
  echo 'answer = 43' >src/ci_lib/__init__.py && rm -rf dist build && "$PY/python" -m build --no-isolation --wheel >/dev/null 2>&1
  refused "twine: other bytes of the same name are not" "already exists" "$PY/twine" upload --non-interactive --repository-url "$URL/pypi/$ORG/legacy/" dist/*
  does "pip: the project is installed" "$PY/pip" install --no-cache-dir --index-url "$(INDEX)" --target installed ci-lib
  same "pip: and works" "$(PYTHONPATH=installed "$PY/python" -c 'import ci_lib; print(ci_lib.answer)')" 42
  "$PY/pip" download -q --no-cache-dir --no-deps --index-url "$(INDEX)" -d files ci-lib
  printf 'ci-lib==1.0 --hash=sha256:%s\n' "$(sha256sum files/*.whl | cut -d' ' -f1)" >requirements.txt
  does "pip: and by its hash" "$PY/pip" install --no-cache-dir --require-hashes --index-url "$(INDEX)" --target hashed -r requirements.txt
  project ci-open 1.0
  does "twine: a project is uploaded to a public group" "$PY/twine" upload --non-interactive --repository-url "$URL/pypi/$OPEN/legacy/" dist/*
  does "pip: and installed without a log-in" "$PY/pip" install --no-cache-dir --no-input --index-url "$URL/pypi/$OPEN/simple/" --target opened ci-open
  same "pip: and works" "$(PYTHONPATH=opened "$PY/python" -c 'import ci_open; print(ci_open.answer)')" 42
  refused "pip: a project of the group above is not" "No matching distribution\|401\|403" "$PY/pip" install --no-cache-dir --no-input --index-url "$URL/pypi/$ORG/simple/" --target closed ci-lib
}

check_uv() {
  has_python uv || return 0
  project ci-uv 2.0
  does "uv: a project is published" "$PY/uv" publish --publish-url "$URL/pypi/$ORG/legacy/" --username any --password "$PUSH" dist/*
  mkdir app && cd app
  printf '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.8"\ndependencies = ["ci-uv"]\n[[tool.uv.index]]\nname = "acme"\nurl = "%s/pypi/%s/simple/"\ndefault = true\n' "$URL" "$ORG" >pyproject.toml
  export UV_INDEX_ACME_USERNAME=any UV_INDEX_ACME_PASSWORD=$PULL UV_CACHE_DIR=$PWD/cache UV_PYTHON=$PY/python
  does "uv: it is installed, and locked" "$PY/uv" sync
  rm -rf .venv cache
  does "uv: and by the lock file" "$PY/uv" sync --locked
  same "uv: and works" "$("$PY/uv" run --no-sync python -c 'import ci_uv; print(ci_uv.answer)')" 42
}

check_poetry() {
  has_python poetry || return 0
  project ci-poetry 3.0
  does "poetry: a project is uploaded" "$PY/twine" upload --non-interactive -u any -p "$PUSH" --repository-url "$URL/pypi/$ORG/legacy/" dist/*
  mkdir app && cd app
  printf '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.9"\ndependencies = ["ci-poetry"]\n[tool.poetry]\npackage-mode = false\n[[tool.poetry.source]]\nname = "acme"\nurl = "%s/pypi/%s/simple/"\npriority = "primary"\n' "$URL" "$ORG" >pyproject.toml
  export POETRY_HTTP_BASIC_ACME_USERNAME=any POETRY_HTTP_BASIC_ACME_PASSWORD=$PULL POETRY_CACHE_DIR=$PWD/cache POETRY_VIRTUALENVS_IN_PROJECT=true PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring
  does "poetry: it is locked" "$PY/poetry" lock --no-interaction
  does "poetry: and installed by the lock file" "$PY/poetry" install --no-interaction --no-root
  same "poetry: and works" "$(.venv/bin/python -c 'import ci_poetry; print(ci_poetry.answer)')" 42
}

check_maven() {
  command -v mvn >/dev/null || { missing maven "no mvn on PATH: apt-get install maven"; return 0; }
  local properties='<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>'
  local place="<id>acme</id><url>$URL/maven/$ORG/-/</url>" head='<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.example.ci</groupId>'
  printf '<settings><servers><server><id>acme</id><username>any</username><password>%s</password></server></servers></settings>' "$PUSH" >push.xml
  printf '<settings><servers><server><id>acme</id><username>any</username><password>%s</password></server></servers></settings>' "$PULL" >pull.xml
  mkdir -p lib/src/main/java app/src/main/java
  echo 'public class Answer { public static int of() { return 42; } }' >lib/src/main/java/Answer.java
  echo 'public class App { int answer = Answer.of(); }' >app/src/main/java/App.java
  pom() { printf '%s<artifactId>lib</artifactId><version>%s</version>%s<distributionManagement><repository>%s</repository><snapshotRepository>%s</snapshotRepository></distributionManagement></project>' "$head" "$1" "$properties" "$place" "$place" >lib/pom.xml; }
  # Maven's own plugins come from where this machine has them; projects come from the server.
  local mvn=(timeout 300 mvn -q -B "-Dmaven.repo.local=$WORK/m2")
  pom 1.0
  "${mvn[@]}" -s push.xml -f lib/pom.xml deploy >"$WORK/out.log" 2>&1 || {
    if grep -q "PluginResolutionException\|plugins could not be resolved" "$WORK/out.log"; then missing maven "its plugins are not to be had here"; return 0; fi
    tail -n 20 "$WORK/out.log"; fail "maven: a release is deployed"
  }
  ok "maven: a release is deployed"
  pom 1.1-SNAPSHOT
  does "maven: a snapshot is deployed" "${mvn[@]}" -s push.xml -f lib/pom.xml deploy
  does "maven: and once more" "${mvn[@]}" -s push.xml -f lib/pom.xml deploy
  for version in 1.0 1.1-SNAPSHOT; do
    rm -rf "$WORK/m2/org/example"
    printf '%s<artifactId>app</artifactId><version>1.0</version>%s<repositories><repository>%s<snapshots><enabled>true</enabled></snapshots></repository></repositories><dependencies><dependency><groupId>org.example.ci</groupId><artifactId>lib</artifactId><version>%s</version></dependency></dependencies></project>' "$head" "$properties" "$place" "$version" >app/pom.xml
    does "maven: $version is resolved, its sums checked, and compiled against" "${mvn[@]}" -C -s pull.xml -f app/pom.xml compile
  done
}

check_gradle() {
  command -v gradle >/dev/null || { missing gradle "no gradle on PATH: apt-get install gradle"; return 0; }
  # Nothing is compiled: neither plugins nor a certain JDK are needed. Newer versions take plain http only by a property.
  local place="maven { url = uri('$URL/maven/$ORG/-/'); credentials { username = 'any'; password = System.getenv('PASSWORD') }; if (delegate.hasProperty('allowInsecureProtocol')) allowInsecureProtocol = true }"
  local gradle=(timeout 300 gradle -q --no-daemon --console=plain)
  mkdir lib app
  echo "rootProject.name = 'gradle-lib'" >lib/settings.gradle && echo 42 >lib/lib.jar
  cat >lib/build.gradle <<END
apply plugin: 'maven-publish'
group = 'org.example.ci'
version = '1.0'
publishing {
  publications { lib(MavenPublication) { artifactId = 'gradle-lib'; artifact(file('lib.jar')) { extension = 'jar' } } }
  repositories { $place }
}
END
  if PASSWORD=$PUSH "${gradle[@]}" -g "$PWD/g1" -p lib publish >"$WORK/out.log" 2>&1; then
    ok "gradle: a release is published"
    echo 43 >lib/lib.jar
    PASSWORD=$PUSH refused "gradle: other bytes of the same version are not" "409" "${gradle[@]}" -g "$PWD/g1" -p lib publish
  else
    # Debian's Gradle 4.4.1 was built without what it publishes by.
    grep -q "using the available connector factories" "$WORK/out.log" || { tail -n 20 "$WORK/out.log"; fail "gradle: a release is published"; }
    echo "libraries: gradle: publishing not run: this Gradle publishes to no HTTP repository; curl does it instead"
    echo '<project><modelVersion>4.0.0</modelVersion><groupId>org.example.ci</groupId><artifactId>gradle-lib</artifactId><version>1.0</version></project>' >lib/lib.pom
    for file in lib.jar lib.pom; do
      curl -fsS -u "any:$PUSH" -T "lib/$file" "$URL/maven/$ORG/-/org/example/ci/gradle-lib/1.0/gradle-lib-1.0.${file#lib.}"
    done
  fi
  echo "rootProject.name = 'app'" >app/settings.gradle
  cat >app/build.gradle <<END
repositories { $place }
configurations { got }
dependencies { got 'org.example.ci:gradle-lib:1.+' }
task fetch(type: Copy) { from configurations.got; into 'got' }
END
  PASSWORD=$PULL does "gradle: it is resolved by a range, with an empty cache" "${gradle[@]}" -g "$PWD/g2" -p app fetch
  same "gradle: and is what was published" "$(cat app/got/gradle-lib-1.0.jar)" 42
}

for name in "$@"; do
  mkdir "$WORK/$name"
  cd "$WORK/$name"
  "check_$name"
done
echo "libraries: $PASSED checks passed"
[ "${#MISSING[@]}" -eq 0 ] || { echo "libraries: not run: ${MISSING[*]}"; exit 77; }
