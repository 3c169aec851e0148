# Sourced by .ci/clients.sh: how a check is written. Each client's file beside this one gives its function, check_<name>, which is run in $WORK/<name>.

PASSED=0
TOOLS=$ROOT/build/tools
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
  if "$@" >"$WORK/out.log" 2>&1; then cat "$WORK/out.log"; fail "$title: it was served"; fi
  grep -qi -- "$pattern" "$WORK/out.log" || { tail -n 20 "$WORK/out.log"; fail "$title: refused for another reason"; }
  ok "$title"
}
# says TITLE PATTERN: the last command of does said so.
says() { grep -q -- "$2" "$WORK/out.log" || { cat "$WORK/out.log"; fail "$1"; }; ok "$1"; }

# nobody COMMAND…: with no credentials.
nobody() { DOCKER_CONFIG="$WORK/nobody" HOME="$WORK/nobody" "$@"; }
# image REPOSITORY:TAG BUILD: pushes one build of the sample, for two architectures, and prints host/repository@digest.
image() { moorage sample --data-dir "$DATA" --push "$URL/$1" --build "$2"; }
sha() { echo "sha256:$(sha256sum <"$1" | cut -d' ' -f1)"; }
# digest_in LAYOUT: what the OCI layout holds.
digest_in() { json manifests.0.digest <"$1/index.json"; }
# registry_token REPOSITORY: a token to pull from it.
registry_token() { curl -fsS -m 20 -u "any:$PLATFORM_TOKEN" "$URL/token?scope=repository:$1:pull" | json token; }
# policy REPO POLICY: gives the only repo of that name, without the path to it, a tag policy.
policy() {
  local uid headers=(-H "Authorization: Bearer $PLATFORM_TOKEN" -H "Content-Type: application/json")
  uid=$(curl -fsS -m 20 "${headers[@]}" "$URL/registry/v2/repos?name=$1" | json repos.0.uid)
  curl -fsS -m 20 "${headers[@]}" -X PATCH -d "{\"tagPolicy\":$2}" "$URL/registry/v2/repos/$uid" >/dev/null
}
# this_second: now, as it stands in a tag as of a time; that second is over when it is printed.
this_second() {
  date -u +%Y%m%dT%H%M%SZ
  sleep 1.1
}
# whole HOST/REPOSITORY DIGEST: every manifest and blob from that digest on, each read by its digest and compared with it: one line each.
whole() { TOKEN=$(registry_token "${1#*/}") node "$ROOT/.ci/clients/whole.ts" "$URL/v2/${1#*/}" "$2"; }
# copied CLIENT FROM TO DIGEST: the copy has all that the original has, under the same digests, the index and both architectures among them.
copied() {
  local original copy
  original=$(whole "$2" "$4") || fail "$1: the original is whole"
  copy=$(whole "$3" "$4") || fail "$1: the copy is whole"
  same "$1: every digest of the copy is the same, and can be read" "$copy" "$original"
}
# document CLIENT: runs the commands that docs/clients.md shows for it, as they stand, where nobody has logged in before.
document() (
  commands=$(awk -v client="$1" '/^## / { here = $2 == client } /^```/ { shown = here && $1 == "```shell"; next } shown' "$ROOT/docs/clients.md")
  [ -n "$commands" ] || { echo "docs/clients.md has no commands for $1"; return 1; }
  mkdir -p document
  cd document
  cp -r "$WORK/nobody" home
  ln -s "$WORK/sample" "$ROOT/node_modules" "$ROOT/packages" .
  unset DOCKER_CONFIG
  export HOME="$PWD/home" REGISTRY_AUTH_FILE="$PWD/auth.json" HOST TOKEN="$PLATFORM_TOKEN" PATH="$TOOLS:$PATH" npm_config_offline=true
  timeout 120 bash -euc "$commands" </dev/null
)
