#!/usr/bin/env bash
# The Connect project's conformance runner against the server's gRPC: unary calls with binary messages over HTTP/2,
# clear and TLS, by its two clients. packages/server/test/conformance/ has the server it calls and its configuration.
#
# Needs Go and the Go module proxy. Exit status 77: the runner is not available on this machine, so nothing was tested.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
HERE=packages/server/test/conformance

MODULE=connectrpc.com/conformance
# The newest version whose dependencies were available when this was written. When changing it, read the release notes
# of the runner.
VERSION=${CONNECT_CONFORMANCE_VERSION:-v1.0.6}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/moorage/connect-conformance-$VERSION
RUNNER=$CACHE/connectconformance

command -v go >/dev/null || { echo "connect-conformance: not run: no go on PATH"; exit 77; }
# fetch COMMAND…: runs it outside of this repository; a module that the proxy does not provide is not a failure (status
# 77).
fetch() {
  if ! (cd "$CACHE" && GOWORK=off GOFLAGS=-mod=mod GOBIN="$CACHE" timeout 400 "$@") 2>"$CACHE/build.log"; then
    if grep -q "not available\|Forbidden\|Not Found\|no such host\|connection refused" "$CACHE/build.log"; then
      echo "connect-conformance: not run: the Go module proxy does not give out $MODULE@$VERSION and all it needs" >&2
      exit 77
    fi
    tail -n 5 "$CACHE/build.log" >&2
    echo "connect-conformance: the runner did not build" >&2
    exit 1
  fi
}
mkdir -p "$CACHE"
[ -x "$RUNNER" ] || fetch go install "$MODULE/cmd/connectconformance@$VERSION"
# The runner's sources contain the definition of the service; only its descriptors are stored.
if [ ! -f "$CACHE/service.binpb" ]; then
  SOURCES=$(fetch go mod download -json "$MODULE@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  "$ROOT/node_modules/.bin/buf" build "$SOURCES/proto" -o "$CACHE/making.binpb"
  mv "$CACHE/making.binpb" "$CACHE/service.binpb"
fi

cd "$ROOT"
STATUS=0
timeout 300 "$RUNNER" --mode server --conf "$HERE/config.yaml" --known-failing "@$HERE/known-failing.txt" \
  -- "$ROOT/node_modules/.bin/node" "$HERE/server.ts" "$CACHE/service.binpb" >"$CACHE/run.log" 2>&1 || STATUS=$?
SUMMARY=$(grep -A 2 '^Total cases: [1-9]' "$CACHE/run.log" | tr '\n' ' ' || true)
if [ "$STATUS" -ne 0 ] || [ -z "$SUMMARY" ]; then
  tail -n 120 "$CACHE/run.log"
  echo "connect-conformance: failed"
  exit 1
fi
echo "connect-conformance: passed: $SUMMARY"
