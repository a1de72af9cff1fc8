#!/bin/sh
# Builds a release of pi from the tree that this script is in:
#
#   release/build.sh [-o FOLDER] VERSION [GOOS/GOARCH...]
#
# FOLDER is dist/VERSION unless said, and must not be there yet. Without targets it has all six:
# linux, darwin and windows on amd64 and arm64. Of each there is an archive and a bill of
# materials, and SHA256SUMS has the sums of all. CHANGELOG.md has to have a heading for VERSION.
#
# The same tree gives the same bytes wherever and whenever that is. The time in the archives is
# SOURCE_DATE_EPOCH, else that of the commit, else 1980, before which zip knows no time. The Go
# is the one that go.mod names, unless GOTOOLCHAIN says otherwise.
#
# PI_BINARIES names a folder with binaries that are there already, such as signed ones, as
# pi-GOOS-GOARCH (.exe for windows): those of the targets are packed and not built.
set -eu
unset CDPATH GOOS GOARCH GOEXPERIMENT
export LC_ALL=C
umask 022

fail() {
  printf 'release/build.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$script" >&2
  exit 2
}

# absolute prints a path that means the same in every folder.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
  esac
}

# ask_git prints what git says of this folder, also where the checkout belongs to another user, as in a container.
ask_git() { git -c safe.directory='*' "$@" 2>/dev/null; }

# release_time prints the time that everything in the archives has.
release_time() {
  if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    printf '%s\n' "$SOURCE_DATE_EPOCH"
  elif prefix=$(ask_git rev-parse --show-prefix) && [ -z "$prefix" ] && ask_git -c log.showSignature=false log -1 --format=%ct; then
    : # this folder is the top of a checkout, not a folder of another one
  else
    echo 315532800
  fi
}

# binary_name prints what the binary of a target is called in $work/bin.
binary_name() {
  case $1 in
    windows/*) printf 'pi-%s-%s.exe\n' "${1%/*}" "${1#*/}" ;;
    *) printf 'pi-%s-%s\n' "${1%/*}" "${1#*/}" ;;
  esac
}

# get_binary puts the binary of a target into $work/bin.
get_binary() {
  binary=$(binary_name "$1")
  if [ -e "$work/bin/$binary" ]; then return; fi
  if [ -n "$binaries" ] && [ -e "$binaries/$binary" ]; then
    cp "$binaries/$binary" "$work/bin/$binary"
    chmod 755 "$work/bin/$binary"
  else
    GOOS=${1%/*} GOARCH=${1#*/} go build \
      -ldflags "-s -w -X pi/internal/version.released=$version" -o "$work/bin/$binary" .
  fi
}

# ask_program prints what the binary of this machine says, which nothing that is set here changes.
ask_program() {
  env -i HOME="$work/home" PATH="$PATH" TMPDIR="$work/home" "$work/bin/$(binary_name "$host")" "$@" ||
    fail "pi $* failed"
}

# write_texts puts what the binaries of all targets have beside them into $work/texts.
write_texts() {
  mkdir -p "$work/texts/completions" "$work/texts/man" "$work/home"
  said=$(ask_program --version)
  [ "$said" = "pi $version" ] || fail "the binary for $host says that it is $said, not $version"
  ask_program completion bash >"$work/texts/completions/pi.bash"
  ask_program completion zsh >"$work/texts/completions/_pi"
  ask_program completion fish >"$work/texts/completions/pi.fish"
  ask_program man >"$work/texts/man/pi.1"
  ask_program man hooks >"$work/texts/man/pi-hooks.7"
  cp -R CHANGELOG.md LICENSE NOTICE LICENSES "$work/texts"
}

# pack_target makes the archive of a target.
pack_target() {
  name=pi-$version-${1%/*}-${1#*/} inside=pi ending=.tar.gz
  case $1 in
    windows/*) inside=pi.exe ending=.zip ;;
  esac
  mkdir "$work/$name"
  cp -R "$work/texts/." "$work/$name"
  cp "$work/bin/$(binary_name "$1")" "$work/$name/$inside"
  cp "$work/out/$name.cdx.json" "$work/$name/pi.cdx.json"
  "$work/tools/pack" "$time" "$work/$name" "$work/out/$name$ending"
  rm -r "${work:?}/$name"
  printf '%s%s: %s bytes\n' "$name" "$ending" "$(wc -c <"$work/out/$name$ending" | tr -d ' ')"
}

script=$(absolute "$0") out=
while getopts o: option; do
  case $option in
    o) out=$(absolute "$OPTARG") ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
version=$1
shift
case $version in
  [0-9]*.[0-9]*.[0-9]*) ;;
  *) fail "the version is three numbers, such as 1.2.3, not '$version'" 2 ;;
esac
case $version in
  *[!0-9A-Za-z.+-]*) fail "'$version' is no version" 2 ;;
esac
all='linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64'
# shellcheck disable=SC2086 # six words
[ $# -gt 0 ] || set -- $all
for target in "$@"; do
  case " $all " in
    *" $target "*) ;;
    *) fail "there is no target '$target'; there are: $all" 2 ;;
  esac
done
binaries=${PI_BINARIES:+$(absolute "$PI_BINARIES")}

cd "$(dirname "$script")/.."
awk -v version="$version" '$1 == "##" && $2 == version { found = 1 } END { exit !found }' CHANGELOG.md ||
  fail "CHANGELOG.md has no heading '## $version': say first what is new"
: "${out:=$PWD/dist/$version}"
[ ! -e "$out" ] || fail "$out is there already"
: "${GOTOOLCHAIN:=go$(sed -n 's/^go //p' go.mod)}"
# What people have set for themselves stays out of the bytes.
export GOTOOLCHAIN CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false" GOWORK=off GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off
time=$(release_time)
host=$(go env GOHOSTOS)/$(go env GOHOSTARCH)

work=$out.part.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$(dirname "$out")"
mkdir "$work" "$work/bin" "$work/tools" "$work/out"
get_binary "$host"
write_texts
for target in "$@"; do
  get_binary "$target"
done
GOOS=${host%/*} GOARCH=${host#*/} go build -ldflags "-s -w" -o "$work/tools/" ./release/pack ./release/sbom
"$work/tools/sbom" "$version" "$work/bin" "$work/out" "$@"
for target in "$@"; do
  pack_target "$target"
done
"$work/tools/pack" -sums "$work/out" >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$work/out"
mv "$work/out" "$out"
