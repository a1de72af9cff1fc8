#!/bin/sh
# Runs each prompt of a folder by GNU parallel, JOBS (8) at a time:
#
#   parallel.sh PROMPTS RESULTS [FLAGS OF PI…]
#
# RESULTS/joblog says how long each took. The exit status is the number of tasks that failed, at most 101.
# Once more, it does what is not done yet. What bounds a task stands in one.sh.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ $# -lt 2 ]; then
  echo "usage: parallel.sh PROMPTS RESULTS [FLAGS OF PI…]" >&2
  exit 2
fi
prompts=${1%/} results=$2
shift 2
mkdir -p -- "$results"
export PARALLEL_SHELL=/bin/sh
for prompt in "$prompts"/*; do printf '%s\0' "$prompt"; done |
  parallel --null --quote --jobs "${JOBS:-8}" --joblog "$results/joblog" \
    sh "$here/one.sh" -- {} "$results" "$@"
