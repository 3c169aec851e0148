# REGISTRY_USER and REGISTRY_PASSWORD are those of whoever signs.
notation() { REGISTRY_USER=any REGISTRY_PASSWORD="$PLATFORM_TOKEN" timeout 60 "$TOOLS/notation" "$@"; }

# notation_certificate NAME: a certificate that is its own root, with its key, as <name>.pem and <name>.key.
notation_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/C=US/ST=WA/O=acme/CN=$1" \
    -addext "basicConstraints=critical,CA:FALSE" -addext "keyUsage=critical,digitalSignature" \
    -addext "extendedKeyUsage=codeSigning" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# notation_policy NAME: what Notation itself trusts: the certificate of that name, in the folder trust.
notation_policy() {
  mkdir -p "trust/truststore/x509/ca/$1"
  cp "$1.pem" "trust/truststore/x509/ca/$1/"
  printf '{"version":"1.0","trustPolicies":[{"name":"all","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:%s"],"trustedIdentities":["x509.subject: C=US, ST=WA, O=acme, CN=%s"]}]}' "$1" "$1" >trust/trustpolicy.json
}

check_notation() {
  local app repo tag type pull user password
  notation_certificate release
  notation_certificate other
  notation_policy release
  moorage signers create "$ORG/notation" --x509-roots "$(cat release.pem)" --x509-identities "x509.subject: C=US, ST=WA, O=acme, CN=release" -o name >/dev/null
  repo="$ORG/notation/app"
  moorage signature-policies create "$ORG/notation" --signer "$ORG/notation" --repo-pattern "$repo" --on pull --mode enforce -o name >/dev/null
  moorage pull-token create --group "$ORG" --name notation --json >pull.json
  user=$(json username <pull.json)
  password=$(json password <pull.json)
  pull() { curl -sS -m 20 -o manifest.json -w '%{http_code}' -H "Authorization: Bearer $(curl -fsS -m 20 -u "$user:$password" "$URL/token?scope=repository:$repo:pull" | json token)" -H "Accept: application/vnd.oci.image.index.v1+json" "$URL/v2/$repo/manifests/$1"; }
  for type in jose+json cose; do
    tag=$([ "$type" = cose ] && echo 2.0 || echo 1.0)
    app=$(image "$repo:$tag" "${tag%.0}")
    same "notation: an image without a signature is blocked ($type)" "$(pull "$tag")" 403
    refused "notation: it is not verified by Notation either ($type)" "no signature" notation verify "$app" "$PWD/trust"
    does "notation: somebody else signs it ($type)" notation sign "$app" other.key other.pem "application/$type"
    moorage images signatures "$repo:$tag" --wait 60s >/dev/null
    same "notation: it is still blocked ($type)" "$(pull "$tag")" 403
    refused "notation: so it is by Notation ($type)" "signature" notation verify "$app" "$PWD/trust"
    does "notation: the signer signs it ($type)" notation sign "$app" release.key release.pem "application/$type"
    moorage images signatures "$repo:$tag" --wait 60s >signatures.txt
    same "notation: the signature is the signer's ($type)" "$(grep -c '^trusted  *notation  *image' signatures.txt)" 1
    same "notation: it is pulled ($type)" "$(pull "$tag")" 200
    does "notation: Notation verifies it, too ($type)" notation verify "$app" "$PWD/trust"
  done
}
