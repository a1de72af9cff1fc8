#!/bin/sh
# Collects what became of the tasks in a folder of results: gather.sh RESULTS. Needs jq.
#
# A line of JSON for each task: {task, status, tries, sessions, models, cost, tokens, answer}. The status is
# null where no try has ended, because one still works or was killed. Cost and tokens are those of all tries,
# as the sessions have them, calls for summaries and other agents included; the answer is the last words of the model.
# What there is in all is told on standard error. Exit status 1 if a task is not done.
set -eu
export LC_ALL=C
if [ $# -ne 1 ] || [ ! -d "$1/tasks" ]; then
  echo "usage: gather.sh RESULTS, the folder that one.sh was given" >&2
  exit 2
fi
case $1 in /*) results=$1 ;; *) results=./$1 ;; esac
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# Each session: {id, models, cost, tokens, answer}. The last line of a file may be torn. What a session of
# another agent cost stands in that of its parent too.
find "$results/sessions" -name '*.jsonl' -type f -exec awk 1 {} + | jq -nRc '
  def entry($e):
    ($e.message.usage // $e.usage) as $usage
    | .cost += ($usage.cost.total // 0)
    | .tokens += ($usage.totalTokens // 0)
    | if $e.message.role == "assistant" then
        .models |= (. + [$e.message.provider + "/" + $e.message.model] | unique)
        | ([$e.message.content[]? | select(.type == "text").text] | join("")) as $text
        | if $text != "" then .answer = $text else . end
      else . end;
  foreach ((inputs | fromjson? | objects), {type: "session", id: null}) as $line (null;
    if $line.type == "session" then
      {whole: .now, now: {id: $line.id, child: ($line.agent != null), models: [], cost: 0, tokens: 0, answer: null}}
    else
      .whole = null | .now |= entry($line)
    end;
    .whole // empty)
  | select(.child | not) | del(.child)' >"$box/sessions"

# Each try: the name of its task, the status of that and the first record, with NUL and a new
# line behind each, which no name has.
for task in "$results"/tasks/*; do
  status=null
  if [ -s "$task/status" ]; then read -r status <"$task/status"; fi
  for records in "$task"/*.jsonl; do
    header=''
    if [ -f "$records" ]; then IFS= read -r header <"$records" || :; fi
    printf '%s\0\n%s\0\n%s\0\n' "${task##*/}" "$status" "$header"
  done
done >"$box/tries"

jq -Rsc --slurpfile sessions "$box/sessions" '
  def rounded: . * 1000000 | round / 1000000;
  ($sessions | map({key: .id, value: .}) | from_entries) as $by_id
  | split("\u0000\n")[:-1]
  | [range(0; length; 3) as $i | {task: .[$i], status: (.[$i + 1] | fromjson), id: (.[$i + 2] | fromjson? // {} | .id)}]
  | group_by(.task)[]
  | ([.[].id | strings] | unique | map($by_id[.] // empty)) as $of
  | {task: .[0].task, status: .[0].status, tries: map(select(.id)) | length, sessions: ($of | map(.id)),
     models: ($of | map(.models[]) | unique), cost: ($of | map(.cost) | add // 0 | rounded), tokens: ($of | map(.tokens) | add // 0),
     answer: ($of | last | .answer)}' "$box/tries" | tee "$box/tasks"

jq -nr --slurpfile sessions "$box/sessions" --slurpfile tasks "$box/tasks" '
  def how: if . == null then "not ended" elif . == 0 then "done" else "with status \(.)" end;
  ($tasks | group_by(.status) | map("\(length) \(.[0].status | how)") | join(", ")) as $states
  | ([$tasks[].sessions[]] | unique) as $known
  | ($sessions | map(select(.id as $id | $known | bsearch($id) < 0)) | length) as $others
  | "\($tasks | length) tasks: \($states); \($tasks | map(.cost) | add // 0 | . * 100 | round / 100) $, \($tasks | map(.tokens) | add // 0) tokens"
    + if $others > 0 then "; and \($others) sessions that no task names" else "" end' >&2
jq -es 'all(.status == 0)' "$box/tasks" >/dev/null
