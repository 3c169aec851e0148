regctl() { timeout 60 "$TOOLS/regctl" "$@"; }

check_regctl() {
  local kept="$HOST/$ORG/regctl-kept" app="$HOST/$ORG/regctl/app" copy="$HOST/$ORG/regctl/copies/app" before sbom layer public child
  # Its own log-in, not Docker's file.
  local -x DOCKER_CONFIG="$WORK/nobody"
  does "regctl: plain HTTP is configured" regctl registry set "$HOST" --tls disabled
  refused "regctl: a log-in with a wrong password is rejected" "unauthorized" regctl registry login "$HOST" -u any --pass-stdin <<<wrong
  does "regctl: a log-in with a platform token succeeds" regctl registry login "$HOST" -u any --pass-stdin <<<"$PLATFORM_TOKEN"
  # Every blob larger than this is sent in chunks.
  does "regctl: blobs are sent in chunks" regctl registry set "$HOST" --blob-max 256 --blob-chunk 256
  does "regctl: an image for two architectures is pushed" regctl image copy "ocidir://$WORK/sample/build1@$FIRST" "$app:1.0"
  same "regctl: the pushed image has the same digest" "$(regctl image digest "$app:1.0")" "$FIRST"
  regctl manifest get --format raw-body "$app:1.0" >manifest.json
  same "regctl: the manifest is the same, byte for byte" "$(sha manifest.json)" "$FIRST"
  same "regctl: the other architecture is found" "$(regctl image config --platform linux/arm64 --format '{{.Architecture}}' "$app:1.0")" arm64
  layer=$(regctl manifest get --platform linux/amd64 --format '{{(index .Layers 0).Digest}}' "$app:1.0")
  regctl blob get "$app" "$layer" >layer
  same "regctl: a layer is the same, byte for byte" "$(sha layer)" "$layer"

  echo '{"bomFormat":"CycloneDX"}' >sbom.json
  does "regctl: an SBOM is attached" regctl artifact put --subject "$app:1.0" --artifact-type application/vnd.cyclonedx+json --file-media-type application/vnd.cyclonedx+json -f sbom.json
  does "regctl: a report is attached" regctl artifact put --subject "$app:1.0" --artifact-type application/vnd.example.report --annotation org.example.by=ci <<<fine
  same "regctl: both referrers are listed" "$(regctl artifact list --format '{{len .Descriptors}}' "$app:1.0")" 2
  sbom=$(regctl artifact list --filter-artifact-type application/vnd.cyclonedx+json --format '{{(index .Descriptors 0).Digest}}' "$app:1.0")
  regctl artifact get "$app@$sbom" >got.json
  same "regctl: the fetched SBOM is the attached one" "$(sha got.json)" "$(sha sbom.json)"
  same "regctl: a referrer is found by its annotation" "$(regctl artifact list --filter-annotation org.example.by=ci --format '{{len .Descriptors}}' "$app:1.0")" 1
  # Older clients store signatures and SBOMs under a tag that is named after the image's digest.
  does "regctl: a tag named after the digest is set" regctl artifact put --artifact-type application/vnd.example.older "$app:sha256-${FIRST#*:}.older" <<<old
  does "regctl: an image is copied with its referrers and those tags" regctl image copy --referrers --digest-tags "$app:1.0" "$copy:1.0"
  same "regctl: the copy's digest is the same" "$(regctl image digest "$copy:1.0")" "$FIRST"
  copied regctl "$app" "$copy" "$FIRST"
  for child in $(regctl manifest get --format '{{range .Manifests}}{{println .Digest}}{{end}}' "$copy:1.0"); do
    regctl manifest get --format raw-body "$copy@$child" >child.json
    same "regctl: the image of one architecture is read by its digest" "$(sha child.json)" "$child"
  done
  same "regctl: the copy's referrers are the same" "$(regctl artifact list --format body "$copy:1.0" | sha256sum)" "$(regctl artifact list --format body "$app:1.0" | sha256sum)"
  same "regctl: the copy's tags are the same" "$(regctl tag ls "$copy" | tr '\n' ' ')" "$(regctl tag ls "$app" | tr '\n' ' ')"

  tar -cf layer.tar sbom.json
  does "regctl: an image is modified and pushed" regctl image mod "$app:1.0" --create "$app:changed" --label org.example.color=green --layer-add tar=layer.tar
  same "regctl: the change is in both architectures" \
    "$(for child in amd64 arm64; do regctl image config --platform "linux/$child" --format '{{index .Config.Labels "org.example.color"}}' "$app:changed"; done)" greengreen
  does "regctl: an index is made of two images" regctl index create --ref "$app:1.0" --ref "$app:changed" "$app:index"
  does "regctl: a whole repository is copied" regctl repo copy "$app" "$HOST/$ORG/regctl/all"
  same "regctl: the copied repository has all tags" "$(regctl tag ls "$HOST/$ORG/regctl/all" | tr '\n' ' ')" "$(regctl tag ls "$app" | tr '\n' ' ')"
  does "regctl: an image is exported to a file" regctl image export "$app:1.0" image.tar
  does "regctl: the file is imported into a repository" regctl image import "$HOST/$ORG/regctl/imported:1.0" image.tar
  same "regctl: the imported image has the same digest" "$(regctl image digest "$HOST/$ORG/regctl/imported:1.0")" "$FIRST"

  does "regctl: an image is pushed" regctl image copy "$app:1.0" "$kept:1.0"
  before=$(this_second)
  does "regctl: another image is pushed to the tag" regctl image copy "$app:changed" "$kept:1.0"
  same "regctl: the tag as of a time points to the first image" "$(regctl image digest "$kept:1.0--at--$before")" "$FIRST"
  does "regctl: the tag as of a time is copied" regctl image copy "$kept:1.0--at--$before" "$HOST/$ORG/regctl/restored:1.0"
  same "regctl: the copy has the digest of the first image" "$(regctl image digest "$HOST/$ORG/regctl/restored:1.0")" "$FIRST"
  refused "regctl: a push to a tag as of a time is rejected" "read-only and is never pushed" regctl image copy "$app:1.0" "$kept:2.0--at--$before"
  policy regctl-kept '{"immutableTags":["v.*"]}'
  does "regctl: an immutable tag is pushed" regctl image copy "$app:1.0" "$kept:v1"
  refused "regctl: the immutable tag cannot be changed" "tag v1 is immutable by the repo's tag policy and stays at $FIRST" regctl image copy "$app:changed" "$kept:v1"

  does "regctl: a tag is deleted" regctl tag delete "$app:changed"
  same "regctl: the deleted tag is not listed, the others are" "$(regctl tag ls "$app" | tr '\n' ' ')" "1.0 index sha256-${FIRST#*:}.older "
  does "regctl: a referrer is deleted" regctl manifest delete "$copy@$sbom"
  same "regctl: the deleted referrer is not listed" "$(regctl artifact list --format '{{len .Descriptors}}' "$copy:1.0")" 1
  does "regctl: an image is deleted by its digest" regctl manifest delete "$copy@$FIRST"
  refused "regctl: the deleted image is not found" MANIFEST_UNKNOWN regctl manifest get "$copy@$FIRST"
  same "regctl: the original of the deleted copy is still there" "$(regctl image digest "$app:1.0")" "$FIRST"

  public=$(image "$PUBLIC/regctl:latest" 1)
  image "$PUBLIC/regctl:2.0" 2 >/dev/null
  cataloged regctl "$ORG/regctl-kept $ORG/regctl/all $ORG/regctl/app $ORG/regctl/copies/app $ORG/regctl/imported $ORG/regctl/restored $PUBLIC/regctl" \
    regctl --host "reg=$HOST,tls=disabled" repo ls "$HOST"
  stranger() { nobody regctl --host "reg=$HOST,tls=disabled" "$@"; }
  same "regctl: a public image is read anonymously" "$(stranger image digest "$HOST/$PUBLIC/regctl:latest")" "$FIRST"
  does "regctl: a public image is pulled anonymously" stranger image copy "$public" ocidir://public:latest
  refused "regctl: anonymous access to the other tag is denied" DENIED stranger manifest get "$HOST/$PUBLIC/regctl:2.0"
  refused "regctl: anonymous access to a private image is denied" DENIED stranger manifest get "$app:1.0"
  refused "regctl: a push without an organization says how names begin" "Image names begin with an organization, as in .*/first; this identity may push to" \
    regctl image copy "ocidir://$WORK/sample/build1@$FIRST" "$HOST/first:1.0"
  refused "regctl: an anonymous deletion is denied" "unauthorized\|denied" stranger tag delete "$HOST/$PUBLIC/regctl:latest"
  does "regctl: a CI job pushes with its own token" as_job main regctl --host "reg=$HOST,tls=disabled" image copy "ocidir://$WORK/sample/build1:latest" "$HOST/$ORG/ci-regctl:1.0"
  does "regctl: the commands of docs/clients.md work" document regctl
}
