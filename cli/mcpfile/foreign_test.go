package mcpfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent/mcp"
)

func TestServersOfOtherPrograms(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".claude.json"), fmt.Sprintf(`{"numStartups": 7, "mcpServers": {"one": {"type": "stdio", "command": "npx", "args": ["-y", "pkg", "--token", "sk-1"], "env": {"A": "sk-2", "B": "${B}"}}},
		"projects": {%q: {"mcpServers": {"two": {"type": "http", "url": "https://e/mcp?key=sk-3", "headers": {"Authorization": "Bearer sk-4"}}}}, "/other": {"mcpServers": {"no": {"command": "x"}}}}}`, cwd))
	write(filepath.Join(home, ".cursor", "mcp.json"), `{"mcpServers": {"my server!": {"command": "x", "disabled": true}, "bang": {"command": "x", "env": {"P": "!rm -rf /"}}}}`)
	write(filepath.Join(cwd, ".vscode", "mcp.json"), `{ // servers
		"inputs": [], "servers": {"vs": {"type": "stdio", "command": "x", "args": ["/* no comment */", "//neither",], "env": {"T": "${input:token}"}}, /* the
		last */ "old": {"type": "sse", "url": "https://e/sse"}, },}`)
	write(filepath.Join(home, ".codex", "config.toml"), `model = "x"
[mcp_servers.cx]
command = "x"
args = ["a"]
env = { E = "sk-5" }
env_vars = ["V", { name = "W" }]
enabled = false
tool_timeout_sec = 5
enabled_tools = ["get"]
[mcp_servers.web]
url = "https://e/mcp"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = { X = "X_VALUE" }
http_headers = { Y = "sk-6" }
disabled_tools = ["drop"]
[mcp_servers.bad]
command = 7
`)
	write(filepath.Join(cwd, ".mcp.json"), `not JSON`)
	found := Foreign(ForeignPlaces{Home: home, Cwd: cwd, Configs: filepath.Join(home, ".config")})
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s | %s | %s | %s", f.Name, f.Line, strings.Join(f.Rows, "; "), f.Problem))
	}
	want := []string{
		`one | npx -y pkg --token … | gets A=…; gets B=${B} | `,
		`two | https://e/mcp?key=… | sends Authorization: … | `,
		`bang |  |  | a value begins with !, which would run a command here`,
		`my_server_ | x | is called "my server!" there | `,
		`old |  |  | type "sse" is the old way over HTTP`,
		`vs |  |  | env.T: ${input:token} is not understood`,
		`bad |  |  | an object is expected`,
		`cx | x a | gets E=…; gets V=${V}; gets W=${W} | `,
		`web | https://e/mcp | sends Authorization: Bearer ${WEB_TOKEN}; sends X: ${X_VALUE}; sends Y: … | `,
	}
	for i := range got {
		if i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%d: %s", i, got[i])
		}
	}
	if len(got) != len(want) || strings.Contains(strings.Join(got, " "), "sk-") {
		t.Errorf("%d found, want %d: %q", len(got), len(want), got)
	}

	// What is taken is what they have.
	var text []byte
	for _, f := range found {
		if f.Problem != "" {
			continue
		}
		var err error
		if text, err = Add(text, f.Name, f.Entry); err != nil {
			t.Fatal(err)
		}
	}
	o := origin(mcp.FromUser)
	o.Getenv = func(name string) string { return "value of " + name }
	file := Parse(text, o)
	if len(file.Problems) != 0 || len(file.Servers) != 5 {
		t.Fatalf("%v\n%s", file.Problems, text)
	}
	by := map[string]Server{}
	for _, s := range file.Servers {
		by[s.Name] = s
	}
	if one := by["one"]; !slices.Equal(one.Args, []string{"-y", "pkg", "--token", "sk-1"}) || one.Env["A"] != "sk-2" || one.Env["B"] != "value of B" {
		t.Errorf("%+v", one.Entry)
	}
	if two := by["two"]; two.URL != "https://e/mcp?key=sk-3" || two.Headers["Authorization"] != "Bearer sk-4" {
		t.Errorf("%+v", two.Entry)
	}
	if cx := by["cx"]; !cx.Disabled || cx.Timeout.Seconds() != 5 || cx.Env["W"] != "value of W" || cx.ExposureOf("get") != mcp.Search || cx.ExposureOf("put") != mcp.Off {
		t.Errorf("%+v", cx.Entry)
	}
	if web := by["web"]; web.Headers["Authorization"] != "Bearer value of WEB_TOKEN" || web.ExposureOf("drop") != mcp.Off || web.ExposureOf("get") != mcp.Search {
		t.Errorf("%+v", web.Entry)
	}
	if !by["my_server_"].Disabled {
		t.Error("one that is turned off is on")
	}
}

func TestAServerOfADirectoryStaysThere(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	text := `{"mcpServers": {"a": {"command": "./serve", "args": ["${workspaceFolder}/x", "y.js"], "env": {"E": "${workspaceFolder}"}}, "b": {"command": "node", "cwd": "sub"},
		"c": {"command": "~/bin/serve"}, "d": {"url": "https://e/mcp"}}}`
	if err := os.WriteFile(filepath.Join(cwd, ".mcp.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	by := map[string]New{}
	for _, f := range Foreign(ForeignPlaces{Home: home, Cwd: cwd}) {
		by[f.Name] = f.Entry
		if isIn := slices.Contains(f.Rows, "in "+f.Entry.Cwd); f.Problem != "" || isIn != (f.Name != "d") {
			t.Errorf("%+v", f)
		}
	}
	if a := by["a"]; a.Command != filepath.Join(cwd, "serve") || !slices.Equal(a.Args, []string{cwd + "/x", "y.js"}) || a.Env["E"] != cwd || a.Cwd != cwd {
		t.Errorf("%+v", a)
	}
	if b := by["b"]; b.Command != "node" || b.Cwd != filepath.Join(cwd, "sub") {
		t.Errorf("%+v", b)
	}
	if by["c"].Command != "~/bin/serve" || by["d"].Cwd != "" {
		t.Errorf("%+v %+v", by["c"], by["d"])
	}
}

func FuzzWithoutComments(f *testing.F) {
	for _, text := range []string{`{"a": "//", /* x */ "b": [1, ], } // end`, `"\"/*"`, `/*`, `{,}`, "//\n", `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := withoutComments(text)
		if len(out) != len(text) || lineOf(out, len(out)) != lineOf(text, len(text)) {
			t.Errorf("%q becomes %q", text, out)
		}
		if json.Valid(text) && string(out) != string(text) {
			t.Errorf("%q is JSON, and becomes %q", text, out)
		}
	})
}
