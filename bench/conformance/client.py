#!/usr/bin/env python3
"""The client that the conformance suite of the Model Context Protocol starts: client.py ADDRESS

Does with pi what the scenario in MCP_CONFORMANCE_SCENARIO wants of a client, with nothing but an
mcp.json and commands that a user types. PI names the program, else it is "pi". ../README.md says how
the suite is run."""
import json, os, subprocess, sys, tempfile

PI = os.environ.get("PI", "pi")
scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
failed = False

BROWSER = '#!/bin/sh\nexec curl --silent --show-error --location --output /dev/null "$1"\n'

# The calls of a session: what a command in a shell cannot do. Its arguments are a list of [tool, input].
HOOK = """
local json, text = require "pi.json", require "pi.text"
pi.command("calls", { handler = function(ctx)
  for _, call in ipairs(json.decode(ctx.args_raw)) do
    local result = pi.call_tool(call[1], call[2])
    ctx.ui.notify(text.of(result.content), result.is_error and "error" or "info")
  end
end })
"""


def write(path, text, mode=0o600):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", opener=lambda path, flags: os.open(path, flags, mode)) as file:
        file.write(text)


def entry():
    """The server of the scenario in mcp.json."""
    oauth = {}
    if scenario == "auth/basic-cimd":  # the suite has made up this address
        oauth["clientMetadataUrl"] = "https://conformance-test.local/client-metadata.json"
    if "client_id" in context:
        oauth = {"clientId": context["client_id"], "clientSecret": context["client_secret"]}
    return {"url": sys.argv[1], **({"oauth": oauth} if oauth else {})}


def pi(*args):
    """Runs a command in a shell. Whether the scenario wants it to succeed is for the suite to say."""
    global failed
    print("pi", *args, flush=True)
    failed |= subprocess.run([PI, *args]).returncode != 0


def tools():
    """The tools that pi knows of the server."""
    listed = subprocess.run([PI, "mcp", "tools", "t", "--json"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(listed)["tools"]


def call(tool, arguments):
    pi("mcp", "call", "t", tool, json.dumps(arguments))


def session(*prompts):
    """Prompts of a session over RPC, with a user who takes what a dialog offers, and else says yes."""
    run = subprocess.Popen([PI, "--mode", "rpc", "--no-session", "--model", "demo/tour"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(**record):
        run.stdin.write(json.dumps(record) + "\n")
        run.stdin.flush()

    for prompt in prompts:
        send(id="prompt", type="prompt", message=prompt)
        for line in run.stdout:
            print(line, end="", flush=True)
            record = json.loads(line)
            if record.get("id") == "prompt":
                break
            if record["type"] == "extension_ui_request" and record["method"] in ("select", "input"):
                offered = record.get("default", record["options"][0] if "options" in record else "")
                send(type="extension_ui_response", id=record["id"], value=offered)
    run.stdin.close()
    run.wait()


def calls(*all):
    session("/calls " + json.dumps(all))


def main():
    if scenario.startswith("auth/"):
        pi("mcp", "login", "t")
        pi("mcp", "tools", "t")
        call("test-tool", {})
    elif scenario == "tools_call":
        call("add_numbers", {"a": 5, "b": 3})
    elif scenario == "sse-retry":
        call("test_reconnection", {})
    elif scenario == "http-custom-headers":
        for one in context["toolCalls"]:
            call(one["name"], one["arguments"])
    elif scenario == "http-invalid-tool-headers":
        for tool in tools():
            call(tool["name"], {"region": "us-west1"})
    elif scenario == "json-schema-2020-12-preservation":
        schemas = {tool["name"]: tool["inputSchema"] for tool in tools()}
        call("json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})
    elif scenario == "elicitation-sep1034-client-defaults":
        calls(["mcp__t__test_client_elicitation_defaults", {}])
    elif scenario == "sep-2322-client-request-state":
        calls(*(["mcp__t__test_mrtr_" + name, {}] for name in ("echo_state", "no_state", "unrelated", "no_result_type")))
    elif scenario == "http-standard-headers":
        call("test_headers", {})
        calls(["mcp", {"read": "file:///path/to/file%20name.txt", "server": "t"}])
        session("/mcp:t:test_prompt")
    else:
        pi("mcp", "tools", "t")


with tempfile.TemporaryDirectory() as home:
    agent = os.path.join(home, ".pi", "agent")
    write(os.path.join(agent, "mcp.json"), json.dumps({"mcpServers": {"t": entry()}}))
    write(os.path.join(agent, "hooks", "calls.lua"), HOOK)
    browser = os.path.join(home, "browser")
    write(browser, BROWSER, 0o700)
    os.environ.update(HOME=home, BROWSER=browser)
    os.chdir(home)
    main()
sys.exit(failed)
