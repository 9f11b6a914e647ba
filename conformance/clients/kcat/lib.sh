# Sourced by start: what the steps are made of. WORK/sent holds what was sent, a record a line: key, value and headers between
# tabs, null as nothing; WORK/NAME.got holds what a member got, with partition, offset and both lengths before it.

topic=walk-kcat group=group-kcat
codecs="none gzip snappy lz4 zstd"
per_codec=24
patience=60
declare -A pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT

pass() { echo "PASS $*"; }
fail() { echo "FAIL $*"; exit 1; }
signal() { echo "@$1"; read -r _ || fail "the runner did not answer @$1"; }

# until_true waits for a command to succeed.
until_true() {
  local end=$((SECONDS + patience)) what=$1
  shift
  while ! "$@"; do
    [ $SECONDS -lt $end ] || fail "$what: not within $patience s"
    sleep 0.1
  done
}

# produce sends its input; a broker that is away does not end it (-E).
produce() { kcat -P -q -E -b "$BOOTSTRAP" -t "$topic" -X enable.idempotence=true "$@"; }

# lines PHASE CODEC prints keys and values; kcat -Z makes an empty one null.
lines() {
  local i id long
  long=$(printf 'x%.0s' {1..3000})
  for ((i = 0; i < per_codec; i++)); do
    id=$1/$2/$i
    case $((i % 6)) in
    0 | 4) printf 'key-%s\tvalue of %s\n' "$i" "$id" ;;
    1) printf '\tvalue of %s\n' "$id" ;;
    2) printf 'key-%s\t\n' "$i" ;;
    3) printf '\t\n' ;;
    5) printf 'key-%s\tvalue of %s%s\n' "$i" "$id" "$long" ;;
    esac
  done
}

# send PHASE CODEC produces them; all records of one kcat have its headers.
send() {
  lines "$1" "$2" >"$WORK/lines"
  produce -z "$2" -Z -K $'\t' -H "phase=$1" -H "codec=$2" -H empty= -H twice=1 -H twice=2 <"$WORK/lines"
  sed -e "s|\$|\tphase=$1,codec=$2,empty=,twice=1,twice=2|" "$WORK/lines" >>"$WORK/sent"
}

send_all() { for c in $codecs; do send "$1" "$c"; done; }

# stream HOW keeps one producer sending before, across and after what is done to the broker. kcat reads its input in blocks, so
# the lines are long, and the first to arrive says that it is at work.
stream() {
  local pid
  streamed=0
  mkfifo "$WORK/stream"
  produce -H "phase=$1" <"$WORK/stream" &
  pid=$!
  exec 5>"$WORK/stream"
  feed "$1" 40
  until_true "records to arrive before $1" grep -q "$1 stream" "$WORK/a.got" "$WORK/b.got"
  signal "$1"
  feed "$1" 40
  exec 5>&-
  wait "$pid" || fail "$1: the producer ended with $?"
  rm "$WORK/stream"
}

feed() {
  local i text
  for ((i = 0; i < $2; i++)); do
    text="$1 stream $streamed $(printf '.%.0s' {1..400})"
    echo "$text" >&5
    printf '\t%s\tphase=%s\n' "$text" "$1" >>"$WORK/sent"
    streamed=$((streamed + 1))
  done
}

# join NAME starts a member. It commits on its own every 100 ms.
join() {
  kcat -E -b "$BOOTSTRAP" -G "$group" -u -f '%p %o %K %S\t%k\t%s\t%h\n' \
    -X auto.offset.reset=earliest -X auto.commit.interval.ms=100 -X session.timeout.ms=10000 -X heartbeat.interval.ms=300 \
    "$topic" >"$WORK/$1.got" 2>"$WORK/$1.log" </dev/null &
  pids[$1]=$!
}

leave() {
  kill -TERM "${pids[$1]}"
  wait "${pids[$1]}" || fail "member $1 ended with $?"
  unset "pids[$1]"
}

# has NAME N tells whether the member's last rebalance gave it N partitions.
has() { [ "$(grep ' rebalanced ' "$WORK/$1.log" | tail -1 | grep 'assigned:' | grep -o "$topic \[[0-9]*\]" | wc -l)" = "$2" ]; }
both_have() { has a "$1" && has b "$1"; }

# places prints partition and offset of every record that arrived, as often as it did.
places() { cat "$WORK"/*.got | cut -f1 | cut -d' ' -f1,2 | sort; }
all_here() { [ "$(places | uniq | wc -l)" -ge "$(wc -l <"$WORK/sent")" ]; }

# arrivals waits for all that was sent, and compares: with the lengths, null (-1) and empty are told apart.
arrivals() {
  until_true "records to arrive" all_here
  cat "$WORK"/*.got | sort -u | awk -F'\t' -v OFS='\t' '
    { split($1, n, " ") }
    (n[3] < 0) != ($2 == "") || (n[4] < 0) != ($3 == "") { print "null mistaken for empty: " $0; next }
    { print $2, $3, $4 }' >"$WORK/arrived"
  diff <(sort "$WORK/sent") <(sort "$WORK/arrived") >"$WORK/difference" || fail "$1: $(head -c 300 "$WORK/difference")"
  # Nothing that was committed may have come again since.
  [ ! -e "$WORK/settled" ] || cmp -s "$WORK/settled" <(places | grep -Fx -f "$WORK/settled") || fail "$1: committed records came again"
}

# committed tells whether the group's offsets are the ends of what arrived; then the places so far are settled.
committed() {
  local ends
  ends=$(places | sort -k1n -k2n | awk '{ end[$1] = $2 + 1 } END { for (p in end) print p, end[p] }' | sort -n)
  [ "$("$CLIENTS_CACHE/go/group-offsets" "$group" "$topic")" = "$ends" ] && places >"$WORK/settled"
}
