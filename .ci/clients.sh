#!/usr/bin/env bash
# Real clients against a real server: crane, oras and cosign, at the versions .ci/tools.sh pins, over plain HTTP on loopback and with no other network:
#   .ci/clients.sh        .ci/clients.sh oras cosign
# Exit status 77: a client is not to be had here (the last line says which); the checks of the others have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- crane oras cosign
MISSING=()
for name in "$@"; do
  case $name in crane | oras | cosign) ;; *) echo "usage: .ci/clients.sh [crane] [oras] [cosign]"; exit 2 ;; esac
  STATUS=0
  "$ROOT/.ci/tools.sh" "$name" >/dev/null || STATUS=$?
  case $STATUS in 0) ;; 77) MISSING+=("$name") ;; *) exit "$STATUS" ;; esac
done
[ "${#MISSING[@]}" -lt $# ] || { echo "clients: not run: $*"; exit 77; }

# shellcheck source=.ci/server.sh
. "$ROOT/.ci/server.sh"

PASSED=0
ok() { PASSED=$((PASSED + 1)); echo "ok $PASSED - $1"; }
fail() { echo "not ok - $1"; exit 1; }
same() { [ "$2" = "$3" ] || fail "$1: expected $3, got $2"; ok "$1"; }
# does TITLE COMMAND…: it must end well; what it says is kept in out.log.
does() {
  local title=$1
  shift
  "$@" >"$WORK/out.log" 2>&1 || { tail -n 20 "$WORK/out.log"; fail "$title"; }
  ok "$title"
}
# refused TITLE PATTERN COMMAND…: it must fail, and for the reason that the pattern matches.
refused() {
  local title=$1 pattern=$2
  shift 2
  if "$@" >"$WORK/out.log" 2>&1; then fail "$title: it was served"; fi
  grep -qi "$pattern" "$WORK/out.log" || { tail -n 20 "$WORK/out.log"; fail "$title: refused for another reason"; }
  ok "$title"
}
# says TITLE PATTERN: the last command of does said so.
says() { grep -q "$2" "$WORK/out.log" || { cat "$WORK/out.log"; fail "$1"; }; ok "$1"; }
crane() { timeout 60 "$ROOT/build/tools/crane" "$@"; }
oras() { timeout 60 "$ROOT/build/tools/oras" "$@"; }
cosign() { timeout 60 "$ROOT/build/tools/cosign" "$@"; }
# nobody COMMAND…: with no credentials.
nobody() { DOCKER_CONFIG="$WORK/nobody" HOME="$WORK/nobody" "$@"; }
# image REPOSITORY:TAG BUILD: pushes one build of the sample and prints host/repository@digest.
image() { moorage sample --data-dir "$DATA" --push "$URL/$1" --build "$2"; }
sha() { echo "sha256:$(sha256sum "$1" | cut -d' ' -f1)"; }

start_server
ORG=$(bootstrap organization.name)
PUBLIC=$(bootstrap publicOrganization.name)
# Nothing of the machine's own settings, and nowhere but loopback: what is not there goes to a proxy where nobody listens.
export HOME="$WORK/home" DOCKER_CONFIG="$WORK/home/.docker" HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9
unset NO_PROXY no_proxy https_proxy http_proxy REGISTRY_AUTH_FILE XDG_RUNTIME_DIR
mkdir -p "$DOCKER_CONFIG" "$WORK/nobody"
printf '{"auths":{"%s":{"auth":"%s"}}}' "$HOST" "$(printf 'any:%s' "$PLATFORM_TOKEN" | base64 -w0)" >"$DOCKER_CONFIG/config.json"

check_crane() {
  local app="$HOST/$ORG/crane/app" copy="$HOST/$ORG/crane/copies/app" public="$HOST/$PUBLIC/crane" first second blob
  moorage sample --layout "$WORK/sample" >/dev/null
  first=$(json manifests.0.digest <"$WORK/sample/build1/index.json")
  second=$(json manifests.0.digest <"$WORK/sample/build2/index.json")
  does "crane: an image for two architectures is pushed" crane push "$WORK/sample/build1" "$app:1.0"
  same "crane: its digest is kept" "$(crane digest "$app:1.0")" "$first"
  crane manifest "$app:1.0" >"$WORK/manifest.json"
  same "crane: its manifest is the same, byte for byte" "$(sha "$WORK/manifest.json")" "$first"
  same "crane: the other architecture is found" "$(crane config --platform linux/arm64 "$app:1.0" | json architecture)" arm64
  does "crane: it is well-formed, every blob read" crane validate --remote "$app:1.0"
  does "crane: a tag is given" crane tag "$app:1.0" stable
  does "crane: another build is pushed" crane push "$WORK/sample/build2" "$app:1.0"
  same "crane: the tag has moved, the other has not" "$(crane digest "$app:1.0") $(crane digest "$app:stable")" "$second $first"
  same "crane: tags are listed" "$(crane ls "$app" | tr '\n' ' ')" "1.0 stable "
  does "crane: an image is copied to another repository" crane copy "$app:stable" "$copy:1.0"
  says "crane: its blobs are mounted" "mounted blob"
  same "crane: the copy's digest is the same" "$(crane digest "$copy:1.0")" "$first"
  does "crane: it is pulled by its digest" crane pull --format oci "$copy@$first" "$WORK/crane-pulled"
  for blob in "$WORK"/sample/build1/blobs/sha256/*; do cmp -s "$blob" "$WORK/crane-pulled/blobs/sha256/$(basename "$blob")" || fail "crane: blob $(basename "$blob") differs"; done
  ok "crane: every blob of it is the same, byte for byte"
  # A layer from standard input has no digest yet: it is sent before it is named.
  tar -cC "$WORK/sample" build1 >"$WORK/layer.tar"
  does "crane: a streamed layer is pushed" crane append --platform linux/amd64 -b "$app:1.0" -f - -t "$app:appended" <"$WORK/layer.tar"
  crane export "$app:appended" "$WORK/exported.tar"
  same "crane: its files are in the image" "$(tar -xOf "$WORK/exported.tar" build1/index.json | sha256sum)" "$(sha256sum <"$WORK/sample/build1/index.json")"
  does "crane: an image is deleted by its digest" crane delete "$copy@$first"
  refused "crane: it is gone" MANIFEST_UNKNOWN crane manifest "$copy@$first"
  refused "crane: and its tag" MANIFEST_UNKNOWN crane manifest "$copy:1.0"
  same "crane: its original is not" "$(crane digest "$app:stable")" "$first"
  refused "crane: there is no catalog" UNSUPPORTED crane catalog "$HOST"
  refused "crane: nobody pulls a private image" DENIED nobody crane manifest "$app:1.0"
  does "crane: a public image is pushed" crane push "$WORK/sample/build1" "$public:latest"
  does "crane: with another tag" crane push "$WORK/sample/build2" "$public:2.0"
  does "crane: anybody pulls latest" nobody crane pull --format oci "$public:latest" "$WORK/crane-public"
  does "crane: with all its blobs" nobody crane validate --remote "$public:latest"
  refused "crane: but not the other tag" DENIED nobody crane pull "$public:2.0" "$WORK/refused.tar"
  refused "crane: nobody pushes" "403 Forbidden" nobody crane push "$WORK/sample/build2" "$public:latest"
  refused "crane: nobody tags" UNAUTHORIZED nobody crane tag "$public:latest" 3.0
  same "crane: so latest is what it was" "$(crane digest "$public:latest")" "$first"
  printf '%s' "$REGISTRY_TOKEN" | DOCKER_CONFIG="$WORK/login" crane auth login "$HOST" --insecure -u any --password-stdin >"$WORK/out.log" 2>&1 || fail "crane: log-in"
  same "crane: a log-in with a registry token does as well" "$(DOCKER_CONFIG="$WORK/login" crane digest "$app:1.0")" "$second"
}

check_oras() {
  local plain=--plain-http thing="$HOST/$ORG/oras/thing" copy="$HOST/$ORG/oras/copies/thing" digest sbom report big public shown
  mkdir -p "$WORK/things" "$WORK/fetched"
  cd "$WORK/things"
  echo "hello" >hello.txt
  echo '{"bomFormat":"CycloneDX"}' >sbom.json
  echo "fine" >report.txt
  # Larger than any buffer on the way.
  head -c 9000000 /dev/urandom >big.bin
  big=$(sha big.bin)
  does "oras: an artifact with a type and an annotation is pushed" \
    oras push $plain --artifact-type application/vnd.example.thing -a org.example.colour=green "$thing:1.0" hello.txt:text/plain big.bin
  digest=$(oras resolve $plain "$thing:1.0")
  oras manifest fetch $plain "$thing@$digest" >"$WORK/manifest.json"
  same "oras: its manifest is the same, byte for byte" "$(sha "$WORK/manifest.json")" "$digest"
  same "oras: its type is kept" "$(json artifactType <"$WORK/manifest.json")" application/vnd.example.thing
  same "oras: its annotation is kept" "$(node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")).annotations["org.example.colour"]' "$WORK/manifest.json")" green
  does "oras: it is pulled" oras pull $plain -o "$WORK/fetched" "$thing:1.0"
  if cmp -s hello.txt "$WORK/fetched/hello.txt" && cmp -s big.bin "$WORK/fetched/big.bin"; then ok "oras: its files are the same"; else fail "oras: its files differ"; fi

  does "oras: a referrer is attached" oras attach $plain --artifact-type application/vnd.example.sbom "$thing:1.0" sbom.json
  does "oras: another of another type" oras attach $plain --artifact-type application/vnd.example.report -a org.example.by=ci "$thing@$digest" report.txt
  found() { oras discover $plain --format json "$@" | json referrers.length; }
  first_of() { oras discover $plain --format json --artifact-type "$1" "$2" | json referrers.0.digest; }
  same "oras: both are found" "$(found "$thing:1.0")" 2
  same "oras: one by its type" "$(found --artifact-type application/vnd.example.sbom "$thing:1.0")" 1
  sbom=$(first_of application/vnd.example.sbom "$thing:1.0")
  report=$(first_of application/vnd.example.report "$thing:1.0")
  does "oras: a referrer of a referrer is attached" oras attach $plain --artifact-type application/vnd.example.note "$thing@$sbom" hello.txt
  same "oras: it is found below" "$(oras discover $plain --format json "$thing@$sbom" | json referrers.0.artifactType)" application/vnd.example.note
  same "oras: referrers make no tags" "$(oras repo tags $plain "$thing" | tr '\n' ' ')" "1.0 "

  does "oras: all is copied with its referrers" oras cp -r --from-plain-http --to-plain-http "$thing:1.0" "$copy:1.0"
  says "oras: its blobs are mounted" "^Mounted"
  same "oras: the copy's digest is the same" "$(oras resolve $plain "$copy:1.0")" "$digest"
  same "oras: the copy's referrers are the same" "$(first_of application/vnd.example.sbom "$copy:1.0") $(first_of application/vnd.example.report "$copy:1.0")" "$sbom $report"
  same "oras: and theirs" "$(found "$copy@$sbom")" 1
  does "oras: it is copied to a layout" oras cp -r --from-plain-http --to-oci-layout "$copy:1.0" "$WORK/oras-layout:1.0"
  does "oras: and from it to a third repository" oras cp -r --from-oci-layout --to-plain-http "$WORK/oras-layout:1.0" "$HOST/$ORG/oras/third:1.0"
  same "oras: with the same referrers" "$(found "$HOST/$ORG/oras/third:1.0")" 2

  does "oras: a referrer is deleted" oras manifest delete $plain -f "$copy@$sbom"
  same "oras: it is found no more" "$(found "$copy:1.0")" 1
  does "oras: the subject is deleted" oras manifest delete $plain -f "$copy@$digest"
  refused "oras: it is gone" "not found" oras manifest fetch $plain "$copy:1.0"
  same "oras: the original has all" "$(found "$thing:1.0")" 2

  head -c 5000000 /dev/urandom >lone.bin
  does "oras: a blob is pushed" oras blob push $plain "$thing" lone.bin
  does "oras: it is fetched" oras blob fetch $plain -o "$WORK/fetched/lone.bin" "$thing@$(sha lone.bin)"
  same "oras: it is the same" "$(sha "$WORK/fetched/lone.bin")" "$(sha lone.bin)"
  does "oras: it is deleted" oras blob delete $plain -f "$thing@$(sha lone.bin)"
  refused "oras: it is fetched no more" "not found" oras blob fetch $plain -o "$WORK/fetched/none.bin" "$thing@$(sha lone.bin)"
  refused "oras: a blob that is needed stays" "needs this blob" oras blob delete $plain -f "$thing@$big"
  refused "oras: there is no catalog" unsupported oras repo ls $plain "$HOST"

  public=$(image "$PUBLIC/oras:latest" 1)
  image "$PUBLIC/oras:2.0" 2 >/dev/null
  does "oras: a referrer of a public image is attached" oras attach $plain --artifact-type application/vnd.example.sbom "$public" sbom.json
  shown=$(nobody oras discover $plain --format json "$HOST/$PUBLIC/oras:latest" | json referrers.0.digest)
  does "oras: anybody finds and pulls it" nobody oras pull $plain -o "$WORK/fetched" "$HOST/$PUBLIC/oras@$shown"
  same "oras: it is what was attached" "$(sha "$WORK/fetched/sbom.json")" "$(sha sbom.json)"
  refused "oras: nobody sees another tag" denied nobody oras manifest fetch $plain "$HOST/$PUBLIC/oras:2.0"
  refused "oras: nobody sees a private artifact" denied nobody oras manifest fetch $plain "$thing:1.0"
  refused "oras: nobody attaches" "403: Forbidden" nobody oras attach $plain --artifact-type application/vnd.example.sbom "$public" report.txt
}

check_cosign() {
  local here=(--allow-http-registry) sign verify app public seen
  export COSIGN_PASSWORD="moorage" COSIGN_YES=true
  mkdir -p "$WORK/keys"
  cd "$WORK/keys"
  does "cosign: a key pair is made" cosign generate-key-pair
  cosign generate-key-pair --output-key-prefix other >/dev/null 2>&1
  # Neither a log, nor a clock, nor a certificate authority: the key alone.
  cosign signing-config create --out signing.json
  cosign trusted-root create --out root.json
  sign=(--key cosign.key --signing-config signing.json --trusted-root root.json "${here[@]}")
  verify=(--insecure-ignore-tlog "${here[@]}")
  app=$(image "$ORG/cosign/app:1.0" 1)
  public=$(image "$PUBLIC/cosign:latest" 1)
  refused "cosign: an image is not signed yet" "no signatures found" cosign verify --key cosign.pub "${verify[@]}" "$app"
  does "cosign: it is signed, with its architectures" cosign sign --recursive "${sign[@]}" "$app"
  does "cosign: the signature is verified" cosign verify --key cosign.pub "${verify[@]}" "$app"
  says "cosign: it is for this digest" "${app#*@}"
  does "cosign: by the tag as well" cosign verify --key cosign.pub "${verify[@]}" "${app%@*}:1.0"
  refused "cosign: not with another key" "accepted signatures do not match" cosign verify --key other.pub "${verify[@]}" "$app"
  does "cosign: the signature is a referrer" cosign tree "${here[@]}" "$app"
  says "cosign: of the image" "artifacts via OCI referrer: ${app%@*}@sha256:"
  seen=$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/cosign/app")" "$URL/v2/$ORG/cosign/app/referrers/${app#*@}" | json manifests.0.artifactType)
  same "cosign: the registry's list of referrers has it" "$seen" application/vnd.dev.sigstore.bundle.v0.3+json
  echo '{"tests":"passed"}' >predicate.json
  does "cosign: an attestation is attached" cosign attest --predicate predicate.json --type https://example.com/tests "${sign[@]}" "$app"
  does "cosign: it is verified" cosign verify-attestation --key cosign.pub --type https://example.com/tests "${verify[@]}" "$app"
  refused "cosign: not with another key" "accepted signatures do not match" cosign verify-attestation --key other.pub --type https://example.com/tests "${verify[@]}" "$app"
  refused "cosign: nobody verifies a private image" denied nobody cosign verify --key cosign.pub "${verify[@]}" "$app"
  does "cosign: a public image is signed" cosign sign "${sign[@]}" "$public"
  does "cosign: anybody verifies it" nobody cosign verify --key cosign.pub "${verify[@]}" "$HOST/$PUBLIC/cosign:latest"
  refused "cosign: nobody signs it" "403 Forbidden" nobody cosign sign "${sign[@]}" "$public"
  # Before version 3, a signature was a tag named after the image's digest.
  app=$(image "$ORG/cosign/older:1.0" 2)
  does "cosign: an image is signed in the older way" cosign sign --key cosign.key --use-signing-config=false --new-bundle-format=false --tlog-upload=false "${here[@]}" "$app"
  seen=$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/cosign/older")" "$URL/v2/$ORG/cosign/older/tags/list" | json tags.1)
  same "cosign: the signature has its tag" "$seen" "sha256-${app##*:}.sig"
  does "cosign: it is verified" cosign verify --key cosign.pub --new-bundle-format=false "${verify[@]}" "$app"
  refused "cosign: not with another key" "no matching signatures\|invalid signature" cosign verify --key other.pub --new-bundle-format=false "${verify[@]}" "$app"
}

# registry_token REPOSITORY: a token to pull from it.
registry_token() { curl -fsS -m 20 -u "any:$PLATFORM_TOKEN" "$URL/token?scope=repository:$1:pull" | json token; }

for name in "$@"; do
  case " ${MISSING[*]:-} " in *" $name "*) continue ;; esac
  BEGAN=$PASSED
  cd "$WORK"
  "check_$name"
  echo "$name: $((PASSED - BEGAN)) checks passed"
done
echo "clients: $PASSED checks passed"
[ "${#MISSING[@]}" -eq 0 ] || { echo "clients: not run: ${MISSING[*]}"; exit 77; }
