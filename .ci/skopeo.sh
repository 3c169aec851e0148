#!/usr/bin/env bash
# A real client against a real server: skopeo pushes, copies, inspects, lists, pulls by digest and deletes, with and without a token.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
command -v skopeo >/dev/null || { echo "skopeo is not installed: apt-get install skopeo"; exit 1; }
# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"

PASSED=0
ok() { PASSED=$((PASSED + 1)); echo "ok $PASSED - $1"; }
fail() { echo "not ok - $1"; exit 1; }
same() { [ "$2" = "$3" ] || fail "$1: expected $3, got $2"; ok "$1"; }
sk() { timeout 60 skopeo --insecure-policy --command-timeout 50s "$@"; }
# The digest of what a reference names, of the raw manifest as it was served.
digest_of() { echo "sha256:$(sk inspect --raw --tls-verify=false "$@" | sha256sum | cut -d' ' -f1)"; }

start_server
CREDS="any:$PLATFORM_TOKEN"
ORG=$(bootstrap organization.name)
PUBLIC=$(bootstrap publicOrganization.name)
APP="$HOST/$ORG/team-a/app"

FIRST=$(node "$ROOT/.ci/layout.ts" "$WORK/first" "first build")
SECOND=$(node "$ROOT/.ci/layout.ts" "$WORK/second" "second build")

push() { sk copy -q --all --preserve-digests --dest-tls-verify=false --dest-creds "$CREDS" "oci:$1:latest" "docker://$2"; }
push "$WORK/first" "$APP:1.0"
same "a multi-architecture image is pushed, its digest kept" "$(digest_of --creds "$CREDS" "docker://$APP:1.0")" "$FIRST"
same "a registry token is a password too" "$(digest_of --creds "any:$REGISTRY_TOKEN" "docker://$APP:1.0")" "$FIRST"

sk inspect --tls-verify=false --creds "$CREDS" --override-arch arm64 "docker://$APP:1.0" >"$WORK/inspect.json"
same "inspect sees the other architecture" "$(json Architecture <"$WORK/inspect.json")" arm64

push "$WORK/second" "$APP:1.0"
same "the tag moves to the second build" "$(digest_of --creds "$CREDS" "docker://$APP:1.0")" "$SECOND"
push "$WORK/second" "$APP:2.0"
same "tags are listed" "$(sk list-tags --tls-verify=false --creds "$CREDS" "docker://$APP" | json Tags)" "[ '1.0', '2.0' ]"

TOKEN=$(curl -fsS -m 20 -u "$CREDS" "$URL/token?scope=repository:$ORG/team-a/app:pull" | json token)
curl -fsS -m 20 -H "Authorization: Bearer $TOKEN" "$URL/v2/$ORG/team-a/app/_service/history/1.0" >"$WORK/history.json"
same "the history has two records" "$(json history.length <"$WORK/history.json")" 2
same "the oldest is the first build" "$(json history.0.digest <"$WORK/history.json")" "$FIRST"
same "the newest is the second build" "$(json history.1.digest <"$WORK/history.json")" "$SECOND"

sk copy -q --all --preserve-digests --src-tls-verify=false --src-creds "$CREDS" "docker://$APP@$FIRST" "oci:$WORK/pulled:latest"
same "the first build is pulled by its digest" "$(json manifests.0.digest <"$WORK/pulled/index.json")" "$FIRST"
for blob in "$WORK"/first/blobs/sha256/*; do cmp -s "$blob" "$WORK/pulled/blobs/sha256/$(basename "$blob")" || fail "blob $(basename "$blob") differs"; done
ok "every blob of it is the same, byte for byte"

COPY="$HOST/$ORG/team-b/copy"
sk copy -q --all --preserve-digests --src-tls-verify=false --dest-tls-verify=false --src-creds "$CREDS" --dest-creds "$CREDS" "docker://$APP:2.0" "docker://$COPY:2.0"
same "an image is copied between repositories" "$(digest_of --creds "$CREDS" "docker://$COPY:2.0")" "$SECOND"

sk delete --tls-verify=false --creds "$CREDS" "docker://$COPY:2.0"
if sk inspect --raw --tls-verify=false --creds "$CREDS" "docker://$COPY:2.0" >/dev/null 2>&1; then fail "a deleted image is still served"; fi
ok "a deleted image is gone"
same "its original is not" "$(digest_of --creds "$CREDS" "docker://$APP:2.0")" "$SECOND"

push "$WORK/first" "$HOST/$PUBLIC/app:latest"
push "$WORK/first" "$HOST/$PUBLIC/app:1.0"
push "$WORK/second" "$HOST/$PUBLIC/app:nightly"
same "anybody pulls a public image's latest" "$(digest_of --no-creds "docker://$HOST/$PUBLIC/app:latest")" "$FIRST"
sk copy -q --all --preserve-digests --src-no-creds --src-tls-verify=false "docker://$HOST/$PUBLIC/app:latest" "oci:$WORK/anonymous:latest"
same "with all its blobs" "$(json manifests.0.digest <"$WORK/anonymous/index.json")" "$FIRST"
if sk inspect --raw --no-creds --tls-verify=false "docker://$HOST/$PUBLIC/app:1.0" >/dev/null 2>&1; then fail "another tag of a public image was served to nobody"; fi
ok "but not another tag of it"
if sk inspect --raw --no-creds --tls-verify=false "docker://$HOST/$PUBLIC/app@$SECOND" >/dev/null 2>&1; then fail "a digest that latest never had was served to nobody"; fi
ok "nor a digest that latest never had"
if sk inspect --raw --no-creds --tls-verify=false "docker://$APP:1.0" >/dev/null 2>&1; then fail "a private image was served to nobody"; fi
ok "nor a private image"

echo "skopeo: $PASSED checks passed"
