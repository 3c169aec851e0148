#!/bin/sh
# Lays out what the image holds, in an empty folder: the packages as `npm run pack` compiled them, and their dependencies in the very versions of
# package-lock.json (an installation of the packed files would take the newest that fit). Run in the repository after `npm ci`.
#   deploy/image/assemble.sh /out
set -eu
OUT=$1
cd "$(dirname "$0")/../.."

npm run --silent pack
for file in package.json package-lock.json packages/api/package.json packages/server/package.json packages/cli/package.json \
  packages/console/package.json; do
  mkdir -p "$OUT/$(dirname "$file")"
  cp "$file" "$OUT/$file"
done
# No dependency of the running program has an install script that it needs.
(cd "$OUT" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline)

# In a workspace these are links to the sources.
rm -rf "$OUT/node_modules/@moorage" "$OUT/node_modules/moorage" "$OUT/node_modules/.bin"
mkdir -p "$OUT/node_modules/@moorage" "$OUT/bin"
cp -R build/api build/server "$OUT/node_modules/@moorage/"
cp -R build/cli "$OUT/node_modules/moorage"
# What could not be shared lies below its package.
for name in api server; do
  [ ! -d "$OUT/packages/$name/node_modules" ] || cp -R "$OUT/packages/$name/node_modules" "$OUT/node_modules/@moorage/$name/"
done
[ ! -d "$OUT/packages/cli/node_modules" ] || cp -R "$OUT/packages/cli/node_modules" "$OUT/node_modules/moorage/"
rm -rf "$OUT/packages" "$OUT/package.json" "$OUT/package-lock.json"
ln -s ../node_modules/moorage/bin/moorage.js "$OUT/bin/moorage"
cp deploy/image/health.mjs LICENSE "$OUT/"
