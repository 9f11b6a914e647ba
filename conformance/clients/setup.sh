# Sourced by the setups of the clients.

# need CMD PACKAGE: the command, from its Debian package when it is missing.
need() {
  command -v "$1" >/dev/null && return
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2"
}

# once DIR FILE... -- CMD...: run a command that fills DIR, unless it did for these very files.
once() {
  local dir=$1 files=() key
  shift
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  key=$(cat "${files[@]}" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$dir/.made-from" 2>/dev/null)" = "$key" ] && return
  rm -rf "$dir"
  mkdir -p "$dir"
  "$@"
  echo "$key" >"$dir/.made-from"
}
