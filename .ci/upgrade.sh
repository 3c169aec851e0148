#!/usr/bin/env bash
# Upgrades an installation of 0.1.0, the first release, to this version while clients push and pull, compares what was
# acknowledged with what is there, and goes back by the backup, as docs/upgrading.md says.
#   .ci/upgrade.sh                         a data folder
#   .ci/both-engines.sh .ci/upgrade.sh     two replicas on PostgreSQL and S3
# 0.1.0 comes out of the history of this clone. Exit status 77: a clone without it (one line says so).
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
export PATH="$ROOT/node_modules/.bin:$PATH"

# The commit that wrote the changelog of the release.
OLD=$(git log --reverse --format=%H -S'## [0.1.0]' -- CHANGELOG.md 2>/dev/null | head -n 1) || OLD=
if [ -z "$OLD" ] || [ "$(git rev-parse --is-shallow-repository)" = true ] || ! git cat-file -e "$OLD^{tree}" 2>/dev/null; then
  echo "upgrade: not run: the history of this clone does not have 0.1.0 (git fetch --unshallow brings it)"
  exit 77
fi

# shellcheck source=.ci/cleanup.sh
. "$ROOT/.ci/cleanup.sh"

# Its program with the packages that are installed here: those that it runs with have not changed since.
mkdir -p "$WORK/old/node_modules/@moorage"
git archive "$OLD" | tar -xf - -C "$WORK/old"
for each in "$ROOT"/node_modules/* "$ROOT"/node_modules/.bin; do
  case ${each##*/} in
    moorage | @moorage) ;;
    *) ln -s "$each" "$WORK/old/node_modules/" ;;
  esac
done
ln -s ../packages/cli "$WORK/old/node_modules/moorage"
for each in api console server; do ln -s "../../packages/$each" "$WORK/old/node_modules/@moorage/$each"; done

echo "0.1.0 is ${OLD:0:12}"
node .ci/upgrade/main.ts "$WORK/old" "$ROOT" "$WORK" || exit 1
