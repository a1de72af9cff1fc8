package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How much material there is.
const (
	hookCount     = 10
	functionCount = 90
	entryCount    = 10000
	serverCount   = 3
)

// exampleHooks returns the first hookCount of the examples, by file name. Those that run
// git before the first request are left out: they would measure git.
func exampleHooks() (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join("examples", "*.lua"))
	files = slices.DeleteFunc(files, func(file string) bool {
		return strings.HasSuffix(file, "_test.lua") || slices.Contains([]string{"auto_commit.lua", "git_checkpoint.lua"}, filepath.Base(file))
	})
	if err != nil {
		return nil, err
	}
	hooks := map[string]string{}
	for _, file := range files {
		if len(hooks) == hookCount {
			break
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		hooks[filepath.Base(file)] = string(source)
	}
	if len(hooks) < hookCount {
		return nil, fmt.Errorf("only %d examples here; run this from the top of the repository", len(hooks))
	}
	return hooks, nil
}

// functionHooks returns hooks that each define many small functions and are called at
// every event before the first request.
func functionHooks() map[string]string {
	hooks := map[string]string{}
	for i := range hookCount {
		hooks[fmt.Sprintf("hook%02d.lua", i)] = functionHook()
	}
	return hooks
}

// functionHook returns a hook of functionCount small functions, of which each event calls
// one.
func functionHook() string {
	var b strings.Builder
	b.WriteString("local check = {}\n")
	for i := range functionCount {
		fmt.Fprintf(&b, "function check.f%d(text)\n  return text:find(\"never %d\", 1, true)\nend\n", i, i)
	}
	b.WriteString(`pi.on("input", function(event) check.f0(event.text) end)
pi.on("before_agent_start", function(event) check.f1(event.system_prompt) end)
pi.on("context", function(event) check.f2(event.messages[1].role) end)
pi.on("tool_call", function(event) check.f3(event.tool_name) end)
pi.on("tool_result", function(event) check.f4(event.tool_name) end)
pi.command("checks", { handler = function() return { status = "90 checks" } end })
`)
	return b.String()
}

// writeServers writes a configuration of MCP servers into a home; none of them can be started.
func writeServers(home string) error {
	var all []string
	for i := range serverCount {
		all = append(all, fmt.Sprintf(`"server%d": {"command": "/nowhere/server", "args": ["%d"], "description": "what server %d is for"}`, i, i, i))
	}
	text := `{"mcpServers": {` + strings.Join(all, ",\n") + "}}\n"
	return os.WriteFile(filepath.Join(home, ".pi", "agent", "mcp.json"), []byte(text), 0o600)
}

// writeLongSession writes a session of many entries.
func writeLongSession(file string) error {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"bench","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/nowhere"}` + "\n")
	parent := "null"
	text := strings.Repeat("some words of a conversation ", 20)
	for i := range entryCount {
		message := fmt.Sprintf(`{"role":"user","content":"%s","timestamp":1767323045000}`, text)
		if i%2 == 1 {
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"api":"openai-completions","provider":"local","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1767323045000}`, text)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":%s}`+"\n", i+1, parent, message)
		parent = fmt.Sprintf("\"%08x\"", i+1)
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
