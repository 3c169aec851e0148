helm() { timeout 60 "$TOOLS/helm" "$@"; }

check_helm() {
  local charts="oci://$HOST/$ORG/helm/charts" plain=--plain-http version pushed
  # Helm would also use the credentials of Docker's file; this check is about its own log-in.
  local -x DOCKER_CONFIG="$WORK/nobody"
  refused "helm: a log-in with a wrong password is rejected" "credentials were not accepted" helm registry login "$HOST" $plain -u any --password-stdin <<<wrong
  does "helm: a log-in with a platform token succeeds" helm registry login "$HOST" $plain -u any --password-stdin <<<"$PLATFORM_TOKEN"
  mkdir pulled by-digest
  helm create demo >/dev/null
  for version in 1.2.0 1.3.1 1.4.0-rc.1 1.1.0+build.5; do
    helm package demo --version "$version" >/dev/null
    does "helm: chart $version is pushed" helm push "demo-$version.tgz" "$charts" $plain
    [ "$version" != 1.3.1 ] || pushed=$(awk '/^Digest:/ { print $2 }' "$WORK/out.log")
  done
  does "helm: without a version the newest release is pulled, no pre-release" helm pull "$charts/demo" $plain -d pulled
  says "helm: the pulled chart has the pushed digest" "^Digest: $pushed$"
  does "helm: a chart is pulled by a version range" helm pull "$charts/demo" $plain -d pulled --version '~1.2'
  does "helm: a chart is pulled by a version with a plus sign" helm pull "$charts/demo" $plain -d pulled --version 1.1.0+build.5
  does "helm: a pre-release is pulled when asked for" helm pull "$charts/demo" $plain -d pulled --devel
  for version in 1.2.0 1.3.1 1.4.0-rc.1 1.1.0+build.5; do same "helm: chart $version is the same, byte for byte" "$(sha "pulled/demo-$version.tgz")" "$(sha "demo-$version.tgz")"; done
  does "helm: a chart is pulled by its digest" helm pull "$charts/demo@$pushed" $plain -d by-digest
  same "helm: the pulled chart is the same, byte for byte" "$(sha by-digest/*)" "$(sha demo-1.3.1.tgz)"
  does "helm: a chart is shown" helm show chart "$charts/demo" $plain --version 1.2.0
  says "helm: the shown chart has that version" "^version: 1.2.0$"
  does "helm: a chart is rendered from the registry" helm template release "$charts/demo" $plain --version '^1.2'
  says "helm: the rendered chart is the newest of the range" "helm.sh/chart: demo-1.3.1$"
  does "helm: a dry run of an installation succeeds without a cluster" helm install release "$charts/demo" $plain --dry-run=client
  says "helm: the dry run rendered the chart" "^DESCRIPTION: Dry run complete$"
  same "helm: the versions are tags" "$(curl -fsS -m 20 -H "Authorization: Bearer $(registry_token "$ORG/helm/charts/demo")" "$URL/v2/$ORG/helm/charts/demo/tags/list" | json tags)" \
    "[ '1.1.0_build.5', '1.2.0', '1.3.1', '1.4.0-rc.1' ]"

  policy demo '{"immutableTags":[".*"]}'
  does "helm: a push of the same chart is accepted where versions are immutable" helm push demo-1.2.0.tgz "$charts" $plain
  echo "# changed" >>demo/values.yaml
  mkdir changed
  helm package demo --version 1.2.0 --destination changed >/dev/null
  refused "helm: a push of another chart with the same version is rejected" "tag 1.2.0 is immutable by the repo's tag policy" helm push changed/demo-1.2.0.tgz "$charts" $plain

  # A chart that depends on another fetches it from the registry.
  helm create parent >/dev/null
  printf 'dependencies:\n  - name: demo\n    version: ~1.2\n    repository: %s\n' "$charts" >>parent/Chart.yaml
  does "helm: a chart's dependency is fetched" helm dependency update parent $plain
  same "helm: the fetched dependency is the same, byte for byte" "$(sha parent/charts/demo-1.2.0.tgz)" "$(sha demo-1.2.0.tgz)"

  refused "helm: a missing version is an error" "not found" helm pull "$charts/demo" $plain --version 9.0.0
  refused "helm: a missing chart is an error" "not found" helm pull "$charts/none" $plain --version 1.2.0
  refused "helm: an anonymous pull of a private chart is denied" "403: denied" nobody helm pull "$charts/demo" $plain --version 1.2.0
  refused "helm: an anonymous push is denied" 403 nobody helm push demo-1.2.0.tgz "$charts" $plain
  helm package demo --version 2.0.0 >/dev/null
  does "helm: a public chart is pushed" helm push demo-2.0.0.tgz "oci://$HOST/$PUBLIC/helm" $plain
  refused "helm: an anonymous pull by a version that is not public is denied" "403: denied" nobody helm pull "oci://$HOST/$PUBLIC/helm/demo" $plain --version 2.0.0
  does "helm: a log-out succeeds" helm registry logout "$HOST"
  refused "helm: a pull after the log-out is denied" "403: denied" helm pull "$charts/demo" $plain --version 1.2.0
  does "helm: a CI job pushes with its own token" as_job main helm push demo-2.0.0.tgz "oci://$HOST/$ORG" $plain
  does "helm: the commands of docs/clients.md work" document helm
}
