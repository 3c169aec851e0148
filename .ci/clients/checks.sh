# Sourced by .ci/clients.sh: the functions that checks use. Each client's file in this folder defines a function
# check_<name>, which runs in $WORK/<name>.

PASSED=0
TOOLS=$ROOT/build/tools
ok() { PASSED=$((PASSED + 1)); echo "ok $PASSED - $1"; }
fail() { echo "not ok - $1"; exit 1; }
same() { [ "$2" = "$3" ] || fail "$1: expected $3, got $2"; ok "$1"; }
# does TITLE COMMAND…: the command must succeed; its output is written to out.log.
does() {
  local title=$1
  shift
  "$@" >"$WORK/out.log" 2>&1 || { tail -n 20 "$WORK/out.log"; fail "$title"; }
  ok "$title"
}
# refused TITLE PATTERN COMMAND…: the command must fail with output that matches the pattern.
refused() {
  local title=$1 pattern=$2
  shift 2
  if "$@" >"$WORK/out.log" 2>&1; then cat "$WORK/out.log"; fail "$title: it was served"; fi
  grep -qi -- "$pattern" "$WORK/out.log" || { tail -n 20 "$WORK/out.log"; fail "$title: refused for another reason"; }
  ok "$title"
}
# says TITLE PATTERN: the output of the last command of does must match.
says() { grep -q -- "$2" "$WORK/out.log" || { cat "$WORK/out.log"; fail "$1"; }; ok "$1"; }

# eventually COMMAND…: runs it until it succeeds, for a minute at most; the check that follows says what is wrong if it
# never did.
eventually() { for _ in $(seq 120); do if "$@" >/dev/null 2>&1; then return; fi; sleep 0.5; done; }
# fails COMMAND…: succeeds when the command does not.
fails() { ! "$@"; }

# nobody COMMAND…: runs it without credentials.
nobody() { DOCKER_CONFIG="$WORK/nobody" HOME="$WORK/nobody" "$@"; }
# image REPOSITORY:TAG BUILD: pushes one build of the sample, for two architectures, and prints host/repository@digest.
image() { moorage sample --data-dir "$DATA" --push "$URL/$1" --build "$2"; }
sha() { echo "sha256:$(sha256sum <"$1" | cut -d' ' -f1)"; }
# digest_in LAYOUT: the digest of the manifest in the OCI layout.
digest_in() { json manifests.0.digest <"$1/index.json"; }
# registry_token REPOSITORY: a token to pull from it.
registry_token() { curl -fsS -m 20 -u "any:$PLATFORM_TOKEN" "$URL/token?scope=repository:$1:pull" | json token; }
# policy REPO POLICY: sets the tag policy of the only repo with that name (the last part of its path).
policy() {
  local uid headers=(-H "Authorization: Bearer $PLATFORM_TOKEN" -H "Content-Type: application/json")
  uid=$(curl -fsS -m 20 "${headers[@]}" "$URL/registry/v2/repos?name=$1" | json repos.0.uid)
  curl -fsS -m 20 "${headers[@]}" -X PATCH -d "{\"tagPolicy\":$2}" "$URL/registry/v2/repos/$uid" >/dev/null
}
# this_second: prints the current second in the form of a tag as of a time, once that second is over.
this_second() {
  date -u +%Y%m%dT%H%M%SZ
  sleep 1.1
}
# whole HOST/REPOSITORY DIGEST: reads every manifest and blob below that digest, compares each with its digest and
# prints a line for each.
whole() { TOKEN=$(registry_token "${1#*/}") node "$ROOT/.ci/clients/whole.ts" "$URL/v2/${1#*/}" "$2"; }
# copied CLIENT FROM TO DIGEST: the copy must have all content of the original under the same digests, the index and
# both architectures included.
copied() {
  local original copy
  original=$(whole "$2" "$4") || fail "$1: the original is whole"
  copy=$(whole "$3" "$4") || fail "$1: the copy is whole"
  same "$1: every digest of the copy is the same, and can be read" "$copy" "$original"
}
# cataloged CLIENT REPOSITORIES COMMAND…: the command lists all repositories. Of the client's own, it must print these, sorted
# by bytes; without credentials it must print names of the public organization alone, and of the group that skopeo's
# checks have made public, where they came before on the same server.
cataloged() {
  local client=$1 expected=$2
  shift 2
  same "$client: the catalog has the repositories that the token may see" \
    "$("$@" | grep "^$ORG/$client\|^$PUBLIC/$client" | LC_ALL=C sort | tr '\n' ' ')" "$expected "
  nobody "$@" >"$WORK/out.log"
  same "$client: without credentials the catalog has the public repository" "$(grep -c "^$PUBLIC/$client$" "$WORK/out.log")" 1
  same "$client: without credentials the catalog has no private repository" "$(grep -vc "^$PUBLIC/\|^$ORG/skopeo-open/" "$WORK/out.log")" 0
}
# document CLIENT: runs the commands that docs/clients.md shows for it, unchanged, with no earlier log-in.
document() (
  commands=$(awk -v client="$1" '/^## / { here = $2 == client } /^```/ { shown = here && $1 == "```shell"; next } shown' "$ROOT/docs/clients.md")
  [ -n "$commands" ] || { echo "docs/clients.md has no commands for $1"; return 1; }
  mkdir -p document
  cd document
  cp -r "$WORK/nobody" home
  mkdir scratch
  ln -s "$WORK/sample" scratch/sample
  ln -s "$ROOT/node_modules" "$ROOT/packages" .
  unset DOCKER_CONFIG
  export HOME="$PWD/home" REGISTRY_AUTH_FILE="$PWD/auth.json" HOST TOKEN="$PLATFORM_TOKEN" PATH="$TOOLS:$PATH" npm_config_offline=true
  timeout 120 bash -euc "$commands" </dev/null
)

# api PATH: an answer of the platform API.
api() { curl -fsS -m 20 -H "Authorization: Bearer $PLATFORM_TOKEN" "$URL$1"; }
# becomes TITLE PATTERN PATH: what the platform API answers must match within a minute.
becomes() {
  for _ in $(seq 120); do
    if api "$3" >"$WORK/out.log" 2>&1 && grep -q -- "$2" "$WORK/out.log"; then
      ok "$1"
      return
    fi
    sleep 0.5
  done
  cat "$WORK/out.log"
  fail "$1"
}
# documents: writes sbom.cdx.json, an SBOM with one package about which the server's feed has a record, and vex.json,
# which says that it does no harm.
documents() {
  cat >sbom.cdx.json <<'END'
{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
 "components": [{"type": "library", "name": "attached", "version": "1.0.0", "purl": "pkg:npm/attached@1.0.0"}]}
END
  cat >vex.json <<'END'
{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://acme.example/vex/1", "author": "Acme",
 "timestamp": "2026-11-01T08:00:00Z", "version": 1,
 "statements": [{"vulnerability": {"name": "CVE-2026-4242"}, "products": [{"@id": "pkg:npm/attached@1.0.0"}],
  "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"}]}
END
}
# counts CLIENT HOST/REPOSITORY@DIGEST ATTACH…: ATTACH is called with the file of a document and its kind, cyclonedx or
# openvex, and must attach it to the image. Then it counts in what the server answers.
counts() {
  local client=$1 digest=${2#*@} name=${2%@*} uid of findings
  uid=$(api "/registry/v2/repos?name=${name##*/}" | json repos.0.uid)
  of="/registry/v2/repos/$uid/digests/$digest"
  findings="/vulnerabilities/v2/findings?repo=$uid&digest=$digest"
  shift 2
  documents
  does "$client: an SBOM is attached" "$@" sbom.cdx.json cyclonedx
  becomes "$client: the SBOM is read, and counts" '"kind":"cyclonedx".*"counts":true' "$of/attachments"
  becomes "$client: the packages of the image are those of the SBOM" "pkg:npm/attached@1.0.0" "$of/sbom"
  becomes "$client: what a feed says of them is found" '"vulnerability":"CVE-2026-4242"' "$findings"
  does "$client: an OpenVEX document is attached" "$@" vex.json openvex
  becomes "$client: the document is read" '"kind":"openvex"' "$of/attachments"
  becomes "$client: it closes the finding" "VEX_NOT_AFFECTED" "$findings&state=CLOSED"
  becomes "$client: it is in the VEX of the image" '"status":"not_affected"' "/vulnerabilities/v2/repos/$uid/vex?reference=$digest"
}
