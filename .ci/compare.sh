#!/usr/bin/env bash
# What Moorage finds, against other programs: findings for packages of PyPI and Go against osv-scanner with the same
# records and no network, the packages of this machine's own Debian, as an image, against trivy-cdxgen, and images of many
# kinds, which .ci/compared-images.sh makes, against both.
# Exit status 77: a program is not available on this machine (a line says which, and why); the other comparison has passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
MISSING=()
# bring NAME VARIABLE: sets the variable to the program's path.
bring() {
  local program status=0
  program=$("$ROOT/.ci/tools.sh" "$1") || status=$?
  case $status in 0) export "$2=$program" ;; 77) MISSING+=("$1") ;; *) exit "$status" ;; esac
}
bring osv-scanner MOORAGE_TEST_OSV_SCANNER
bring trivy-cdxgen MOORAGE_TEST_TRIVY
[ "${#MISSING[@]}" -lt 2 ] || { echo "compared: not run: ${MISSING[*]}"; exit 77; }
MOORAGE_TEST_COMPARED_IMAGES=$(mktemp -d)
export MOORAGE_TEST_COMPARED_IMAGES
trap 'rm -rf "$MOORAGE_TEST_COMPARED_IMAGES"' EXIT
[ "${#MISSING[@]}" -gt 0 ] || "$ROOT/.ci/compared-images.sh" "$MOORAGE_TEST_COMPARED_IMAGES"
cd "$ROOT"
MOORAGE_TEST_ENGINES=sqlite npm test -- security/compared
[ "${#MISSING[@]}" -eq 0 ] || { echo "compared: not run: ${MISSING[*]}"; exit 77; }
