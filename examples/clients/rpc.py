#!/usr/bin/env python3
"""Asks pi over RPC and prints the answer as it comes: rpc.py PROMPT [flags of pi]"""
import json, subprocess, sys

pi = subprocess.Popen(["pi", "--mode", "rpc", *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(**record):
    pi.stdin.write(json.dumps(record).encode() + b"\n")
    pi.stdin.flush()


def show(record):
    kind = record["type"]
    if kind == "message_update" and record["assistantMessageEvent"]["type"] == "text_delta":
        print(record["assistantMessageEvent"]["delta"], end="", flush=True)
    elif kind == "tool_execution_start":
        print("[" + record["toolName"] + "]", file=sys.stderr)
    elif kind == "extension_ui_request" and record["method"] in ("select", "confirm", "input", "editor"):
        send(type="extension_ui_response", id=record["id"], cancelled=True)  # a hook asks: nobody is there


def wait(is_last):
    for line in pi.stdout:  # bytes, for only LF ends a record
        record = json.loads(line)
        show(record)
        if is_last(record):
            return record
    sys.exit("pi has ended")


def call(kind, **fields):
    send(id=kind, type=kind, **fields)
    answer = wait(lambda record: record["type"] == "response" and record.get("id") == kind)
    return answer.get("data") or {} if answer["success"] else sys.exit(answer["error"])


if call("prompt", message=sys.argv[1]).get("disposition") == "started":
    wait(lambda record: record["type"] == "agent_settled")
print()
pi.stdin.close()  # then pi ends in order
sys.exit(pi.wait())
