helm() { timeout 60 "$TOOLS/helm" "$@"; }

check_helm() {
  local charts="oci://$HOST/$ORG/helm/charts" plain=--plain-http version pushed
  # Helm would also use the credentials of Docker's file; this check is about its own log-in.
  local -x DOCKER_CONFIG="$WORK/nobody"
  refused "helm: a log-in with a wrong password" "credentials were not accepted" helm registry login "$HOST" $plain -u any --password-stdin <<<wrong
  does "helm: a log-in with a platform token" helm registry login "$HOST" $plain -u any --password-stdin <<<"$PLATFORM_TOKEN"
  mkdir pulled by-digest
  helm create demo >/dev/null
  for version in 1.2.0 1.3.1 1.4.0-rc.1 1.1.0+build.5; do
    helm package demo --version "$version" >/dev/null
    does "helm: chart $version is pushed" helm push "demo-$version.tgz" "$charts" $plain
    [ "$version" != 1.3.1 ] || pushed=$(awk '/^Digest:/ { print $2 }' "$WORK/out.log")
  done
  does "helm: the newest is pulled, no pre-release" helm pull "$charts/demo" $plain -d pulled
  says "helm: it has the digest that was pushed" "^Digest: $pushed$"
  does "helm: one is pulled by a range" helm pull "$charts/demo" $plain -d pulled --version '~1.2'
  does "helm: one by a version with a plus sign" helm pull "$charts/demo" $plain -d pulled --version 1.1.0+build.5
  does "helm: a pre-release when it is asked for" helm pull "$charts/demo" $plain -d pulled --devel
  for version in 1.2.0 1.3.1 1.4.0-rc.1 1.1.0+build.5; do same "helm: chart $version is the same, byte for byte" "$(sha "pulled/demo-$version.tgz")" "$(sha "demo-$version.tgz")"; done
  does "helm: one is pulled by its digest" helm pull "$charts/demo@$pushed" $plain -d by-digest
  same "helm: it is the same, byte for byte" "$(sha by-digest/*)" "$(sha demo-1.3.1.tgz)"
  does "helm: a chart is shown" helm show chart "$charts/demo" $plain --version 1.2.0
  says "helm: it is that version" "^version: 1.2.0$"
  does "helm: a chart is rendered from the registry" helm template release "$charts/demo" $plain --version '^1.2'
  says "helm: it is the newest of the range" "helm.sh/chart: demo-1.3.1$"
  does "helm: its installation is tried, with no cluster" helm install release "$charts/demo" $plain --dry-run=client
  says "helm: it came through" "^DESCRIPTION: Dry run complete$"
  same "helm: the versions are tags" "$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/helm/charts/demo")" "$URL/v2/$ORG/helm/charts/demo/tags/list" | json tags)" \
    "[ '1.1.0_build.5', '1.2.0', '1.3.1', '1.4.0-rc.1' ]"

  policy demo '{"immutableTags":[".*"]}'
  does "helm: what is there is accepted again where versions are immutable" helm push demo-1.2.0.tgz "$charts" $plain
  echo "# changed" >>demo/values.yaml
  mkdir changed
  helm package demo --version 1.2.0 --destination changed >/dev/null
  refused "helm: another chart of the same version is not" "tag 1.2.0 is immutable by the repo's tag policy" helm push changed/demo-1.2.0.tgz "$charts" $plain

  # A chart that depends on another fetches it from the registry.
  helm create parent >/dev/null
  printf 'dependencies:\n  - name: demo\n    version: ~1.2\n    repository: %s\n' "$charts" >>parent/Chart.yaml
  does "helm: a chart's dependency is brought" helm dependency update parent $plain
  same "helm: it is the same, byte for byte" "$(sha parent/charts/demo-1.2.0.tgz)" "$(sha demo-1.2.0.tgz)"

  refused "helm: there is no such version" "not found" helm pull "$charts/demo" $plain --version 9.0.0
  refused "helm: there is no such chart" "not found" helm pull "$charts/none" $plain --version 1.2.0
  refused "helm: nobody pulls a private chart" "403: denied" nobody helm pull "$charts/demo" $plain --version 1.2.0
  refused "helm: nobody pushes" 403 nobody helm push demo-1.2.0.tgz "$charts" $plain
  helm package demo --version 2.0.0 >/dev/null
  does "helm: a public chart is pushed" helm push demo-2.0.0.tgz "oci://$HOST/$PUBLIC/helm" $plain
  refused "helm: nobody pulls it by its version, which is not public" "403: denied" nobody helm pull "oci://$HOST/$PUBLIC/helm/demo" $plain --version 2.0.0
  does "helm: a log-out" helm registry logout "$HOST"
  refused "helm: then it is nobody" "403: denied" helm pull "$charts/demo" $plain --version 1.2.0
  does "helm: a CI job pushes with its own token" as_job main helm push demo-2.0.0.tgz "oci://$HOST/$ORG" $plain
  does "helm: the commands of docs/clients.md" document helm
}
