#!/bin/sh
# Asks pi over RPC and prints the answer as it comes: rpc.sh PROMPT [flags of pi]. Needs jq.
set -eu
prompt=$1 && shift
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkfifo "$box/commands" "$box/records"
pi --mode rpc "$@" <"$box/commands" >"$box/records" &
exec 3>"$box/commands" 4<"$box/records"
jq -cn --arg text "$prompt" '{id: "1", type: "prompt", message: $text}' >&3
while IFS= read -r record <&4; do
  tell() { printf '%s\n' "$record" | jq "$@"; }
  case $record in # answers begin with the id, everything else with the type
  '{"id":"1",'*'"success":false'*) tell -r .error >&2; break ;;
  '{"id":"1",'*'"disposition":"handled"'*) break ;;
  '{"type":"message_update"'*) tell -j '.assistantMessageEvent | select(.type == "text_delta").delta' ;;
  '{"type":"extension_ui_request"'*) # a hook asks: nobody is there
    tell -c '{type: "extension_ui_response", id, cancelled: true}' >&3 ;;
  '{"type":"agent_settled"'*) echo; break ;;
  esac
done
exec 3>&- # then pi ends in order
cat <&4 >/dev/null
wait "$!"
