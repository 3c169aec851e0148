#!/usr/bin/env bash
# Real clients against a real server, at the versions .ci/tools.sh pins, over plain HTTP on loopback and with no other network:
#   .ci/clients.sh        .ci/clients.sh oras cosign
# The checks of each client are in .ci/clients/<name>.sh.
# Exit status 77: a client is not available on this machine (a line says which, and why); the checks of the others have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
ALL="skopeo crane oras cosign notation helm regctl buildah"
# shellcheck disable=SC2086 # one word for each client
[ $# -gt 0 ] || set -- $ALL
MISSING=()
for name in "$@"; do
  case " $ALL " in *" $name "*) ;; *) echo "usage: .ci/clients.sh [CLIENT…]; there are: $ALL"; exit 2 ;; esac
  STATUS=0
  "$ROOT/.ci/tools.sh" "$name" >/dev/null || STATUS=$?
  case $STATUS in 0) ;; 77) MISSING+=("$name") ;; *) exit "$STATUS" ;; esac
done
[ "${#MISSING[@]}" -lt $# ] || { echo "clients: not run: $*"; exit 77; }

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
# shellcheck source=.ci/clients/ci-job.sh
. "$ROOT/.ci/clients/ci-job.sh"

# The simulated CI system listens on loopback.
export MOORAGE_ALLOW_PRIVATE_NETWORK=1
# Groups may be public.
export MOORAGE_PUBLIC_GROUPS=1
# The server attaches what is said about vulnerabilities in images.
export MOORAGE_VEX_REFERRERS=1
start_server
ORG=$(bootstrap organization.name)
PUBLIC=$(bootstrap publicOrganization.name)
# Two builds of an image for two architectures, as OCI layouts.
moorage sample --layout "$WORK/sample" >/dev/null
FIRST=$(digest_in "$WORK/sample/build1")
SECOND=$(digest_in "$WORK/sample/build2")
# No settings of this machine, and no network but loopback: other requests go to a proxy address where nothing listens.
export HOME="$WORK/home" DOCKER_CONFIG="$WORK/home/.docker" HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9
unset NO_PROXY no_proxy https_proxy http_proxy REGISTRY_AUTH_FILE XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
# skopeo and buildah check no signatures, whatever policy the machine has.
for home in home nobody; do
  mkdir -p "$WORK/$home/.docker" "$WORK/$home/.config/containers"
  printf '{"default":[{"type":"insecureAcceptAnything"}]}' >"$WORK/$home/.config/containers/policy.json"
done
printf '{"auths":{"%s":{"auth":"%s"}}}' "$HOST" "$(printf 'any:%s' "$PLATFORM_TOKEN" | base64 -w0)" >"$DOCKER_CONFIG/config.json"

# What is known about the package of the SBOMs that clients attach.
mkdir "$WORK/feed"
echo '{"id": "CVE-2026-4242", "modified": "2026-11-01T08:00:00Z", "affected": [{"package": {"ecosystem": "npm", "name": "attached"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "2.0.0"}]}]}]}' >"$WORK/feed/CVE-2026-4242.json"
moorage feeds import "$WORK/feed" --feed clients --licence CC0-1.0 >/dev/null

start_ci

for name in "$@"; do
  case " ${MISSING[*]:-} " in *" $name "*) continue ;; esac
  # shellcheck source=/dev/null # the name is a variable
  . "$ROOT/.ci/clients/$name.sh"
  BEGAN=$PASSED
  mkdir "$WORK/$name"
  cd "$WORK/$name"
  "check_$name"
  echo "$name: $((PASSED - BEGAN)) checks passed"
done
echo "clients: $PASSED checks passed"
[ "${#MISSING[@]}" -eq 0 ] || { echo "clients: not run: ${MISSING[*]}"; exit 77; }
