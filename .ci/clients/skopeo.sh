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
  does "skopeo: a CI job pushes with its own token" as_job main sk_push build1 "$HOST/$ORG/ci-skopeo:1.0"
  does "skopeo: the commands of docs/clients.md work" document skopeo
}
