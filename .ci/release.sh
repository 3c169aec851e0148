#!/usr/bin/env bash
# Makes a release and tries what it made: checksums, the one file with several versions of Node, the executable, the
# image as it is unpacked. With --twice it makes the release again and compares every byte.
#
# Exit status 77: a part cannot be made or tried on this machine (a line says which); all others have passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
export PATH="$ROOT/node_modules/.bin:$PATH"
# shellcheck source=.ci/cleanup.sh
. "$ROOT/.ci/cleanup.sh"
MISSING=0
ok() { echo "ok - $1"; }
fail() { echo "not ok - $1"; exit 1; }
without() { echo "$1"; MISSING=1; }

npm run --silent release >"$WORK/release.log" 2>&1 || { tail -n 20 "$WORK/release.log"; fail "npm run release"; }
! grep "NOT MADE" build/release/REPORT.txt || MISSING=1
RELEASE=$ROOT/build/release
(cd "$RELEASE" && sha256sum --check --quiet SHA256SUMS) || fail "SHA256SUMS are those of the files"
VERSION=$(cat "$RELEASE/command/version")
ok "npm run release: $VERSION, $(du -sm "$RELEASE" | cut -f1) MB"

# Where a user has it: below no package.json, which could make it a module.
COMMAND=$WORK/moorage
cp "$RELEASE/command/moorage" "$COMMAND"
for node in 22.0.0 22 24; do
  mkdir -p "$WORK/node-$node"
  if (cd "$WORK/node-$node" && npm pack --silent "node-linux-$(node -p process.arch)@$node" && tar -xzf ./*.tgz) >"$WORK/node.log" 2>&1; then
    [ "$("$WORK/node-$node/package/bin/node" "$COMMAND" --version)" = "$VERSION" ] || fail "the one file runs with Node $node"
    "$WORK/node-$node/package/bin/node" "$COMMAND" repos list --help >/dev/null || fail "the one file runs commands with Node $node"
    ok "the one file runs with Node $node"
  else
    without "Node $node: not available here"
  fi
done

EXECUTABLE=$RELEASE/executables/moorage-linux-$(node -p process.arch)
if [ -x "$EXECUTABLE" ]; then
  [ "$(env -i "$EXECUTABLE" --version)" = "$VERSION" ] || fail "the executable runs without Node"
  ln -s "$EXECUTABLE" "$WORK/docker-credential-moorage"
  env -i "$WORK/docker-credential-moorage" version | grep -q "v$VERSION" || fail "the executable is the credential helper by that name"
  ok "the executable"
fi

if [ -d "$RELEASE/image" ] && [ "$(id -u)" -eq 0 ]; then
  node .ci/unpack-image.ts "$RELEASE/image" "$(node -p 'process.arch === "x64" ? "amd64" : "arm64"')" "$WORK/root"
  PORT=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  # A command and not a function, so that a signal reaches the server.
  INSIDE=(env -i PATH=/opt/moorage/bin:/usr/local/bin:/usr/sbin:/usr/bin MOORAGE_PORT="$PORT" MOORAGE_DATA_DIR=/data chroot --userspec=1000:1000 "$WORK/root")
  "${INSIDE[@]}" moorage serve >"$WORK/server.log" 2>&1 &
  PIDS=("$!")
  for _ in $(seq 600); do "${INSIDE[@]}" node /opt/moorage/health.mjs && break; kill -0 "${PIDS[0]}" 2>/dev/null || break; sleep 0.2; done
  "${INSIDE[@]}" node /opt/moorage/health.mjs || { tail -n 20 "$WORK/server.log"; fail "what the image holds serves"; }
  "${INSIDE[@]}" moorage token | grep -q '^ey.*\..*\.' || fail "moorage token works in the image"
  curl -fsS "http://127.0.0.1:$PORT/cli/moorage.version" | grep -qx "$VERSION" || fail "the server in the image hands out the command"
  kill -TERM "${PIDS[0]}"
  wait "${PIDS[0]}" || fail "SIGTERM ends the server of the image"
  PIDS=()
  ok "the image's server, on nothing but what the image holds"
else
  without "the image: not run: it was not made, or this is not root"
fi

if [ "${1:-}" = --twice ]; then
  cp "$RELEASE/SHA256SUMS" "$WORK/first"
  npm run --silent release >"$WORK/release.log" 2>&1 || fail "npm run release, again"
  diff "$WORK/first" "$RELEASE/SHA256SUMS" || fail "two runs make the same bytes"
  ok "two runs make the same bytes"
fi
[ "$MISSING" -eq 0 ] || { echo "release: not all was made or tried"; exit 77; }
echo "release: passed"
