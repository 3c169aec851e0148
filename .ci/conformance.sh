#!/usr/bin/env bash
# Runs the unmodified OCI distribution conformance suite against a fresh server: its defaults and sha512 with a token of each kind, OCI 1.0 and the
# draft after 1.1, a token fetched for each request, and read-only. No test may fail.
# Needs Go and the Go module proxy, or a built suite: CONFORMANCE_BINARY=/path/to/conformance .ci/conformance.sh
# Settings of the suite in the environment (OCI_…) apply to each run that does not set them itself.
# Exit status 77: the suite is not available on this machine (a line says why), so nothing was tested. Its checks are repeated in packages/registry/test/oci/conformance.test.ts.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

SUITE=${CONFORMANCE_BINARY:-}
[ -n "$SUITE" ] || SUITE=$("$ROOT/.ci/tools.sh" conformance)

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
start_server
ORG=$(bootstrap organization.name)
RESULTS=$WORK/results
LOG=$WORK/suite.log
mkdir -p "$RESULTS"

# run_suite TOKEN SETTING=VALUE…
run_suite() {
  local token=$1
  shift
  # The suite reads a settings file from its working folder, so it runs in one without such a file.
  (cd "$RESULTS" && env \
    OCI_REGISTRY="$HOST" OCI_TLS=disabled OCI_REPO1="$ORG/conformance/one" OCI_REPO2="$ORG/conformance/two" \
    OCI_USERNAME=any OCI_PASSWORD="$token" OCI_DATA_SHA512=true OCI_RESULTS_DIR="$RESULTS" "$@" \
    timeout 300 "$SUITE" >"$LOG" 2>&1)
}

# How many tests ended with that result, by the report that the suite prints.
printed() { sed -n "s/^  $1\.*: *\([0-9]*\)\$/\1/p" "$LOG" | head -n 1; }

# judge EXIT_STATUS: whether the run passed; prints which of the suite's reports decides. The suite prints one report, then writes results.yaml, junit.xml
# and report.html, in this order. Its exit status is 0 even when it could not read its settings. In a read-only run it fails while writing results.yaml,
# although all tests passed (it names results by data that it did not push): then the exit status is ignored, and the next available report decides.
judge() {
  local status=$1 summary
  [ "$status" -ne 124 ] || { echo "the suite did not end within 300 s"; return 1; }
  summary=$(grep -o '<testsuites[^>]*>' "$RESULTS/junit.xml" 2>/dev/null | head -n 1 || true)
  if [ -n "$summary" ]; then
    echo "by junit.xml: $summary"
    [ "$status" -eq 0 ] && grep -q ' tests="[1-9]' <<<"$summary" && ! grep -q ' \(failures\|errors\)="[1-9]' <<<"$summary"
  elif [ -s "$RESULTS/results.yaml" ]; then
    summary="$(grep -c ': Pass$' "$RESULTS/results.yaml" || true) passed, $(grep -c ': \(FAIL\|Error\)$' "$RESULTS/results.yaml" || true) failed"
    echo "by results.yaml, there is no junit.xml: of APIs and kinds of data $summary"
    grep -q '^[1-9][0-9]* passed, 0 failed$' <<<"$summary"
  else
    summary="$(printed Pass) passed, $(printed FAIL) failed, $(printed Error) errors"
    echo "by the report that it printed, there are neither junit.xml nor results.yaml: $summary"
    grep -q '^OCI Conformance Result: Pass$' "$LOG" && grep -q '^[1-9][0-9]* passed, 0 failed, 0 errors$' <<<"$summary"
  fi
}

# check NAME TOKEN SETTING=VALUE…
check() {
  local name=$1 token=$2 status=0 found
  shift 2
  rm -f "$RESULTS"/*
  run_suite "$token" "$@" || status=$?
  if ! found=$(judge "$status"); then
    tail -n 120 "$LOG"
    echo "conformance: failed, $name: $found (exit status $status)"
    exit 1
  fi
  echo "conformance: passed, $name: $found"
}

# push_blob CONTENT, put_manifest REFERENCE CONTENT: into the repository that is read only; print the digest.
push_blob() {
  local digest
  digest=sha256:$(printf %s "$1" | sha256sum | cut -d ' ' -f 1)
  curl -fsS -o /dev/null -X POST -H "Authorization: Bearer $REGISTRY_TOKEN" -H "Content-Type: application/octet-stream" --data-binary "$1" \
    "$URL/v2/$ORG/conformance/read-only/blobs/uploads/?digest=$digest"
  echo "$digest"
}

put_manifest() {
  curl -fsS -o /dev/null -X PUT -H "Authorization: Bearer $REGISTRY_TOKEN" -H "Content-Type: application/vnd.oci.image.manifest.v1+json" --data-binary "$2" \
    "$URL/v2/$ORG/conformance/read-only/manifests/$1"
  echo "sha256:$(printf %s "$2" | sha256sum | cut -d ' ' -f 1)"
}

check "a registry token" "$REGISTRY_TOKEN"
check "a platform token" "$PLATFORM_TOKEN"
check "version 1.0" "$REGISTRY_TOKEN" OCI_VERSION=1.0
check "the draft after 1.1" "$REGISTRY_TOKEN" OCI_VERSION=dev
check "a token fetched for each request" "$PLATFORM_TOKEN" OCI_CACHE_AUTH=false

BLOB=$(push_blob '{}')
EMPTY='{"mediaType":"application/vnd.oci.empty.v1+json","digest":"'$BLOB'","size":2}'
COMMON='"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.example"'
SUBJECT_BODY="{$COMMON,\"config\":$EMPTY,\"layers\":[$EMPTY]}"
SUBJECT=$(put_manifest read-only "$SUBJECT_BODY")
SUBJECT_DESCRIPTOR='{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"'$SUBJECT'","size":'${#SUBJECT_BODY}'}'
REFERRER=$(put_manifest referrer "{$COMMON,\"config\":$EMPTY,\"layers\":[$EMPTY],\"subject\":$SUBJECT_DESCRIPTOR}")
check "read-only" "$REGISTRY_TOKEN" OCI_REPO1="$ORG/conformance/read-only" OCI_API_PUSH=false \
  OCI_API_TAGS_DELETE=false OCI_API_MANIFESTS_DELETE=false OCI_API_BLOBS_DELETE=false \
  OCI_API_TAGS_ATOMIC=false OCI_API_MANIFESTS_ATOMIC=false OCI_API_BLOBS_ATOMIC=false \
  OCI_RO_DATA_TAGS="read-only referrer" OCI_RO_DATA_MANIFESTS="$SUBJECT $REFERRER" OCI_RO_DATA_BLOBS="$BLOB" OCI_RO_DATA_REFERRERS="$SUBJECT"
