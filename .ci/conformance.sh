#!/usr/bin/env bash
# The OCI distribution conformance suite, as its authors publish it, against a fresh server: its defaults on, sha512 on, nothing may fail.
# Needs Go and the Go module proxy, or a suite that was built already: CONFORMANCE_BINARY=/path/to/conformance .ci/conformance.sh
# Exit status 77: the suite is not to be had here, so nothing was tested.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

MODULE=github.com/opencontainers/distribution-spec/conformance
# The newest published when this was written. Move it on purpose, with the suite's own notes at hand.
VERSION=${CONFORMANCE_VERSION:-ed885fa}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/moorage/conformance-$VERSION

if [ -n "${CONFORMANCE_BINARY:-}" ]; then
  SUITE=$CONFORMANCE_BINARY
else
  SUITE=$CACHE/conformance
  if [ ! -x "$SUITE" ]; then
    command -v go >/dev/null || { echo "conformance: not run: no go on PATH"; exit 77; }
    mkdir -p "$CACHE"
    # The suite's own file of sums decides what is built; nothing of this repository is touched.
    if ! (cd "$CACHE" && GOWORK=off GOFLAGS=-mod=mod GOBIN="$CACHE" timeout 300 go install "$MODULE@$VERSION") 2>"$CACHE/build.log"; then
      if grep -q "not available\|Forbidden\|Not Found\|no such host\|connection refused" "$CACHE/build.log"; then
        echo "conformance: not run: the Go module proxy does not give out $MODULE@$VERSION;" \
          "build it from its sources and run CONFORMANCE_BINARY=/path/to/conformance .ci/conformance.sh"
        exit 77
      fi
      tail -n 5 "$CACHE/build.log"
      echo "conformance: the suite did not build"
      exit 1
    fi
  fi
fi

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
start_server
ORG=$(bootstrap organization.name)
mkdir -p "$WORK/results"

run_suite() {
  # The suite reads a file of settings from the folder it runs in: there is none here.
  (cd "$WORK/results" && env \
    OCI_REGISTRY="$HOST" OCI_TLS=disabled OCI_REPO1="$ORG/conformance/one" OCI_REPO2="$ORG/conformance/two" \
    OCI_USERNAME=any OCI_PASSWORD="$1" OCI_DATA_SHA512=true OCI_RESULTS_DIR="$WORK/results" \
    timeout 300 "$SUITE" >"$WORK/suite.log" 2>&1)
}

for kind in registry platform; do
  rm -f "$WORK"/results/*
  if [ "$kind" = registry ]; then TOKEN=$REGISTRY_TOKEN; else TOKEN=$PLATFORM_TOKEN; fi
  STATUS=0
  run_suite "$TOKEN" || STATUS=$?
  # It ends with 0 as well when it could not read its settings: only its report counts.
  SUMMARY=$(grep -o '<testsuites[^>]*>' "$WORK/results/junit.xml" 2>/dev/null | head -n 1 || true)
  if [ "$STATUS" -ne 0 ] || ! grep -q ' tests="[1-9]' <<<"$SUMMARY" || grep -q ' \(failures\|errors\)="[1-9]' <<<"$SUMMARY"; then
    tail -n 120 "$WORK/suite.log"
    echo "conformance: failed with a $kind token"
    exit 1
  fi
  echo "conformance: passed with a $kind token: $SUMMARY"
done
