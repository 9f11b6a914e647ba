# Sourced by the hooks: one process per broker, its pid and exit status in BROKER_DIR.

# listening tells whether something accepts connections at host $1, port $2.
listening() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# spawn runs a command in the background; its output goes to BROKER_DIR/log, its exit status to BROKER_DIR/status.
spawn() {
  rm -f "$BROKER_DIR/status"
  (
    "$@" >>"$BROKER_DIR/log" 2>&1 </dev/null &
    echo $! >"$BROKER_DIR/pid"
    status=0
    wait $! || status=$?
    echo "$status" >"$BROKER_DIR/status"
  ) >/dev/null 2>&1 &
  until_true 5 test -s "$BROKER_DIR/pid"
}

# until_true waits up to $1 seconds for a command to succeed, or for the broker to end.
until_true() {
  local end=$((SECONDS + $1)); shift
  while ! "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}

# end sends signal $1 to the broker and waits until it is gone; one that stays leaves a dump of its threads in the log.
end() {
  local pid
  pid=$(cat "$BROKER_DIR/pid")
  kill "-$1" "$pid" 2>/dev/null || true
  until_true 30 test -s "$BROKER_DIR/status" && return
  echo "pid $pid did not end within 30 s of SIG$1" >&2
  kill -QUIT "$pid" 2>/dev/null || true
  until_true 5 test -s "$BROKER_DIR/status" || kill -KILL "$pid" 2>/dev/null || true
  return 1
}

# ended_well fails unless the broker's last exit was 0.
ended_well() {
  [ "$(cat "$BROKER_DIR/status")" = 0 ] && return
  echo "the broker exited with $(cat "$BROKER_DIR/status"):" >&2
  tail -20 "$BROKER_DIR/log" >&2
  return 1
}
