#!/usr/bin/env bash
# Real docker, its client and its daemon, against a real server over plain HTTP on loopback: log-ins, push, pull, what docker prints when a push is
# not let in or the disk is full, and the credential helper. The daemon has a folder and a socket of its own, and no network for containers.
# Needs root on Linux, and docker.io, which is installed from Debian where it is missing; a docker daemon of the machine is left alone.
# Exit status 77: docker cannot be had or does not run on this machine (a line says why).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

missing() { echo "docker: not run: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || missing "its daemon needs root"
if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null; then
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 150 apt-get -qq install -y --no-install-recommends docker.io; } >/dev/null 2>&1 ||
    missing "docker.io cannot be installed here"
fi

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"

MOUNTED=
unmount() { [ -z "$MOUNTED" ] || umount --lazy "$MOUNTED" 2>/dev/null || true; }
export HOME="$WORK/home" DOCKER_CONFIG="$WORK/home/.docker" DOCKER_HOST="unix://$WORK/docker.sock" DOCKER_BUILDKIT=0
unset DOCKER_CONTEXT XDG_CONFIG_HOME http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
mkdir -p "$DOCKER_CONFIG"
printf '{}' >"$WORK/daemon.json"
dockerd --config-file "$WORK/daemon.json" --storage-driver vfs --bridge none --iptables=false --ip6tables=false \
  --data-root "$WORK/docker" --exec-root "$WORK/exec" --pidfile "$WORK/docker.pid" -H "$DOCKER_HOST" >"$WORK/dockerd.log" 2>&1 </dev/null &
PIDS+=("$!")
DAEMON=$!
d() { timeout 60 docker "$@"; }
for _ in $(seq 120); do
  if d version >/dev/null 2>&1; then break; fi
  kill -0 "$DAEMON" 2>/dev/null || missing "its daemon does not start here: $(tail -n 1 "$WORK/dockerd.log" | cut -c 1-200)"
  sleep 0.5
done
d version >/dev/null 2>&1 || missing "its daemon was not ready within 60 s"
echo "# docker $(d version --format '{{.Client.Version}}, daemon {{.Server.Version}}')"

# Groups may be public.
export MOORAGE_PUBLIC_GROUPS=1
start_server
ORG=$(bootstrap organization.name)
# personal ARG…: a new personal token of the owner, alone.
personal() { moorage personal-tokens create --data-dir "$DATA" "$@" 2>/dev/null | sed "s/^printf %s '\([^']*\)'.*/\1/"; }
# login PASSWORD [HOST]
login() { d login -u any --password-stdin "${2:-$HOST}" <<<"$1"; }

mkdir "$WORK/context"
head -c 2000000 /dev/urandom >"$WORK/context/content"
printf 'FROM scratch\nCOPY content /content\nCMD ["/content"]\n' >"$WORK/context/Dockerfile"
APP="$HOST/$ORG/docker-app"
does "docker builds an image from nothing" d build -q -t "$APP:1.0" "$WORK/context"

refused "a push without a log-in says to log in" "denied: .*log in first" d push "$APP:1.0"
refused "a log-in with a wrong password is refused" "unauthorized: .*the credentials were not accepted" login wrong
PUSH=$(personal --name laptop --may push)
does "docker login takes a personal token" login "$PUSH"
does "docker pushes" d push "$APP:1.0"
PUSHED=$(grep -o 'sha256:[0-9a-f]\{64\}' "$WORK/out.log" | tail -n 1)
does "every manifest and blob of the image is in the registry" whole "$APP" "$PUSHED"
d rmi "$APP:1.0" >/dev/null
does "docker pulls" d pull "$APP:1.0"
says "docker pulls what it pushed" "$PUSHED"
does "a second push has nothing to send" d push "$APP:1.0"
says "and docker says so" "Layer already exists"
refused "an image that is not there is not found" "not found" d pull "$HOST/$ORG/docker-none:1.0"

d tag "$APP:1.0" "$HOST/stranger/app:1.0"
refused "a push to another organization says which right is missing" "needs a role binding with CAP_MANIFEST_CREATE.*may push to: $ORG" d push "$HOST/stranger/app:1.0"
does "docker login takes a token that pulls alone" login "$(personal --name node --may pull)"
does "which pulls" d pull "$APP:1.0"
d tag "$APP:1.0" "$APP:2.0"
d tag "$APP:1.0" "$HOST/$ORG/docker-new:1.0"
refused "and pushes nothing: docker says which right is missing" "denied: .*needs a role binding with CAP_MANIFEST_CREATE" d push "$HOST/$ORG/docker-new:1.0"
refused "nor another tag of an image that is there" "denied: .*CAP_MANIFEST_CREATE" d push "$APP:2.0"

SHORT=$(moorage token --data-dir "$DATA" --ttl 3s)
login "$SHORT" >/dev/null 2>&1 || fail "a log-in with a token for seconds"
sleep 4
refused "a token that has expired is called expired, in a pull" "this token expired at" d pull "$APP:1.0"
refused "and in a push" "this token expired at" d push "$APP:1.0"
refused "and in a log-in" "this token expired at" login "$SHORT"

# A public group, from which everybody pulls; what is beside it stays private.
login "$PUSH" >/dev/null 2>&1
moorage groups create "$ORG/open" >/dev/null
moorage bindings create "$ORG/open" --identity-uid everybody --role-uid registry.pull >/dev/null
d tag "$APP:1.0" "$HOST/$ORG/open/app:1.0"
does "docker pushes to a public group" d push "$HOST/$ORG/open/app:1.0"
d logout "$HOST" >/dev/null
d rmi "$HOST/$ORG/open/app:1.0" >/dev/null
does "docker pulls from it without a log-in" d pull "$HOST/$ORG/open/app:1.0"
refused "but not what is beside it" "denied\|unauthorized" d pull "$APP:1.0"
d tag "$APP:1.0" "$HOST/$ORG/open/other:1.0"
refused "and pushes nothing" "denied: .*log in first" d push "$HOST/$ORG/open/other:1.0"

# The helper, which docker finds on the PATH, as somebody who is signed in: here as a CI job with a token of its own.
login "$PUSH" >/dev/null 2>&1
d logout "$HOST" >/dev/null
mkdir "$WORK/bin"
printf '#!/bin/sh\nexec node %s/packages/cli/bin/docker-credential-moorage.js "$@"\n' "$ROOT" >"$WORK/bin/docker-credential-moorage"
chmod +x "$WORK/bin/docker-credential-moorage"
does "moorage auth configure-docker names the helper" moorage auth configure-docker "$HOST"
does "docker's settings have it" grep -q "\"$HOST\": \"moorage\"" "$DOCKER_CONFIG/config.json"
OWNER=$(moorage whoami --data-dir "$DATA" -o json | json uid)
by_helper() { PATH="$WORK/bin:$PATH" MOORAGE_REGISTRY_HOST="$HOST" MOORAGE_IDENTITY="$OWNER" MOORAGE_ID_TOKEN="$(moorage token --data-dir "$DATA")" d "$@"; }
does "docker pulls with the helper's token" by_helper pull "$APP:1.0"
does "docker pushes with the helper's token" by_helper push "$APP:2.0"
refused "without a token the helper says what is missing" "MOORAGE_IDENTITY must be" env PATH="$WORK/bin:$PATH" MOORAGE_REGISTRY_HOST="$HOST" timeout 60 docker pull "$APP:1.0"

# A server whose disk becomes full while it is pushed to.
mkdir "$WORK/small"
if mount -t tmpfs -o size=48m moorage-ci "$WORK/small" 2>/dev/null; then
  MOUNTED="$WORK/small"
  trap 'STATUS=$?; set +e; kill "${PIDS[@]}" 2>/dev/null; sleep 2; unmount; (exit "$STATUS"); end_all' EXIT
  DATA="$WORK/small/data"
  MOORAGE_DISK_RESERVE=4194304 start_server
  head -c 60000000 /dev/urandom >"$WORK/context/content"
  does "a larger image is built" d build -q -t "$HOST/$ORG/large:1.0" "$WORK/context"
  does "docker logs in to a server with a small disk" login "$PLATFORM_TOKEN"
  refused "a push that fills the disk is refused with words that docker prints" "507 .*storage is full: no space left on device" d push "$HOST/$ORG/large:1.0"
  same "and docker attempts it once" "$(grep -c 'full: no space' "$WORK/out.log")" 1
  eventually grep -q "full: $DATA has" "$WORK/server.log"
does "the log names the folder" grep -q "full: $DATA has" "$WORK/server.log"
  d tag "$APP:1.0" "$HOST/$ORG/small:1.0"
  does "what fits is taken afterwards" d push "$HOST/$ORG/small:1.0"
else
  echo "docker: a full disk: not run: no file system may be mounted here"
  exit 77
fi
echo "docker: $PASSED checks passed"
