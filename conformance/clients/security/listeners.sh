# Sourced by start: one broker with a listener of each kind. Who comes with the security of that listener sends and reads; who
# comes with another's hears nothing.

declare -A kinds=(
  [PLAINTEXT]="-X security.protocol=PLAINTEXT"
  [SSL]="-X security.protocol=SSL -X ssl.ca.location=certs/ca.pem"
  [SASL_PLAINTEXT]="-X security.protocol=SASL_PLAINTEXT -X sasl.mechanisms=PLAIN -X sasl.username=alice -X sasl.password=alice-secret"
  [SASL_SSL]="-X security.protocol=SASL_SSL -X ssl.ca.location=certs/ca.pem -X sasl.mechanisms=PLAIN -X sasl.username=alice -X sasl.password=alice-secret"
)
order="PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL"
declare -A address=()

# serve_listeners starts it, without permissions, and leaves each listener's address: the start's text names all, the ready line one.
serve_listeners() {
  local kind flags=()
  for kind in $order; do flags+=(--listen "$kind://127.0.0.1:0"); done
  : >"$BROKER_DIR/log"
  serve "${flags[@]}" --user alice:alice-secret --no-authorizer
  local all
  read -ra all <<<"$(sed -n 's/^ *clients *//p' "$BROKER_DIR/log" | tr -d ,)"
  for kind in $order; do address[$kind]=${all[0]} all=("${all[@]:1}"); done
}

# on KIND AS ARG... is kcat at a listener, with the security of the same or another.
on() { local at=${address[$1]} as=${kinds[$2]}; shift 2; timeout 20 kcat -b "$at" $as "$@" 2>>kcat.err; }

sends_and_reads() {
  echo "to $1" | on "$1" "$1" -P -t listeners -p 0 && on "$1" "$1" -C -q -e -t listeners -p 0 -o beginning | grep -qx "to $1"
}
lists() { on "$1" "$2" -L -m 2 >/dev/null; }

each_listener() {
  local kind other waiting=()
  for kind in $order; do
    claim "listener $kind: kcat sends and reads" sends_and_reads "$kind"
    for other in $order; do
      # They wait, each for itself, for an answer that does not come.
      [ "$kind" = "$other" ] || claim_not "listener $kind has no answer for $other" lists "$kind" "$other" &
      waiting+=($!)
    done
  done
  wait "${waiting[@]}"
  claim "what came to one listener is read at another" test "$(on PLAINTEXT PLAINTEXT -C -q -e -t listeners -p 0 -o beginning | sort -u | wc -l)" = 4
}
