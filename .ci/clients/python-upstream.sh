# Sourced by libraries.sh: pip and uv install real packages through an upstream, pypiserver on loopback, which is gone
# after that; and through another group of the server, as a second upstream, which says upload times.

# Real packages for the upstream, and the upstream itself: from the package registry, once.
prepare_python_upstream() {
  [ ! -d "$BUILT/python-packages" ] && [ -x "$BUILT/python/bin/pip" ] || return 0
  { python3 -m venv "$BUILT/pypiserver" && "$BUILT/pypiserver/bin/pip" install -q pypiserver==2.4.2 setuptools==80.9.0 \
    && "$BUILT/python/bin/pip" download -q -d "$BUILT/python-packages.part" requests==2.32.5 && mv "$BUILT/python-packages.part" "$BUILT/python-packages"; } >"$BUILT/python-upstream.log" 2>&1 || true
}

# api METHOD PATH BODY: a call of the platform's API.
api() { curl -fsS -X "$1" "$URL$2" -H "Authorization: Bearer $PLATFORM_TOKEN" -H 'Content-Type: application/json' -d "$3"; }
# upstream_group NAME URL [FIELDS]: a group with that upstream; sets GROUP (its uid) and SIMPLE (its index).
upstream_group() {
  GROUP=$(api POST "/iam/v2/groups/$(bootstrap organization.uid)" "{\"name\": \"$1\"}" | json uid)
  api POST "/libraries/v2/upstreams/$GROUP" "{\"ecosystem\": \"ECOSYSTEM_PYTHON\", \"url\": \"$2\"${3:-}}" >/dev/null
  SIMPLE=http://any:$PULL@$HOST/pypi/$ORG/$1/simple/
}

check_python_upstream() {
  [ -d "$BUILT/python-packages" ] || { missing python_upstream "Python, pypiserver or the packages could not be installed"; return 0; }
  local port upstream
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  "$BUILT/pypiserver/bin/pypi-server" run -i 127.0.0.1 -p "$port" --disable-fallback "$BUILT/python-packages" >pypiserver.log 2>&1 </dev/null &
  upstream=$!
  PIDS+=("$upstream")
  for _ in $(seq 100); do curl -fsS -o /dev/null "http://127.0.0.1:$port/simple/" 2>/dev/null && break; sleep 0.1; done
  upstream_group pypiserver "http://127.0.0.1:$port/simple"

  does "pip: packages of an upstream are installed" "$PY/pip" install --no-cache-dir --index-url "$SIMPLE" --target first requests
  same "pip: and work" "$(PYTHONPATH=first "$PY/python" -c 'import requests; print(requests.__version__)')" 2.32.5
  mkdir app
  printf '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=%s"\ndependencies = ["requests"]\n[[tool.uv.index]]\nname = "acme"\nurl = "%s/pypi/%s/pypiserver/simple/"\ndefault = true\n' "$("$PY/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" "$URL" "$ORG" >app/pyproject.toml
  export UV_INDEX_ACME_USERNAME=any UV_INDEX_ACME_PASSWORD=$PULL UV_CACHE_DIR=$PWD/cache UV_PYTHON=$PY/python
  does "uv: they are installed, and locked" "$PY/uv" sync --project app

  kill "$upstream"
  wait "$upstream" 2>/dev/null || true
  rm -rf app/.venv cache
  does "uv: and by the lock file, when the upstream is gone" "$PY/uv" sync --locked --project app
  does "pip: and by name, when it is gone" "$PY/pip" install --no-cache-dir --index-url "$SIMPLE" --target second requests

  # pypiserver says no times: what came from it is as young as it is here.
  api POST "/libraries/v2/artifactPolicies/$GROUP" '{"ecosystem": "ECOSYSTEM_PYTHON", "mode": "POLICY_MODE_ENFORCE"}' >/dev/null
  refused "pip: with a cooldown it is not found" "No matching distribution" "$PY/pip" install --no-cache-dir --index-url "$SIMPLE" --target third requests
  refused "pip: and says why, when it is asked for more" "every version of requests is blocked" "$PY/pip" install -vv --no-cache-dir --index-url "$SIMPLE" --target third requests
  refused "pip: and by URL the reason is shown" "requests@2.32.5 is too young" "$PY/pip" download --no-cache-dir --no-deps -d files "${SIMPLE}requests/requests-2.32.5-py3-none-any.whl"
  refused "uv: and the same by the lock file" "403" env UV_CACHE_DIR="$PWD/cache2" bash -c "rm -rf app/.venv && '$PY/uv' sync --locked --project app"

  project ci-far 1.0
  does "twine: a project is uploaded to another group" "$PY/twine" upload --non-interactive -u any -p "$PUSH" --repository-url "$URL/pypi/$ORG/legacy/" dist/*
  upstream_group chained "$URL/pypi/$ORG/simple" ", \"username\": \"any\", \"password\": \"$PULL\""
  does "pip: it is installed through a group whose upstream that is" "$PY/pip" install --no-cache-dir --index-url "$SIMPLE" --target fourth ci-far
  same "pip: and works" "$(PYTHONPATH=fourth "$PY/python" -c 'import ci_far; print(ci_far.answer)')" 42
  api POST "/libraries/v2/artifactPolicies/$GROUP" '{"ecosystem": "ECOSYSTEM_PYTHON", "mode": "POLICY_MODE_ENFORCE"}' >/dev/null
  refused "uv: with a cooldown every version is too young" "409" "$PY/uv" pip install --no-cache --index-url "$SIMPLE" --target fifth ci-far
}
