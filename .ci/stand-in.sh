#!/usr/bin/env bash
# Real clients pull images of three registries through a server that stands in front of them: containerd by ctr, docker,
# podman and skopeo, with the configurations of docs/standing-in-front.md. Then docker.io limits requests and quay.io is
# down: what is here is served, and what is not here fails with words that say why.
# The registries are Debian's docker-registry under the names docker.io, quay.io and ghcr.io: all of it runs in network,
# mount and process namespaces of its own, in which there is no other network.
# Needs root on Linux. Exit status 77: a program is not available on this machine (a line says which).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
missing() { echo "stand-in: not run: $*"; exit 77; }

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" -eq 0 ] || missing "namespaces, containerd and dockerd need root"
  declare -A PACKAGES=([containerd]=containerd [ctr]=containerd [runc]=runc [podman]=podman [skopeo]=skopeo [docker-registry]=docker-registry
    [dockerd]=docker.io [docker]=docker.io [openssl]=openssl [curl]=curl [ip]=iproute2)
  WANTED=()
  for program in "${!PACKAGES[@]}"; do command -v "$program" >/dev/null || WANTED+=("${PACKAGES[$program]}"); done
  if [ "${#WANTED[@]}" -gt 0 ]; then
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq install -y --no-install-recommends "${WANTED[@]}"; } >/dev/null 2>&1 || true
    for program in "${!PACKAGES[@]}"; do command -v "$program" >/dev/null || missing "$program is not installed, and Debian's ${PACKAGES[$program]} cannot be"; done
  fi
  timeout 20 unshare --mount --net --pid --fork ip link set lo up || missing "no namespaces may be made here"
  exec timeout --kill-after=20 "${LIMIT:-400}" unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside
fi

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"
# shellcheck source=.ci/clients/checks.sh
. "$ROOT/.ci/clients/checks.sh"
ip link set lo up

# Settings of this machine are hidden, and the names lead to loopback.
export HOME="$WORK/home" SSL_CERT_FILE="$WORK/cert.pem" CURL_CA_BUNDLE="$WORK/cert.pem" NODE_EXTRA_CA_CERTS="$WORK/cert.pem"
unset SSL_CERT_DIR http_proxy https_proxy HTTP_PROXY HTTPS_PROXY XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DOCKER_CONFIG DOCKER_CONTEXT
mkdir -p "$HOME"
for folder in /etc/containerd /etc/containers /etc/docker; do
  mkdir -p "$folder"
  mount -t tmpfs stand-in "$folder"
done
declare -A ADDRESS=([docker.io]=127.0.0.11 [quay.io]=127.0.0.12 [ghcr.io]=127.0.0.13)
declare -A GROUP=([docker.io]=hub [quay.io]=quay [ghcr.io]=ghcr)
# Two images of each: one that is pulled in time, and one that nobody pulls in time.
declare -A IMAGE=([docker.io]=library/nginx:latest [quay.io]=prometheus/prometheus:v3.0.0 [ghcr.io]=acme/app:1)
declare -A OTHER=([docker.io]=library/redis:7 [quay.io]=coreos/etcd:v3.5.0 [ghcr.io]=acme/other:1)
cat >"$WORK/hosts" <<END
127.0.0.1 localhost registry.example.com mirror.example.com open.example.com
127.0.0.11 docker.io index.docker.io registry-1.docker.io auth.docker.io
127.0.0.12 quay.io
127.0.0.13 ghcr.io
END
mount --bind "$WORK/hosts" /etc/hosts
NAMES=DNS:*.example.com,DNS:docker.io,DNS:*.docker.io,DNS:quay.io,DNS:ghcr.io
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=stand-in -addext "subjectAltName=$NAMES" \
  -keyout "$WORK/key.pem" -out "$WORK/cert.pem" 2>/dev/null

# in_document HEADING LANGUAGE: the first block in that language below the heading of docs/standing-in-front.md.
in_document() {
  awk -v heading="### $1" -v fence="\`\`\`$2" '/^###? / { here = $0 == heading } /^```$/ { if (shown) exit } shown; here && $0 == fence { shown = 1 }' \
    "$ROOT/docs/standing-in-front.md" | grep . || fail "docs/standing-in-front.md shows a $2 file for $1"
}


# Each registry has two images made from nothing, and a program in front of it that can limit it and notes who asks.
moorage sample --layout "$WORK/sample" >/dev/null
DIGEST=$(digest_in "$WORK/sample/build1")
declare -A FRONT
PORT=5010
for name in docker.io quay.io ghcr.io; do
  PORT=$((PORT + 1))
  printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$WORK/$name" "$PORT" >"$WORK/$name.yml"
  docker-registry serve "$WORK/$name.yml" >"$WORK/$name.log" 2>&1 </dev/null &
  PIDS+=("$!")
  node "$ROOT/.ci/stand-in/front.ts" "$WORK" "$name" "${ADDRESS[$name]}" "$PORT" >"$WORK/$name.front" 2>&1 </dev/null &
  FRONT[$name]=$!
  PIDS+=("$!")
  eventually curl -fsS -m 5 "https://$name/v2/"
  for image in "${IMAGE[$name]}" "${OTHER[$name]}"; do
    does "$name has $image" timeout 60 skopeo --insecure-policy copy -q --all --preserve-digests --dest-tls-verify=false \
      "oci:$WORK/sample/build1:latest" "docker://127.0.0.1:$PORT/$image"
  done
  : >"$WORK/$name.asked"
done

# The server, under its own name and that of the mirror. docker has no log-in for a mirror, and pulls what everybody may.
export MOORAGE_TLS_CERT="$WORK/cert.pem" MOORAGE_TLS_KEY="$WORK/key.pem" MOORAGE_BASE_URL=https://registry.example.com MOORAGE_ALLOW_PRIVATE_NETWORK=1
export MOORAGE_MIRRORS=mirror.example.com=acme/mirrors,open.example.com=public/mirrors MOORAGE_PUBLIC_ORGANIZATION=public
export MOORAGE_PUBLIC_GROUPS=1
start_server 443
for group in acme public; do moorage groups create "$group/mirrors" >/dev/null; done
# stand_in GROUP REGISTRY: the group stands for the registry, which is asked about each pull.
stand_in() {
  moorage groups create "$1" >/dev/null
  moorage registry-upstreams create "$1" --registry "$2" --tag-ttl 0s --anonymous-networks 127.0.0.0/8 >/dev/null
}
for name in docker.io quay.io ghcr.io; do stand_in "acme/mirrors/${GROUP[$name]}" "$name"; done
stand_in public/mirrors/hub docker.io
TOKEN=$(moorage pull-token create --group acme/mirrors --name node --json | json password)
BASIC=$(printf 'node:%s' "$TOKEN" | base64 -w0)

# The configurations of the document, for each registry and with the token.
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
mkdir -p /etc/containers/registries.conf.d
for name in docker.io quay.io ghcr.io; do
  mkdir -p "/etc/containerd/certs.d/$name"
  in_document "containerd, k3s" toml | sed "s/Basic …/Basic $BASIC/" >"/etc/containerd/certs.d/$name/hosts.toml"
  in_document "podman, skopeo, CRI-O" toml | sed "s/docker.io/$name/; s,/hub,/${GROUP[$name]}," >"/etc/containers/registries.conf.d/$name.conf"
done
export REGISTRY_AUTH_FILE="$WORK/auth.json"
printf '{"auths": {"registry.example.com": {"auth": "%s"}}}' "$BASIC" >"$REGISTRY_AUTH_FILE"
in_document dockerd json | sed "s/mirror.example.com/open.example.com/" >/etc/docker/daemon.json

# The clients, each with folders of its own.
containerd --root "$WORK/containerd" --state "$WORK/containerd-state" --address "$WORK/containerd.sock" --config /dev/null >"$WORK/containerd.log" 2>&1 </dev/null &
PIDS+=("$!")
# ctr 1.6 leaves plain names of docker.io out: images are named in full.
in_ctr() { timeout 60 ctr --address "$WORK/containerd.sock" images pull --snapshotter native --hosts-dir /etc/containerd/certs.d "$1"; }
in_podman() { timeout 90 podman --root "$WORK/podman" --runroot "$WORK/podman-run" --storage-driver vfs --cgroup-manager cgroupfs --events-backend none pull "$1"; }
in_skopeo() { rm -rf "$WORK/skopeo" && timeout 90 skopeo copy --all "docker://$1" "oci:$WORK/skopeo:latest"; }
export DOCKER_HOST="unix://$WORK/docker.sock"
dockerd --storage-driver vfs --bridge none --iptables=false --ip6tables=false --data-root "$WORK/docker" --exec-root "$WORK/docker-exec" \
  --pidfile "$WORK/docker.pid" -H "$DOCKER_HOST" >"$WORK/dockerd.log" 2>&1 </dev/null &
PIDS+=("$!")
in_docker() { timeout 60 docker pull "${1#docker.io/library/}"; }
eventually ctr --address "$WORK/containerd.sock" version
eventually docker version
echo "# containerd $(containerd --version | cut -d' ' -f3), $(podman --version), $(skopeo --version | cut -d' ' -f1-3), docker $(docker version --format '{{.Server.Version}}')"

# header_of HEADER REGISTRY IMAGE:TAG: what the mirror says of an image in that header.
# open_header_of: the same without a log-in, at the mirror host of the public organization.
header_of() { header_at mirror.example.com acme/mirrors "node:$TOKEN" "$@"; }
open_header_of() { header_at open.example.com public/mirrors any: "$@"; }
header_at() {
  local host=$1 group=$2 user=$3 header=$4 registry=$5 name=${6%:*} tag=${6#*:} token
  token=$(curl -fsS -m 20 -u "$user" "https://$host/token?ns=$registry&scope=repository:$group/${GROUP[$registry]}/$name:pull" | json token)
  curl -sS -m 70 -o /dev/null -D - -H "Authorization: Bearer $token" "https://$host/v2/$name/manifests/$tag?ns=$registry" |
    tr -d '\r' | sed -n "s/^$header: //Ip"
}
is_here() { "$1" cache-status "$2" "${IMAGE[$2]}" | grep -q "fwd=stale; fwd-status=200"; }
CLIENTS="ctr podman skopeo"
all_pull() {
  local client name
  for name in docker.io quay.io ghcr.io; do
    for client in $CLIENTS; do does "$client pulls ${IMAGE[$name]} of $name, $1" "in_$client" "$name/${IMAGE[$name]}"; done
  done
  does "docker pulls nginx, $1" in_docker "docker.io/${IMAGE[docker.io]}"
  says "docker has the image of the registry" "$DIGEST"
}
forget() {
  local name
  for name in docker.io quay.io ghcr.io; do
    ctr --address "$WORK/containerd.sock" images rm --sync "$name/${IMAGE[$name]}"
    podman --root "$WORK/podman" --runroot "$WORK/podman-run" --storage-driver vfs rmi -f "$name/${IMAGE[$name]}"
  done
  docker rmi nginx:latest
}

all_pull "which are fetched for it"
for name in docker.io quay.io ghcr.io; do
  eventually is_here header_of "$name"
  does "${IMAGE[$name]} of $name is here" is_here header_of "$name"
done
eventually is_here open_header_of docker.io
does "${IMAGE[docker.io]} of docker.io is in the public organization" is_here open_header_of docker.io
# docker asks docker.io itself for what its mirror does not have.
unasked() {
  local name
  for name in docker.io quay.io ghcr.io; do same "$name was asked by no client, $1" "$(grep -cv '^moorage' "$WORK/$name.asked" || true)" 0; done
}
unasked "but the server"
does "the clients forget their images" forget

touch "$WORK/docker.io.limited"
kill "${FRONT[quay.io]}"
eventually fails curl -sS -m 5 https://quay.io/v2/
all_pull "while docker.io limits requests and quay.io is down"
same "the mirror says that docker.io limits us" "$(header_of warning docker.io "${IMAGE[docker.io]}" | cut -d';' -f1)" '299 - "docker.io limits us'
same "and that quay.io does not answer" "$(header_of warning quay.io "${IMAGE[quay.io]}" | cut -d';' -f1)" '299 - "quay.io does not answer'
same "and nothing of ghcr.io, which answers" "$(header_of warning ghcr.io "${IMAGE[ghcr.io]}")" ""
header_of cache-status docker.io "${IMAGE[docker.io]}" >"$WORK/out.log"
says "and where the answer is from" "^Moorage; \(hit; ttl\|fwd=stale; fwd-status=429\)"
unasked "also in trouble"

refused "ctr says that it is limited" "429 Too Many Requests" in_ctr "docker.io/${OTHER[docker.io]}"
refused "podman says who limits whom" "it is not here, and docker.io limits us" in_podman "docker.io/${OTHER[docker.io]}"
refused "skopeo says who limits whom" "it is not here, and docker.io limits us" in_skopeo "docker.io/${OTHER[docker.io]}"
refused "docker says that there are too many requests" "toomanyrequests" in_docker "docker.io/library/redis:latest"
refused "ctr says that it is unavailable" "503 Service Unavailable" in_ctr "quay.io/${OTHER[quay.io]}"
refused "podman says that it is unavailable" "503 Service Unavailable" in_podman "quay.io/${OTHER[quay.io]}"
refused "skopeo says that it is unavailable" "503 Service Unavailable" in_skopeo "quay.io/${OTHER[quay.io]}"
for client in $CLIENTS; do does "$client pulls another image of ghcr.io" "in_$client" "ghcr.io/${OTHER[ghcr.io]}"; done
refused "a push to the mirror is refused" "acme/mirrors/ghcr stands for ghcr.io" timeout 90 skopeo copy -q --dest-creds "any:$REGISTRY_TOKEN" \
  "oci:$WORK/sample/build1:latest" docker://registry.example.com/acme/mirrors/ghcr/acme/app:2

# A public group of the server itself, which everybody may pull from, and a private image beside it.
moorage groups create acme/open >/dev/null
moorage bindings create acme/open --identity-uid everybody --role-uid registry.pull >/dev/null
for name in acme/open/app acme/app; do
  does "$name is pushed" timeout 90 skopeo --insecure-policy copy -q --dest-creds "any:$REGISTRY_TOKEN" "oci:$WORK/sample/build1:latest" "docker://registry.example.com/$name:1"
done
printf '{}' >"$WORK/nobody.json"
export REGISTRY_AUTH_FILE="$WORK/nobody.json"
for client in $CLIENTS; do
  does "$client pulls from a public group without a log-in" "in_$client" registry.example.com/acme/open/app:1
  refused "$client: what is beside it is not pulled" "denied\|403 Forbidden" "in_$client" registry.example.com/acme/app:1
done
echo "stand-in: $PASSED checks passed"
