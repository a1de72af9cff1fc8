#!/bin/sh
# One task of many: gives the prompt in a file to pi, and keeps what comes of it.
#
#   one.sh PROMPT RESULTS [FLAGS OF PI…]
#   one.sh -n N PROMPTS RESULTS [FLAGS OF PI…]   the N-th file of a folder, from 0, by the bytes of their names
#
# The tools work in the folder in which this is started. In RESULTS, one folder for all tasks:
#
#   tasks/NAME/1.jsonl, 1.log   the records of the first try, and what was said beside them; 2 is the second
#   tasks/NAME/status           the exit status of pi, once the task has ended; nothing is done where it is 0
#   sessions/                   the sessions of all tasks
#
# JOB_TIMEOUT (10m) and JOB_MAX_COST (1, in dollars) bound each try; an empty one sets no bound, and a
# model without a known price takes no JOB_MAX_COST. Status 3, which may pass, is tried again twice, after
# JOB_PAUSE (30) seconds or up to twice that: in the same session, so that no work is done again. PI is the program.
set -euC
umask 077
export LC_ALL=C

fail() {
  echo "one.sh: $1" >&2
  exit 2
}

# nth puts the N-th file of a folder into $prompt.
nth() {
  case $1 in '' | *[!0-9]*) fail "-n wants a number, not \"$1\"" ;; esac
  number=$1 folder=${2%/}
  set -- "$folder"/*
  [ "$number" -lt $# ] || fail "no file $number in $folder"
  shift "$number"
  prompt=$1
}

number=none
while getopts n: option; do
  case $option in n) number=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || fail "usage: one.sh PROMPT RESULTS [FLAGS OF PI…], or: one.sh -n N PROMPTS RESULTS [FLAGS OF PI…]"
prompt=$1 results=$2
shift 2
case $prompt in /*) ;; *) prompt=./$prompt ;; esac
case $results in /*) ;; *) results=./$results ;; esac
[ "$number" = none ] || nth "$number" "$prompt"
if [ ! -f "$prompt" ] || [ ! -r "$prompt" ]; then fail "no file to read: $prompt"; fi

name=${prompt##*/}
said=$(printf '%s' "$name" | tr '[:cntrl:]' '?')
task=$results/tasks/$name
mkdir -p "$task" "$results/sessions"
if [ -f "$task/status" ] && [ "$(cat "$task/status")" = 0 ]; then exit 0; fi
try=1
while [ -e "$task/$try.jsonl" ]; do try=$((try + 1)); done
last=$((try + 2))

timeout=${JOB_TIMEOUT-10m} max_cost=${JOB_MAX_COST-1}
set -- --mode json --session-dir "$results/sessions" --name="$name" \
  ${timeout:+--timeout "$timeout"} ${max_cost:+--max-cost "$max_cost"} "$@"

# A signal is passed on, so that pi ends its tools, keeps the session and says why: a shell alone, the
# first process of a container above all, would keep it for itself.
child='' ended=''
# shellcheck disable=SC2317 # by the traps
end() {
  ended=$1
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || :
}
trap 'end 129' HUP
trap 'end 130' INT
trap 'end 143' TERM

# await puts the status of $child into $status. A signal ends a wait, and not what is waited for.
await() {
  status=0
  [ -z "$ended" ] || kill -TERM "$child" 2>/dev/null || :
  wait "$child" || status=$?
  while kill -0 "$child" 2>/dev/null; do
    status=0
    wait "$child" || status=$?
  done
  child=''
}

# why prints the line in which pi says how the last try ended; hints stand below it.
why() {
  awk '/^pi: / { said = 1; line = $0 } !said { line = $0 } END { print line }' "$task/$try.log"
}

# find_session puts the file of the session of the last try into $session, nothing if there is none.
find_session() {
  id=$(sed -n '1s/^{"type":"session","version":[0-9]*,"id":"\([A-Za-z0-9._-]*\)".*/\1/p' "$task/$try.jsonl")
  for session in "$results"/sessions/*/*_"$id".jsonl; do :; done
  [ -f "$session" ] || session=''
}

# rest waits before the next try: not all that failed together come back together.
rest() {
  pause=${JOB_PAUSE-30}
  pause=$((pause + $(od -An -N2 -tu2 /dev/urandom) % (pause + 1)))
  echo "one.sh: $said: status 3, the next try is in $pause s: $(why)" >&2
  sleep "$pause" &
  child=$!
  await
}

session=''
while :; do
  input=${session:+/dev/null}
  "${PI:-pi}" "$@" ${session:+--session "$session" "Go on."} <"${input:-$prompt}" >"$task/$try.jsonl" 2>"$task/$try.log" &
  child=$!
  await
  if [ "$status" -ne 3 ] || [ "$try" -ge "$last" ] || [ -n "$ended" ]; then break; fi
  find_session
  rest
  if [ -n "$ended" ]; then break; fi
  try=$((try + 1))
done
status=${ended:-$status}

echo "$status" >|"$task/status.new"
mv -f "$task/status.new" "$task/status"
[ "$status" -eq 0 ] || echo "one.sh: $said: status $status: $(why)" >&2
exit "$status"
