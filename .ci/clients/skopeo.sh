sk() { timeout 60 "$TOOLS/skopeo" --command-timeout 50s "$@"; }
# The digest of the raw manifest that the registry serves for a reference.
sk_digest() { echo "sha256:$(sk inspect --raw --tls-verify=false "$@" | sha256sum | cut -d' ' -f1)"; }
sk_copy() { sk copy -q --all --preserve-digests "$@"; }
sk_push() { sk_copy --dest-tls-verify=false "oci:$WORK/sample/$1:latest" "docker://$2"; }

check_skopeo() {
  local app="$HOST/$ORG/skopeo/app" copy="$HOST/$ORG/skopeo/copies/app" public="$HOST/$PUBLIC/skopeo" token tag
  does "skopeo: an image for two architectures is pushed" sk_push build1 "$app:1.0"
  same "skopeo: the pushed image has the same digest" "$(sk_digest "docker://$app:1.0")" "$FIRST"
  same "skopeo: a registry token is accepted as the password" "$(sk_digest --creds "any:$REGISTRY_TOKEN" "docker://$app:1.0")" "$FIRST"
  sk inspect --tls-verify=false --override-arch arm64 "docker://$app:1.0" >inspect.json
  same "skopeo: inspect finds the other architecture" "$(json Architecture <inspect.json)" arm64
  does "skopeo: another build is pushed" sk_push build2 "$app:1.0"
  same "skopeo: the tag points to the new build" "$(sk_digest "docker://$app:1.0")" "$SECOND"
  does "skopeo: the build gets another tag" sk_push build2 "$app:2.0"
  same "skopeo: tags are listed" "$(sk list-tags --tls-verify=false "docker://$app" | json Tags)" "[ '1.0', '2.0' ]"

  token=$(registry_token "$ORG/skopeo/app")
  curl -fsS -m 20 -H "Authorization: Bearer $token" "$URL/v2/$ORG/skopeo/app/_service/history/1.0" >history.json
  same "skopeo: the history has both builds, the oldest first" "$(json history.0.digest <history.json) $(json history.1.digest <history.json) $(json history.length <history.json)" "$FIRST $SECOND 2"

  does "skopeo: the first build is pulled by its digest" sk_copy --src-tls-verify=false "docker://$app@$FIRST" oci:pulled:latest
  same "skopeo: the pulled image has the same digest" "$(digest_in pulled)" "$FIRST"
  diff -r "$WORK/sample/build1/blobs" pulled/blobs >/dev/null || fail "skopeo: every blob of the pulled image is the same, byte for byte"
  ok "skopeo: every blob of the pulled image is the same, byte for byte"
  does "skopeo: an image is copied between repositories" sk_copy --src-tls-verify=false --dest-tls-verify=false "docker://$app:2.0" "docker://$copy:2.0"
  copied skopeo "$app" "$copy" "$SECOND"
  does "skopeo: the copy is deleted" sk delete --tls-verify=false "docker://$copy:2.0"
  refused "skopeo: the deleted copy is not found" "manifest unknown" sk inspect --raw --tls-verify=false "docker://$copy:2.0"
  same "skopeo: the original of the deleted copy is still there" "$(sk_digest "docker://$app:2.0")" "$SECOND"

  for tag in latest 1.0; do does "skopeo: a public image is pushed as $tag" sk_push build1 "$public:$tag"; done
  does "skopeo: another build is pushed as nightly" sk_push build2 "$public:nightly"
  same "skopeo: latest is pulled anonymously" "$(nobody sk_digest --no-creds "docker://$public:latest")" "$FIRST"
  does "skopeo: all blobs of latest are pulled anonymously" nobody sk_copy --src-no-creds --src-tls-verify=false "docker://$public:latest" oci:anonymous:latest
  refused "skopeo: an anonymous pull of another tag is denied" denied nobody sk inspect --raw --no-creds --tls-verify=false "docker://$public:1.0"
  refused "skopeo: an anonymous pull of a digest that latest never had is denied" denied nobody sk inspect --raw --no-creds --tls-verify=false "docker://$public@$SECOND"
  refused "skopeo: an anonymous pull of a private image is denied" denied nobody sk inspect --raw --no-creds --tls-verify=false "docker://$app:1.0"
  # A public group is read without a log-in, and written by nobody new.
  local open="$ORG/skopeo-open"
  moorage groups create "$open" >/dev/null
  does "skopeo: an image is pushed into a group" sk_push build1 "$HOST/$open/app:1.0"
  refused "skopeo: the group is not public at first" denied nobody sk inspect --raw --no-creds --tls-verify=false "docker://$HOST/$open/app:1.0"
  does "skopeo: everybody may pull from the group" moorage bindings create "$open" --identity-uid everybody --role-uid registry.pull
  same "skopeo: an image of the public group is pulled without a log-in" "$(nobody sk_digest --no-creds "docker://$HOST/$open/app:1.0")" "$FIRST"
  does "skopeo: all blobs of it are pulled without a log-in" nobody sk_copy --src-no-creds --src-tls-verify=false "docker://$HOST/$open/app:1.0" oci:open:latest
  refused "skopeo: nobody pushes into the public group without a log-in" "denied\|unauthorized" nobody sk_copy --dest-no-creds --dest-tls-verify=false "oci:$WORK/sample/build2:latest" "docker://$HOST/$open/app:2.0"
  refused "skopeo: the group beside it stays private" denied nobody sk inspect --raw --no-creds --tls-verify=false "docker://$app:1.0"
  refused "skopeo: a push without an organization says how names begin" "Image names begin with an organization, as in .*/first; this identity may push to" sk_push build1 "$HOST/first:1.0"
  does "skopeo: a CI job pushes with its own token" as_job main sk_push build1 "$HOST/$ORG/ci-skopeo:1.0"
  gated_skopeo "$HOST/$ORG/skopeo/gated"
  does "skopeo: the commands of docs/clients.md work" document skopeo
}

# gated_skopeo HOST/REPOSITORY: a vulnerability gate, which rejects the first build and not the second.
gated_skopeo() {
  local uid findings
  mkdir gate
  echo '{"id": "CVE-2026-4343", "modified": "2026-11-01T08:00:00Z", "affected": [{"package": {"ecosystem": "npm", "name": "hello"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2.0"}]}]}]}' >gate/CVE-2026-4343.json
  echo '{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://acme.example/vex/gate", "author": "Acme", "timestamp": "2026-11-01T08:00:00Z", "version": 1,
    "statements": [{"vulnerability": {"name": "CVE-2026-4343"}, "products": [{"@id": "pkg:npm/hello"}], "status": "not_affected", "justification": "vulnerable_code_not_present"}]}' >gate.json
  does "skopeo: an image is pushed to a repository that gets a gate" sk_push build1 "$1:1.0"
  policy gated '{"vulnerabilities": {"on": ["PULL"], "mode": "ENFORCE"}}'
  does "skopeo: an image without findings passes the gate" sk inspect --raw --tls-verify=false "docker://$1:1.0"
  moorage feeds import gate --feed gate --licence CC0-1.0 >/dev/null
  uid=$(api "/registry/v2/repos?name=gated" | json repos.0.uid)
  findings="/vulnerabilities/v2/findings?repo=$uid&tag=1.0"
  becomes "skopeo: both architectures get a finding" '"vulnerability":"CVE-2026-4343".*"vulnerability":"CVE-2026-4343"' "$findings"
  # What the gate knows of an image is up to a second old.
  eventually fails sk inspect --raw --tls-verify=false "docker://$1:1.0"
  refused "skopeo: the gate rejects the pull, and says why" "vulnerability gate does not let pass: CVE-2026-4343" sk inspect --raw --tls-verify=false "docker://$1:1.0"
  refused "skopeo: it rejects a pull by the digest, too" "CVE-2026-4343" sk_copy --src-tls-verify=false "docker://$1@$FIRST" oci:rejected:latest
  does "skopeo: a build that is fixed is pushed all the same" sk_push build2 "$1:2.0"
  does "skopeo: and passes the gate" sk_copy --src-tls-verify=false "docker://$1:2.0" oci:passed:latest
  moorage feeds add gate-vex --format openvex --licence CC0-1.0 --product pkg:npm/hello >/dev/null
  moorage feeds import gate.json --feed gate-vex >/dev/null
  becomes "skopeo: a VEX document of a trusted feed closes the findings" 'VEX_NOT_AFFECTED.*VEX_NOT_AFFECTED' "$findings&state=CLOSED"
  eventually sk inspect --raw --tls-verify=false "docker://$1:1.0"
  does "skopeo: with them the rejection ends" sk_copy --src-tls-verify=false "docker://$1:1.0" oci:excused:latest
  moorage feeds remove gate >/dev/null
  moorage feeds remove gate-vex >/dev/null
}
