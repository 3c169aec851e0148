#!/usr/bin/env bash
# The OCI distribution conformance suite, as its authors publish it, against a fresh server: its defaults on, sha512 on, nothing may fail.
# Needs Go and the Go module proxy, or a suite that was built already: CONFORMANCE_BINARY=/path/to/conformance .ci/conformance.sh
# Exit status 77: the suite is not to be had here (a line says why), so nothing was tested.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

SUITE=${CONFORMANCE_BINARY:-}
[ -n "$SUITE" ] || SUITE=$("$ROOT/.ci/tools.sh" conformance)

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
