# Sourced by a script that starts servers: WORK, a folder for scratch, and PIDS, the processes it began. When the script ends, however it ends,
# they are ended and the folder is removed.

WORK=$(mktemp -d)
PIDS=()

end_all() {
  local status=$? pid
  trap - EXIT INT TERM
  for pid in "${PIDS[@]}"; do
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
  done
  # 77 is no failure: something was not to be had here.
  if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -s "$WORK/server.log" ]; then
    echo "--- the server's last lines:"
    tail -n 40 "$WORK/server.log"
  fi
  rm -rf "$WORK"
  exit "$status"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
