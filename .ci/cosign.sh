#!/usr/bin/env bash
# Asks cosign 2 and 3 and the registry about the same signatures: packages/registry/test/trust/cosign-live.test.ts. And
# has jobs sign by certificates of a Fulcio, stamps of an authority and entries of a log here: cosign-keyless.test.ts.
#   .ci/cosign.sh        UPDATE_COSIGN=1 .ci/cosign.sh, which also records what the same test without cosign reads
# Exit status 77: one of them is not available on this machine (a line says which, and why), so nothing was asked.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
MOORAGE_TEST_COSIGN=$("$ROOT/.ci/tools.sh" cosign)
MOORAGE_TEST_COSIGN2=$("$ROOT/.ci/tools.sh" cosign2)
MOORAGE_TEST_FULCIO=$("$ROOT/.ci/tools.sh" fulcio)
MOORAGE_TEST_TIMESTAMP_SERVER=$("$ROOT/.ci/tools.sh" timestamp-server)
MOORAGE_TEST_REKOR=$("$ROOT/.ci/tools.sh" rekor-server)
# The data of the tests of what cosign verifies with, in the version that cosign is built with.
MODULE=github.com/sigstore/sigstore-go@v1.2.2
MOORAGE_TEST_SIGSTORE_GO=$(GOFLAGS=-mod=mod timeout 120 go mod download -json "$MODULE" | node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).Dir ?? ""') ||
  { echo "cosign: not run: the Go module proxy does not give out $MODULE"; exit 77; }
export MOORAGE_TEST_COSIGN MOORAGE_TEST_COSIGN2 MOORAGE_TEST_FULCIO MOORAGE_TEST_TIMESTAMP_SERVER MOORAGE_TEST_REKOR MOORAGE_TEST_SIGSTORE_GO
cd "$ROOT"
MOORAGE_TEST_ENGINES=sqlite npm test -- trust/cosign-live trust/cosign-keyless trust/real-bundles
