cosign() { timeout 60 "$TOOLS/cosign" "$@"; }

check_cosign() {
  local here=(--allow-http-registry) sign verify app public seen attested
  export COSIGN_PASSWORD="moorage" COSIGN_YES=true
  does "cosign: a key pair is made" cosign generate-key-pair
  cosign generate-key-pair --output-key-prefix other >/dev/null 2>&1
  # No transparency log, timestamp service or certificate authority: only the key.
  cosign signing-config create --out signing.json
  cosign trusted-root create --out root.json
  sign=(--key cosign.key --signing-config signing.json --trusted-root root.json "${here[@]}")
  verify=(--insecure-ignore-tlog "${here[@]}")
  app=$(image "$ORG/cosign/app:1.0" 1)
  public=$(image "$PUBLIC/cosign:latest" 1)
  refused "cosign: verification fails before signing" "no signatures found" cosign verify --key cosign.pub "${verify[@]}" "$app"
  does "cosign: an image and its architectures are signed" cosign sign --recursive "${sign[@]}" "$app"
  does "cosign: the signature is verified" cosign verify --key cosign.pub "${verify[@]}" "$app"
  says "cosign: the signature is for this digest" "${app#*@}"
  does "cosign: the signature is verified by the tag as well" cosign verify --key cosign.pub "${verify[@]}" "${app%@*}:1.0"
  refused "cosign: verification with another key fails" "accepted signatures do not match" cosign verify --key other.pub "${verify[@]}" "$app"
  does "cosign: the signature is a referrer" cosign tree "${here[@]}" "$app"
  says "cosign: the signature is a referrer of the image" "artifacts via OCI referrer: ${app%@*}@sha256:"
  seen=$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/cosign/app")" "$URL/v2/$ORG/cosign/app/referrers/${app#*@}" | json manifests.0.artifactType)
  same "cosign: the registry's list of referrers has the signature" "$seen" application/vnd.dev.sigstore.bundle.v0.3+json
  echo '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"library","name":"libexample"}]}' >sbom.json
  does "cosign: a signed SBOM is attached" cosign attest --predicate sbom.json --type cyclonedx "${sign[@]}" "$app"
  does "cosign: the signature of the SBOM is verified" cosign verify-attestation --key cosign.pub --type cyclonedx "${verify[@]}" "$app"
  cosign download attestation --predicate-type https://cyclonedx.org/bom "${here[@]}" "$app" 2>/dev/null | json dsseEnvelope.payload | base64 -d >statement.json
  same "cosign: the verified SBOM is the attached one" "$(json predicate.components.0.name <statement.json) $(json subject.0.digest.sha256 <statement.json)" "libexample ${app##*:}"
  refused "cosign: verification with another key fails" "accepted signatures do not match" cosign verify-attestation --key other.pub --type cyclonedx "${verify[@]}" "$app"
  refused "cosign: an anonymous verification of a private image is denied" denied nobody cosign verify --key cosign.pub "${verify[@]}" "$app"
  does "cosign: a public image is signed" cosign sign "${sign[@]}" "$public"
  does "cosign: a public image is verified anonymously" nobody cosign verify --key cosign.pub "${verify[@]}" "$HOST/$PUBLIC/cosign:latest"
  refused "cosign: an anonymous signature is denied" UNAUTHORIZED nobody cosign sign "${sign[@]}" "$public"
  attest_document() { cosign attest --predicate "$1" --type "$2" "${sign[@]}" "$attested"; }
  attested=$(image "$ORG/cosign/attested:1.0" 1)
  counts cosign "$attested" attest_document
  # Before version 3, a signature was a tag named after the image's digest.
  app=$(image "$ORG/cosign/older:1.0" 2)
  does "cosign: an image is signed with the older format" cosign sign --key cosign.key --use-signing-config=false --new-bundle-format=false --tlog-upload=false "${here[@]}" "$app"
  seen=$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/cosign/older")" "$URL/v2/$ORG/cosign/older/tags/list" | json tags.1)
  same "cosign: the signature is stored under its tag" "$seen" "sha256-${app##*:}.sig"
  does "cosign: the signature is verified" cosign verify --key cosign.pub --new-bundle-format=false "${verify[@]}" "$app"
  refused "cosign: verification with another key fails" "no matching signatures\|invalid signature" cosign verify --key other.pub --new-bundle-format=false "${verify[@]}" "$app"
  does "cosign: the signatures are deleted" cosign clean --force "${here[@]}" "${app%@*}:1.0"
  refused "cosign: verification fails after the signatures are deleted" "no signatures found" cosign verify --key cosign.pub --new-bundle-format=false "${verify[@]}" "$app"
  does "cosign: a CI job signs, logged in with its own token" as_job main cosign sign "${sign[@]}" "$app"
  does "cosign: the commands of docs/clients.md work" document cosign
}
