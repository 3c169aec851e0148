oras() { timeout 60 "$TOOLS/oras" "$@"; }

check_oras() {
  local plain=--plain-http images="$HOST/$ORG/oras/images" arm thing="$HOST/$ORG/oras/thing" copy="$HOST/$ORG/oras/copies/thing" digest sbom report big public shown app uid
  mkdir fetched
  echo "hello" >hello.txt
  echo '{"bomFormat":"CycloneDX"}' >sbom.json
  echo "fine" >report.txt
  # Larger than any buffer in client or server.
  head -c 9000000 /dev/urandom >big.bin
  big=$(sha big.bin)
  does "oras: an artifact with a type and an annotation is pushed" \
    oras push $plain --artifact-type application/vnd.example.thing -a org.example.color=green "$thing:1.0" hello.txt:text/plain big.bin
  digest=$(oras resolve $plain "$thing:1.0")
  oras manifest fetch $plain "$thing@$digest" >manifest.json
  same "oras: the manifest is the same, byte for byte" "$(sha manifest.json)" "$digest"
  same "oras: the artifact type is stored" "$(json artifactType <manifest.json)" application/vnd.example.thing
  same "oras: the annotation is stored" "$(node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")).annotations["org.example.color"]' manifest.json)" green
  does "oras: the artifact is pulled" oras pull $plain -o fetched "$thing:1.0"
  if cmp -s hello.txt fetched/hello.txt && cmp -s big.bin fetched/big.bin; then ok "oras: the pulled files are the same"; else fail "oras: the pulled files differ"; fi

  does "oras: a referrer is attached" oras attach $plain --artifact-type application/vnd.example.sbom "$thing:1.0" sbom.json
  does "oras: a referrer of another type is attached" oras attach $plain --artifact-type application/vnd.example.report -a org.example.by=ci "$thing@$digest" report.txt
  found() { oras discover $plain --format json "$@" | json referrers.length; }
  first_of() { oras discover $plain --format json --artifact-type "$1" "$2" | json referrers.0.digest; }
  same "oras: both referrers are found" "$(found "$thing:1.0")" 2
  same "oras: a referrer is found by its type" "$(found --artifact-type application/vnd.example.sbom "$thing:1.0")" 1
  sbom=$(first_of application/vnd.example.sbom "$thing:1.0")
  report=$(first_of application/vnd.example.report "$thing:1.0")
  does "oras: a referrer of a referrer is attached" oras attach $plain --artifact-type application/vnd.example.note "$thing@$sbom" hello.txt
  same "oras: the referrer of the referrer is found" "$(oras discover $plain --format json "$thing@$sbom" | json referrers.0.artifactType)" application/vnd.example.note
  same "oras: referrers create no tags" "$(oras repo tags $plain "$thing" | tr '\n' ' ')" "1.0 "

  does "oras: an artifact is copied with its referrers" oras cp -r --from-plain-http --to-plain-http "$thing:1.0" "$copy:1.0"
  says "oras: blobs of the copy are mounted" "^Mounted"
  same "oras: the copy's digest is the same" "$(oras resolve $plain "$copy:1.0")" "$digest"
  same "oras: the copy's referrers are the same" "$(first_of application/vnd.example.sbom "$copy:1.0") $(first_of application/vnd.example.report "$copy:1.0")" "$sbom $report"
  same "oras: the referrers of the copy's referrers are the same" "$(found "$copy@$sbom")" 1
  does "oras: the artifact is copied to an OCI layout" oras cp -r --from-plain-http --to-oci-layout "$copy:1.0" layout:1.0
  does "oras: the layout is copied to a third repository" oras cp -r --from-oci-layout --to-plain-http layout:1.0 "$HOST/$ORG/oras/third:1.0"
  same "oras: the third repository has the same referrers" "$(found "$HOST/$ORG/oras/third:1.0")" 2

  # An image for two architectures, each with its own artifact that stands for a signature.
  does "oras: an image for two architectures is pushed" oras cp --from-oci-layout --to-plain-http "$WORK/sample/build1:latest" "$images:1.0"
  does "oras: a referrer of the index is attached" oras attach $plain --artifact-type application/vnd.example.sbom "$images:1.0" sbom.json
  does "oras: a referrer of one architecture is attached" oras attach $plain --artifact-type application/vnd.example.sbom --platform linux/arm64 "$images:1.0" sbom.json
  does "oras: the image is copied with its referrers" oras cp -r --from-plain-http --to-plain-http "$images:1.0" "$HOST/$ORG/oras/copies/images:1.0"
  copied oras "$images" "$HOST/$ORG/oras/copies/images" "$FIRST"
  arm=$(oras resolve $plain --platform linux/arm64 "$HOST/$ORG/oras/copies/images:1.0")
  same "oras: the copy has the architecture's referrer" "$(first_of application/vnd.example.sbom "$HOST/$ORG/oras/copies/images@$arm")" "$(first_of application/vnd.example.sbom "$images@$arm")"

  does "oras: a referrer is deleted" oras manifest delete $plain -f "$copy@$sbom"
  same "oras: the deleted referrer is not found" "$(found "$copy:1.0")" 1
  does "oras: the subject is deleted" oras manifest delete $plain -f "$copy@$digest"
  refused "oras: the deleted subject is not found" "not found" oras manifest fetch $plain "$copy:1.0"
  same "oras: the original still has all its referrers" "$(found "$thing:1.0")" 2

  head -c 5000000 /dev/urandom >lone.bin
  does "oras: a blob is pushed" oras blob push $plain "$thing" lone.bin
  does "oras: the blob is fetched" oras blob fetch $plain -o fetched/lone.bin "$thing@$(sha lone.bin)"
  same "oras: the fetched blob is the same" "$(sha fetched/lone.bin)" "$(sha lone.bin)"
  does "oras: the blob is deleted" oras blob delete $plain -f "$thing@$(sha lone.bin)"
  refused "oras: the deleted blob is not found" "not found" oras blob fetch $plain -o fetched/none.bin "$thing@$(sha lone.bin)"
  refused "oras: a blob that a manifest needs cannot be deleted" "needs this blob" oras blob delete $plain -f "$thing@$big"

  attach_document() { oras attach $plain --artifact-type "$([ "$2" = openvex ] && echo application/openvex+json || echo application/vnd.cyclonedx+json)" "$app" "$1"; }
  app=$(image "$ORG/oras/attached-oras:1.0" 1)
  counts oras "$app" attach_document
  # What the server itself attaches, and does not take for somebody's.
  made() { oras discover $plain --format json --artifact-type application/openvex+json "$app" | node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).referrers.find((r) => r.annotations?.["dev.moorage.vex.repo"])?.digest ?? ""'; }
  for _ in $(seq 120); do [ -z "$(made)" ] || break; sleep 0.5; done
  does "oras: the server's own VEX of the image is found and pulled" oras pull $plain -o fetched "${app%@*}@$(made)"
  uid=$(api "/registry/v2/repos?name=attached-oras" | json repos.0.uid)
  same "oras: it is what the API answers" "$(json statements.0.vulnerability.name <fetched/openvex.json) $(json statements.0.status <fetched/openvex.json)" "CVE-2026-4242 not_affected"
  same "oras: it is not listed as attached by anybody" "$(api "/registry/v2/repos/$uid/digests/${app#*@}/attachments" | json attachments.length)" 2

  public=$(image "$PUBLIC/oras:latest" 1)
  image "$PUBLIC/oras:2.0" 2 >/dev/null
  cataloged oras "$ORG/oras/attached-oras $ORG/oras/copies/images $ORG/oras/copies/thing $ORG/oras/images $ORG/oras/thing $ORG/oras/third $PUBLIC/oras" \
    oras repo ls $plain "$HOST"
  does "oras: a referrer of a public image is attached" oras attach $plain --artifact-type application/vnd.example.sbom "$public" sbom.json
  shown=$(nobody oras discover $plain --format json "$HOST/$PUBLIC/oras:latest" | json referrers.0.digest)
  does "oras: the referrer is found and pulled anonymously" nobody oras pull $plain -o fetched "$HOST/$PUBLIC/oras@$shown"
  same "oras: the pulled referrer is the attached one" "$(sha fetched/sbom.json)" "$(sha sbom.json)"
  refused "oras: anonymous access to another tag is denied" denied nobody oras manifest fetch $plain "$HOST/$PUBLIC/oras:2.0"
  refused "oras: anonymous access to a private artifact is denied" denied nobody oras manifest fetch $plain "$thing:1.0"
  refused "oras: a push without an organization says how names begin" "Image names begin with an organization, as in .*/first; this identity may push to" \
    oras push $plain "$HOST/first:1.0" hello.txt:text/plain
  refused "oras: an anonymous attach is denied" "to push .* an identity needs a role binding" nobody oras attach $plain --artifact-type application/vnd.example.sbom "$public" report.txt
  does "oras: a CI job pushes with its own token" as_job main oras cp --from-oci-layout --to-plain-http "$WORK/sample/build1:latest" "$HOST/$ORG/ci-oras:1.0"
  does "oras: the commands of docs/clients.md work" document oras
}
