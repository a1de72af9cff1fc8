#!/bin/sh
# Installs pi from a folder of a web server that has what release/build.sh made:
#
#   PI_URL=https://downloads.example.org/pi/1.2.3 sh install.sh
#
# PI_URL  where the archives and SHA256SUMS are: https, and never anything else
# PI_DIR  the folder that the program goes to: /usr/local/bin for root, else ~/.local/bin
#
# For Linux and macOS on amd64 and arm64. Needs curl or GNU wget, tar and gzip, and sha256sum,
# shasum or openssl. An archive whose sum is not the one in SHA256SUMS is not unpacked; after an
# error, or a signal, nothing is there that was not there before.
set -eu
unset CDPATH
umask 022

fail() {
  printf 'install pi: %s\n' "$1" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# waited runs a program so that a signal ends it at once, also one that comes as soon as it has begun.
waited() {
  before=${!:-} child=begun
  "$@" &
  status=0
  wait "$!" || status=$?
  child=
  return "$status"
}

# fetch gets the file of an address.
fetch() {
  if have curl; then
    waited curl --proto '=https' --proto-redir '=https' --connect-timeout 30 -fsSL -o "$2" "$1"
  else
    fetch_with_wget "$1" "$2" 10
  fi
}

# fetch_with_wget is fetch with GNU wget, which would follow to http: it is told one address at a time.
fetch_with_wget() {
  if waited wget -q --server-response --max-redirect=0 --tries=1 --timeout=60 -O "$2" "$1" 2>"$box/said"; then return; fi
  next=$(tr -d '\r' <"$box/said" | sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' | tail -n 1)
  case $next in
    '') return 1 ;;
    https://*) ;;
    /*) next=$(printf '%s\n' "$1" | sed 's,^\(https://[^/]*\).*,\1,')$next ;;
    *)
      printf 'install pi: %s leads to %s, which is not https\n' "$1" "$next" >&2
      return 1
      ;;
  esac
  if [ "$3" -eq 0 ]; then return 1; fi
  fetch_with_wget "$next" "$2" $(($3 - 1))
}

# sum_of prints the SHA-256 of a file.
sum_of() {
  if have sha256sum; then
    sha256sum <"$1"
  elif have shasum; then
    shasum -a 256 <"$1"
  else
    openssl dgst -sha256 -r <"$1"
  fi | cut -c 1-64
}

# check_tools fails if something is missing that is needed later.
check_tools() {
  have curl || have wget || fail 'curl or wget is needed'
  # busybox has a wget that follows to http whatever it is told.
  have curl || wget --help 2>&1 | grep -q -e --max-redirect || fail 'this wget may follow to http: curl or GNU wget is needed'
  have tar || fail 'tar is needed'
  have gzip || fail 'gzip is needed'
  have sha256sum || have shasum || have openssl ||
    fail 'sha256sum, shasum or openssl is needed: what was fetched cannot be checked'
}

# target prints which of the archives is for this machine.
target() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no archive for $(uname -s); for Windows there are zip files at $url" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) echo "$system-amd64" ;;
    aarch64 | arm64) echo "$system-arm64" ;;
    *) fail "there is no archive for $(uname -m)" ;;
  esac
}

# make_folder makes a folder; cleanup takes away again what of it was not there.
make_folder() {
  there=$1
  while [ ! -d "$there" ]; do there=$(dirname "$there"); done
  new=$1
  mkdir -p "$1" || fail "$1 cannot be made: set PI_DIR to a folder that you can write"
  [ -w "$1" ] || fail "$1 cannot be written: set PI_DIR to a folder that you can write"
  [ ! -d "$1/pi" ] || fail "$1/pi is a folder: move it away, or set PI_DIR to another folder"
}

# cleanup runs at the end, however that comes.
cleanup() {
  if [ -n "$child" ] && [ "${!:-}" != "$before" ] && kill "$!" 2>/dev/null; then wait "$!" || :; fi
  if [ -n "$box" ]; then rm -rf "$box"; fi
  if [ -z "$finished" ]; then
    if [ -n "$part" ]; then rm -f "$part"; fi
    while [ "$new" != "$there" ] && rmdir "$new" 2>/dev/null; do new=$(dirname "$new"); done
  fi
}

# say_path says what is to be done so that the shell finds what was installed.
say_path() {
  case :$PATH: in
    *:"$dir":*) ;;
    *)
      # shellcheck disable=SC2016 # $PATH is for the file that the line goes to
      printf '%s is not in PATH; add this line to ~/.profile, or the file that your shell reads:\n    export PATH="%s:$PATH"\n' "$dir" "$dir"
      return
      ;;
  esac
  first=$(command -v pi) || first=
  if [ "$first" != "$dir/pi" ]; then
    printf 'but the shell finds %s first: put %s before its folder in PATH\n' "$first" "$dir"
  fi
}

main() {
  url=${PI_URL:-} box='' child='' part='' new='' there='' finished=''
  url=${url%/}
  case $url in
    https://*) ;;
    '') fail 'set PI_URL to the folder of a release, such as https://downloads.example.org/pi/1.2.3' ;;
    *) fail "PI_URL is to begin with https://, not $url" ;;
  esac
  if [ "$(id -u)" -eq 0 ]; then usual=/usr/local/bin; else usual=${HOME:-}/.local/bin; fi
  dir=${PI_DIR:-$usual}
  case $dir in
    /*) ;;
    *) dir=$PWD/$dir ;;
  esac
  check_tools
  wanted=$(target)

  trap cleanup EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  box=${TMPDIR:-/tmp}/pi-install.$$
  mkdir -m 700 "$box" || {
    box=
    fail "no folder can be made in ${TMPDIR:-/tmp}"
  }

  fetch "$url/SHA256SUMS" "$box/sums" || fail "$url/SHA256SUMS cannot be fetched"
  line=$(grep -E "^[0-9a-f]{64}  pi-[0-9][0-9A-Za-z.+-]*-$wanted\\.tar\\.gz\$" "$box/sums") || fail "$url/SHA256SUMS has no sum of an archive for $wanted"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "$url/SHA256SUMS has several archives for $wanted"
  archive=${line#*  }
  name=${archive%.tar.gz}
  fetch "$url/$archive" "$box/$archive" || fail "$url/$archive cannot be fetched"
  sum=$(sum_of "$box/$archive")
  [ "$sum  $archive" = "$line" ] || fail "$url/$archive is not what SHA256SUMS names: its sum is $sum"
  tar -xzf "$box/$archive" -C "$box" "$name/pi" || fail "$archive cannot be unpacked"

  make_folder "$dir"
  part=$dir/.pi-install.$$
  cp "$box/$name/pi" "$part"
  chmod 755 "$part"
  "$part" --version >/dev/null || fail "the program does not run here"
  mv -f "$part" "$dir/pi"
  finished=yes
  printf 'pi %s is in %s\n' "$(printf '%s\n' "$name" | sed "s/^pi-//; s/-$wanted\$//")" "$dir"
  say_path
}

# All of it has been read before anything is done, also where this comes through a pipe that breaks.
main
