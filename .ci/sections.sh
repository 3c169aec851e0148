# What .ci/run and .ci/nightly have in common; they source it. Sections run one after the other, each with a time limit.
set -uo pipefail
export CI=true
export DEBIAN_FRONTEND=noninteractive
# Hundreds of processes load the same code: the first one compiles it for all.
export NODE_COMPILE_CACHE=$PWD/build/compile-cache
# One rare failure among thousands of tests does not end the run when the file passes twice alone: it is a defect, which the summary names first.
export MOORAGE_TEST_AGAIN=3
export MOORAGE_TEST_DEFECTS=$PWD/build/defects.txt
exec </dev/null
mkdir -p build
: > "$MOORAGE_TEST_DEFECTS"

STARTED=$SECONDS
# A section that might not end by then, if it took all of its time, is left out, and named in the summary.
LAST_END=${LAST_END:-5000}
DONE=()

# The lines of a section's output that say what was missing, on one line.
missing_in() {
  grep -hE 'not run|not available|not built|cannot be installed|left for' "$1" | sed 's/^[ #]*//' | sort -u | head -n 6 | paste -sd ';' -
}

# section TITLE SECONDS COMMAND…: a failure ends the whole run; status 77 means that the section, or a part of it, cannot run on this machine.
section() {
  local title=$1 limit=$2 began=$SECONDS status=0 output=build/section.txt missing
  shift 2
  if [ $((SECONDS - STARTED + limit)) -gt "$LAST_END" ]; then
    DONE+=("$title: NOT RUN: the sections before it took $((SECONDS - STARTED)) s, and it may take $limit s")
    return
  fi
  printf '\n=== %s\n' "$title"
  timeout --kill-after=20 "$limit" "$@" 2>&1 | tee "$output"
  status=${PIPESTATUS[0]}
  missing=$(missing_in "$output")
  case $status in
    0) DONE+=("$title: passed in $((SECONDS - began)) s") ;;
    77) DONE+=("$title: NOT RUN, or not completely: ${missing:-$(tail -n 1 "$output")}") ;;
    *)
      [ "$status" -eq 124 ] && echo "$title took longer than $limit s"
      summary
      echo "$title: FAILED with status $status after $((SECONDS - began)) s"
      exit 1
      ;;
  esac
}

# Prints what every section came to, defects first.
summary() {
  printf '\n=== summary\n'
  if [ -s "$MOORAGE_TEST_DEFECTS" ]; then
    echo "DEFECTS TO MEND: these tests failed, and passed when they ran again alone"
    sed 's/^/  /' "$MOORAGE_TEST_DEFECTS"
  fi
  [ ${#DONE[@]} -eq 0 ] || printf '%s\n' "${DONE[@]}"
}

# Debian's Chromium, the one without a window, and Lighthouse.
bring_chromium() {
  if ! command -v chromium > /dev/null; then
    apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium > /dev/null || { echo "Chromium: not run: it cannot be installed here"; return 77; }
  fi
  command -v chromium-headless-shell > /dev/null || apt-get -qq install -y --no-install-recommends chromium-headless-shell > /dev/null || echo "without chromium-headless-shell, which is quicker"
  .ci/tools.sh lighthouse > /dev/null || echo "without Lighthouse"
}
export -f bring_chromium

# on_oldest COMMAND…: with the oldest PostgreSQL that is supported, since `npm test` has the newest; with that one where the oldest is not to be had.
on_oldest() {
  local oldest=.ci/postgres14.sh
  "$oldest" > /dev/null || { echo "no PostgreSQL 14 here: on the newest one"; oldest=env; }
  "$oldest" "$@"
}
export -f on_oldest
