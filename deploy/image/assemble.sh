#!/bin/sh
# Lays out what the image holds, in an empty folder: the package `moorage` as `npm run pack` makes it. All that it depends on is in its bundle, in the
# very versions of package-lock.json. Run in the repository after `npm ci`.
#   deploy/image/assemble.sh /out
set -eu
OUT=$1
cd "$(dirname "$0")/../.."

npm run --silent pack
mkdir -p "$OUT/node_modules" "$OUT/bin"
cp -R build/cli "$OUT/node_modules/moorage"
ln -s ../node_modules/moorage/bin/moorage.js "$OUT/bin/moorage"
cp deploy/image/health.mjs LICENSE "$OUT/"
