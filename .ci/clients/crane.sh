crane() { timeout 60 "$TOOLS/crane" "$@"; }

check_crane() {
  local child before kept="$HOST/$ORG/crane-kept" app="$HOST/$ORG/crane/app" copy="$HOST/$ORG/crane/copies/app" public="$HOST/$PUBLIC/crane"
  does "crane: an image for two architectures is pushed" crane push "$WORK/sample/build1" "$app:1.0"
  same "crane: the pushed image has the same digest" "$(crane digest "$app:1.0")" "$FIRST"
  crane manifest "$app:1.0" >manifest.json
  same "crane: the manifest is the same, byte for byte" "$(sha manifest.json)" "$FIRST"
  same "crane: the other architecture is found" "$(crane config --platform linux/arm64 "$app:1.0" | json architecture)" arm64
  does "crane: the image is valid, and every blob can be read" crane validate --remote "$app:1.0"
  does "crane: a tag is given" crane tag "$app:1.0" stable
  does "crane: another build is pushed" crane push "$WORK/sample/build2" "$app:1.0"
  same "crane: the tag points to the new build, the other tag to the old one" "$(crane digest "$app:1.0") $(crane digest "$app:stable")" "$SECOND $FIRST"
  same "crane: tags are listed" "$(crane ls "$app" | tr '\n' ' ')" "1.0 stable "
  does "crane: an image is copied to another repository" crane copy "$app:stable" "$copy:1.0"
  says "crane: blobs of the copied image are mounted" "mounted blob"
  same "crane: the copy's digest is the same" "$(crane digest "$copy:1.0")" "$FIRST"
  copied crane "$app" "$copy" "$FIRST"
  for child in $(crane manifest "$copy:1.0" | json manifests.0.digest) $(crane manifest "$copy:1.0" | json manifests.1.digest); do
    crane manifest "$copy@$child" >child.json
    same "crane: the image of one architecture is read by its digest" "$(sha child.json)" "$child"
  done
  does "crane: the image is pulled by its digest" crane pull --format oci "$copy@$FIRST" pulled
  diff -r "$WORK/sample/build1/blobs" pulled/blobs >/dev/null || fail "crane: every blob of the pulled image is the same, byte for byte"
  ok "crane: every blob of the pulled image is the same, byte for byte"
  # The digest of a layer from standard input is not known yet: it is uploaded before it is named.
  tar -cC "$WORK/sample" build1 >layer.tar
  does "crane: a streamed layer is pushed" crane append --platform linux/amd64 -b "$app:1.0" -f - -t "$app:appended" <layer.tar
  crane export "$app:appended" exported.tar
  same "crane: the image has the files of the streamed layer" "$(tar -xOf exported.tar build1/index.json | sha256sum)" "$(sha256sum <"$WORK/sample/build1/index.json")"
  does "crane: an image is deleted by its digest" crane delete "$copy@$FIRST"
  refused "crane: the deleted image is not found" MANIFEST_UNKNOWN crane manifest "$copy@$FIRST"
  refused "crane: the tag of the deleted image is not found" MANIFEST_UNKNOWN crane manifest "$copy:1.0"
  same "crane: the original of the deleted copy is still there" "$(crane digest "$app:stable")" "$FIRST"

  does "crane: an image is pushed" crane push "$WORK/sample/build1" "$kept:1.0"
  before=$(this_second)
  does "crane: another image is pushed to the tag" crane push "$WORK/sample/build2" "$kept:1.0"
  same "crane: the tag as of a time is the first, the tag itself the other" "$(crane digest "$kept:1.0--at--$before") $(crane digest "$kept:1.0")" "$FIRST $SECOND"
  does "crane: the image is pulled by the tag as of a time" crane validate --remote "$kept:1.0--at--$before"
  refused "crane: at a time before the push there was no tag" "there was no tag 1.0 then" crane manifest "$kept:1.0--at--20200101T000000Z"
  refused "crane: a push to a tag as of a time is rejected" "read-only and is never pushed" crane tag "$kept:1.0" "1.0--at--$before"
  refused "crane: a deletion of a tag as of a time is rejected" "read-only and cannot be deleted" crane delete "$kept:1.0--at--$before"
  same "crane: tags as of a time are not listed" "$(crane ls "$kept")" 1.0
  policy crane-kept '{"immutableTags":["v.*"],"protectedTags":["stable"]}'
  does "crane: an immutable tag is pushed" crane push "$WORK/sample/build1" "$kept:v1"
  does "crane: a push of the same image to the immutable tag is accepted" crane push "$WORK/sample/build1" "$kept:v1"
  refused "crane: a push of another image to the immutable tag is rejected" "tag v1 is immutable by the repo's tag policy and stays at $FIRST" crane push "$WORK/sample/build2" "$kept:v1"
  does "crane: a protected tag is set" crane tag "$kept:v1" stable
  refused "crane: the protected tag cannot be deleted" "tag stable is protected from deletion" crane delete "$kept:stable"
  refused "crane: the image of the protected tag cannot be deleted" "tag stable is protected from deletion" crane delete "$kept@$FIRST"

  refused "crane: an anonymous pull of a private image is denied" DENIED nobody crane manifest "$app:1.0"
  does "crane: a public image is pushed" crane push "$WORK/sample/build1" "$public:latest"
  does "crane: a public image is pushed to another tag" crane push "$WORK/sample/build2" "$public:2.0"
  cataloged crane "$ORG/crane-kept $ORG/crane/app $ORG/crane/copies/app $PUBLIC/crane" crane catalog "$HOST"
  does "crane: latest is pulled anonymously" nobody crane pull --format oci "$public:latest" public
  does "crane: all blobs of latest are pulled anonymously" nobody crane validate --remote "$public:latest"
  refused "crane: an anonymous pull of the other tag is denied" DENIED nobody crane pull "$public:2.0" refused.tar
  refused "crane: a push without an organization says how names begin" "Image names begin with an organization, as in .*/first; this identity may push to" crane push "$WORK/sample/build1" "$HOST/first:1.0"
  refused "crane: an anonymous push is denied" "UNAUTHORIZED: .*to push .* an identity needs a role binding" nobody crane push "$WORK/sample/build2" "$public:latest"
  refused "crane: an anonymous tag is denied" UNAUTHORIZED nobody crane tag "$public:latest" 3.0
  same "crane: latest is unchanged" "$(crane digest "$public:latest")" "$FIRST"
  DOCKER_CONFIG=$PWD/login does "crane: a log-in with a registry token succeeds" crane auth login "$HOST" --insecure -u any --password-stdin <<<"$REGISTRY_TOKEN"
  same "crane: the registry token allows pulls" "$(DOCKER_CONFIG=$PWD/login crane digest "$app:1.0")" "$SECOND"
  does "crane: a CI job pushes with its own token" as_job main crane push "$WORK/sample/build1" "$HOST/$ORG/ci-crane:1.0"
  refused "crane: a push by a job of another branch is rejected with the reason" "does not accept claim sub" as_job other crane push "$WORK/sample/build2" "$HOST/$ORG/ci-crane:1.0"
  does "crane: the commands of docs/clients.md work" document crane
}
