regctl() { timeout 60 "$TOOLS/regctl" "$@"; }

check_regctl() {
  local kept="$HOST/$ORG/regctl-kept" app="$HOST/$ORG/regctl/app" copy="$HOST/$ORG/regctl/copies/app" before sbom layer public child
  # Its own log-in, not Docker's file.
  local -x DOCKER_CONFIG="$WORK/nobody"
  does "regctl: the registry speaks plain HTTP" regctl registry set "$HOST" --tls disabled
  refused "regctl: a log-in with a wrong password" "unauthorized" regctl registry login "$HOST" -u any --pass-stdin <<<wrong
  does "regctl: a log-in with a platform token" regctl registry login "$HOST" -u any --pass-stdin <<<"$PLATFORM_TOKEN"
  # Every blob larger than this is sent in chunks.
  does "regctl: blobs are sent in chunks" regctl registry set "$HOST" --blob-max 256 --blob-chunk 256
  does "regctl: an image for two architectures is pushed" regctl image copy "ocidir://$WORK/sample/build1@$FIRST" "$app:1.0"
  same "regctl: its digest is kept" "$(regctl image digest "$app:1.0")" "$FIRST"
  regctl manifest get --format raw-body "$app:1.0" >manifest.json
  same "regctl: its manifest is the same, byte for byte" "$(sha manifest.json)" "$FIRST"
  same "regctl: the other architecture is found" "$(regctl image config --platform linux/arm64 --format '{{.Architecture}}' "$app:1.0")" arm64
  layer=$(regctl manifest get --platform linux/amd64 --format '{{(index .Layers 0).Digest}}' "$app:1.0")
  regctl blob get "$app" "$layer" >layer
  same "regctl: a layer is the same, byte for byte" "$(sha layer)" "$layer"

  echo '{"bomFormat":"CycloneDX"}' >sbom.json
  does "regctl: an SBOM is attached" regctl artifact put --subject "$app:1.0" --artifact-type application/vnd.cyclonedx+json --file-media-type application/vnd.cyclonedx+json -f sbom.json
  does "regctl: a report is attached" regctl artifact put --subject "$app:1.0" --artifact-type application/vnd.example.report --annotation org.example.by=ci <<<fine
  same "regctl: both are listed" "$(regctl artifact list --format '{{len .Descriptors}}' "$app:1.0")" 2
  sbom=$(regctl artifact list --filter-artifact-type application/vnd.cyclonedx+json --format '{{(index .Descriptors 0).Digest}}' "$app:1.0")
  regctl artifact get "$app@$sbom" >got.json
  same "regctl: the SBOM is what was attached" "$(sha got.json)" "$(sha sbom.json)"
  same "regctl: one is found by its annotation" "$(regctl artifact list --filter-annotation org.example.by=ci --format '{{len .Descriptors}}' "$app:1.0")" 1
  # Older clients store signatures and SBOMs under a tag that is named after the image's digest.
  does "regctl: a tag named after the digest is given" regctl artifact put --artifact-type application/vnd.example.older "$app:sha256-${FIRST#*:}.older" <<<old
  does "regctl: an image is copied with its referrers and those tags" regctl image copy --referrers --digest-tags "$app:1.0" "$copy:1.0"
  same "regctl: the copy's digest is the same" "$(regctl image digest "$copy:1.0")" "$FIRST"
  copied regctl "$app" "$copy" "$FIRST"
  for child in $(regctl manifest get --format '{{range .Manifests}}{{println .Digest}}{{end}}' "$copy:1.0"); do
    regctl manifest get --format raw-body "$copy@$child" >child.json
    same "regctl: one architecture of it is read by its digest" "$(sha child.json)" "$child"
  done
  same "regctl: its referrers are the same" "$(regctl artifact list --format body "$copy:1.0" | sha256sum)" "$(regctl artifact list --format body "$app:1.0" | sha256sum)"
  same "regctl: its tags are the same" "$(regctl tag ls "$copy" | tr '\n' ' ')" "$(regctl tag ls "$app" | tr '\n' ' ')"

  tar -cf layer.tar sbom.json
  does "regctl: an image is changed on the way" regctl image mod "$app:1.0" --create "$app:changed" --label org.example.colour=green --layer-add tar=layer.tar
  same "regctl: the change is in both architectures" \
    "$(for child in amd64 arm64; do regctl image config --platform "linux/$child" --format '{{index .Config.Labels "org.example.colour"}}' "$app:changed"; done)" greengreen
  does "regctl: an index is made of two images" regctl index create --ref "$app:1.0" --ref "$app:changed" "$app:index"
  does "regctl: all of a repository is copied" regctl repo copy "$app" "$HOST/$ORG/regctl/all"
  same "regctl: with all its tags" "$(regctl tag ls "$HOST/$ORG/regctl/all" | tr '\n' ' ')" "$(regctl tag ls "$app" | tr '\n' ' ')"
  does "regctl: an image goes into a file" regctl image export "$app:1.0" image.tar
  does "regctl: and from it into a repository" regctl image import "$HOST/$ORG/regctl/imported:1.0" image.tar
  same "regctl: with the same digest" "$(regctl image digest "$HOST/$ORG/regctl/imported:1.0")" "$FIRST"

  does "regctl: an image is pushed" regctl image copy "$app:1.0" "$kept:1.0"
  before=$(this_second)
  does "regctl: another takes its tag" regctl image copy "$app:changed" "$kept:1.0"
  same "regctl: the tag as of a time is what it was" "$(regctl image digest "$kept:1.0--at--$before")" "$FIRST"
  does "regctl: it is copied as such" regctl image copy "$kept:1.0--at--$before" "$HOST/$ORG/regctl/restored:1.0"
  same "regctl: with its digest" "$(regctl image digest "$HOST/$ORG/regctl/restored:1.0")" "$FIRST"
  refused "regctl: nothing is pushed to such a tag" "read-only and is never pushed" regctl image copy "$app:1.0" "$kept:2.0--at--$before"
  policy regctl-kept '{"immutableTags":["v.*"]}'
  does "regctl: an immutable tag is pushed" regctl image copy "$app:1.0" "$kept:v1"
  refused "regctl: it does not move" "tag v1 is immutable by the repo's tag policy and stays at $FIRST" regctl image copy "$app:changed" "$kept:v1"

  does "regctl: a tag is deleted" regctl tag delete "$app:changed"
  same "regctl: it is listed no more, the others are" "$(regctl tag ls "$app" | tr '\n' ' ')" "1.0 index sha256-${FIRST#*:}.older "
  does "regctl: a referrer is deleted" regctl manifest delete "$copy@$sbom"
  same "regctl: it is listed no more" "$(regctl artifact list --format '{{len .Descriptors}}' "$copy:1.0")" 1
  does "regctl: an image is deleted by its digest" regctl manifest delete "$copy@$FIRST"
  refused "regctl: it is gone" MANIFEST_UNKNOWN regctl manifest get "$copy@$FIRST"
  same "regctl: its original is not" "$(regctl image digest "$app:1.0")" "$FIRST"
  refused "regctl: there is no list of repositories" "UNSUPPORTED" regctl repo ls "$HOST"

  public=$(image "$PUBLIC/regctl:latest" 1)
  image "$PUBLIC/regctl:2.0" 2 >/dev/null
  stranger() { nobody regctl --host "reg=$HOST,tls=disabled" "$@"; }
  same "regctl: anybody sees a public image" "$(stranger image digest "$HOST/$PUBLIC/regctl:latest")" "$FIRST"
  does "regctl: and pulls it" stranger image copy "$public" ocidir://public:latest
  refused "regctl: but not the other tag" DENIED stranger manifest get "$HOST/$PUBLIC/regctl:2.0"
  refused "regctl: nobody sees a private image" DENIED stranger manifest get "$app:1.0"
  refused "regctl: nobody deletes" "unauthorized\|denied" stranger tag delete "$HOST/$PUBLIC/regctl:latest"
  does "regctl: a CI job pushes with its own token" as_job main regctl --host "reg=$HOST,tls=disabled" image copy "ocidir://$WORK/sample/build1:latest" "$HOST/$ORG/ci-regctl:1.0"
  does "regctl: the commands of docs/clients.md" document regctl
}
