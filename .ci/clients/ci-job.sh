# Sourced by .ci/clients.sh: simulates a CI system on this machine, and runs a client as one of its jobs: with a token
# of the CI system, no stored credentials and no log-in.

# start_ci: starts it, and creates the identity that its jobs on the branch main assume; it may push to the
# organization's repos.
start_ci() {
  local organization role headers=(-H "Authorization: Bearer $PLATFORM_TOKEN" -H "Content-Type: application/json")
  node "$ROOT/packages/cli/src/demo/ci-provider.ts" 0 >"$WORK/ci.log" 2>&1 </dev/null &
  PIDS+=($!)
  for _ in $(seq 600); do ! grep -q listening "$WORK/ci.log" || break; sleep 0.1; done
  CI_URL=$(sed -n 's/.*listening at //p' "$WORK/ci.log")
  [ -n "$CI_URL" ] || fail "the CI system was not ready within 60 s"
  organization=$(bootstrap organization.uid)
  role=$(curl -fsS -m 20 "${headers[@]}" "$URL/iam/v2/roles?name=registry.push" | json roles.0.uid)
  CI_IDENTITY=$(curl -fsS -m 20 "${headers[@]}" "$URL/iam/v2/identities/$organization" -d "{\"name\":\"ci\",\"claimMatch\":{
    \"issuer\":\"$CI_URL/gitlab\",\"subject\":\"project_path:acme/app:ref_type:branch:ref:main\"}}" | json uid)
  curl -fsS -m 20 "${headers[@]}" "$URL/iam/v2/roleBindings/$organization" -d "{\"identityUid\":\"$CI_IDENTITY\",\"roleUid\":\"$role\"}" >/dev/null
  cp -r "$WORK/nobody" "$WORK/ci"
  printf '{"credHelpers":{"%s":"moorage"}}' "$HOST" >"$WORK/ci/.docker/config.json"
}
# as_job BRANCH COMMAND…
as_job() {
  local token
  token=$(curl -fsS -m 20 "$CI_URL/gitlab/token?audience=$URL&ref=$1")
  shift
  MOORAGE_REGISTRY_HOST=$HOST MOORAGE_AUDIENCE=$URL MOORAGE_IDENTITY=$CI_IDENTITY MOORAGE_ID_TOKEN=$token HOME="$WORK/ci" DOCKER_CONFIG="$WORK/ci/.docker" "$@"
}
