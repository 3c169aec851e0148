# Sourced by scripts that start servers. WORK is a temporary folder, and PIDS the processes that the script started.
# When the script ends, for whatever reason, the processes are stopped and the folder is removed.

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
  # 77 is not a failure: something was not available on this machine.
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
