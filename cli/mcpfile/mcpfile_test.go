package mcpfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/mcp"
	"pi/cli/config"
)

// origin is a file of the user or of a project in a made-up world.
func origin(kind mcp.SourceKind) Origin {
	env := map[string]string{"LEVEL": "high", "GITHUB_TOKEN": "gh-1", "ANTHROPIC_API_KEY": "sk-ant", "ALIAS": "sk-ant"}
	o := Origin{Kind: kind, Path: "/agent/mcp.json", Base: "/home/u/project", Workspace: "/home/u/project", Home: "/home/u",
		Getenv: func(name string) string { return env[name] }, Keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
		Run: func(_ context.Context, command string) (string, error) { return "printed by " + command, nil }}
	if kind == mcp.FromProject {
		o.Path = "/home/u/project/.pi/mcp.json"
		o.Run = nil
	}
	return o
}

// one reads a file with one server.
func one(t *testing.T, kind mcp.SourceKind, entry string) (Server, []config.Problem) {
	t.Helper()
	f := Parse([]byte(`{"mcpServers": {"files": `+entry+`}}`), origin(kind))
	if len(f.Servers) == 0 {
		return Server{}, f.Problems
	}
	return f.Servers[0], f.Problems
}

func TestAServerIsReadAsItIsWritten(t *testing.T) {
	s, problems := one(t, mcp.FromUser, `{"command": "./bin/serve", "args": ["-l", "${LEVEL}", "${NONE:-x y}", "${workspaceFolder}/a", "$HOME", "$$"],
		"env": {"A": "${env:LEVEL}!", "N": 3, "P": 1234567, "T": true}, "cwd": "sub", "description": "the\u001b[31m files\nof it", "exposure": "codemode",
		"tools": {"get_*": "direct", "delete_*": "hidden", "x": "deferred"}, "timeout": 1.5, "max_timeout": 60, "protocol": "2025-11-25", "trust_annotations": true, "enabled": true}`)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	e := s.Entry
	if e.Command != "/home/u/project/bin/serve" || e.Cwd != "/home/u/project/sub" || !slices.Equal(e.Args, []string{"-l", "high", "x y", "/home/u/project/a", "$HOME", "$$"}) {
		t.Errorf("%q %q in %q", e.Command, e.Args, e.Cwd)
	}
	if !maps.Equal(e.Env, map[string]string{"A": "high!", "N": "3", "P": "1234567", "T": "true"}) || e.Description != "the files of it" {
		t.Errorf("%q, %q", e.Env, e.Description)
	}
	if e.Exposure != mcp.Search || !maps.Equal(e.Tools, map[string]mcp.Exposure{"get_*": mcp.Direct, "delete_*": mcp.Off, "x": mcp.Search}) {
		t.Errorf("%q, %q", e.Exposure, e.Tools)
	}
	if e.Timeout != 1500*time.Millisecond || e.MaxTimeout != time.Minute || e.Protocol != "2025-11-25" || !e.TrustAnnotations || e.Disabled || e.Problem != nil {
		t.Errorf("%+v", e)
	}
	if !slices.Equal(s.Variables, []string{"LEVEL", "NONE"}) || e.Source.Line != 1 || e.Source.Kind != mcp.FromUser {
		t.Errorf("reads %q, %+v", s.Variables, e.Source)
	}
}

func TestAServerOverHTTP(t *testing.T) {
	s, problems := one(t, mcp.FromUser, `{"type": "streamable-http", "url": "https://example.com/mcp", "headers": {"Authorization": "!pass show docs", "X-Level": "${LEVEL}"},
		"oauth": {"clientId": "c", "clientSecret": "${GITHUB_TOKEN}", "clientMetadataUrl": "https://example.com/c", "scopes": ["a"], "port": 8123}}`)
	if len(problems) != 0 || !s.IsHTTP() || !maps.Equal(s.Headers, map[string]string{"X-Level": "high", "Authorization": ""}) {
		t.Fatalf("%v %+v", problems, s)
	}
	if o := s.OAuth; o.ClientID != "c" || o.ClientSecret != "gh-1" || o.ClientMetadataURL != "https://example.com/c" || o.Port != 8123 || !slices.Equal(o.Scopes, []string{"a"}) {
		t.Errorf("%+v", s.OAuth)
	}
	_, headers, err := s.Secrets(t.Context())
	if err != nil || headers["Authorization"] != "printed by pass show docs" {
		t.Errorf("%v, %v", headers, err)
	}
	failing := origin(mcp.FromUser)
	failing.Run = func(context.Context, string) (string, error) { return "", errors.New("locked") }
	f := Parse([]byte(`{"mcpServers": {"a": {"command": "x", "env": {"T": "!pass"}}}}`), failing)
	if _, _, err := f.Servers[0].Secrets(t.Context()); err == nil || err.Error() != "T: locked" {
		t.Errorf("%v", err)
	}
}

func TestAVariableThatIsNotSetIsNamed(t *testing.T) {
	s, problems := one(t, mcp.FromUser, `{"command": "x", "args": ["${GONE}", "${env:LOST}", "${GONE}"]}`)
	if len(problems) != 0 || s.Problem == nil || s.Problem.Error() != "the variables GONE, LOST are not set" {
		t.Errorf("%v, %v", s.Problem, problems)
	}
	if s, _ := one(t, mcp.FromUser, `{"url": "https://${HOST}/mcp"}`); s.Problem == nil || s.Problem.Error() != "the variable HOST is not set" {
		t.Errorf("%+v", s)
	}
}

func TestWhatLeavesAnEntryOut(t *testing.T) {
	for _, tt := range []struct {
		kind        mcp.SourceKind
		entry, want string
	}{
		{mcp.FromUser, `[]`, "an object is expected"},
		{mcp.FromUser, `{}`, "neither command nor url"},
		{mcp.FromUser, `{"command": "x", "url": "https://e/"}`, "only one"},
		{mcp.FromUser, `{"command": ["x"]}`, "command has to be a text, and is a list"},
		{mcp.FromUser, `{"command": " "}`, "command has to name a program"},
		{mcp.FromUser, `{"args": ["x"]}`, "it has no command"},
		{mcp.FromUser, `{"type": "stdio", "url": "https://e/"}`, "it has no command"},
		{mcp.FromUser, `{"type": "http", "command": "x"}`, "it has no url"},
		{mcp.FromUser, `{"type": "sse", "url": "https://e/sse"}`, `try that with type "http"`},
		{mcp.FromUser, `{"type": "ws", "url": "https://e/"}`, `type "ws" is not known`},
		{mcp.FromUser, `{"command": "x", "args": "y"}`, "args has to be a list"},
		{mcp.FromUser, `{"command": "x", "args": [1]}`, "args[0] has to be a text, and is a number"},
		{mcp.FromUser, `{"command": "x", "env": ["A=1"]}`, "env has to be an object"},
		{mcp.FromUser, `{"command": "x", "env": {"A": {}}}`, "env.A has to be a text"},
		{mcp.FromUser, `{"command": "x", "headers": {"A": "b"}}`, "headers go with a url"},
		{mcp.FromUser, `{"command": "x", "headers": {"A": "!b"}}`, "headers go with a url"},
		{mcp.FromUser, `{"url": "https://e/", "env": {"A": "b"}}`, "go with a command"},
		{mcp.FromUser, `{"url": "https://e/", "env": {"A": "!b"}}`, "go with a command"},
		{mcp.FromUser, `{"url": "e/mcp"}`, "https://"},
		{mcp.FromUser, `{"url": "file:///etc/passwd"}`, "https://"},
		{mcp.FromUser, `{"url": "https://u:sk-secret@e/"}`, "name or password"},
		{mcp.FromUser, `{"url": "https://e/#x"}`, "behind #"},
		{mcp.FromUser, `{"command": "x", "exposure": "all"}`, `exposure is "all"`},
		{mcp.FromUser, `{"command": "x", "tools": {"a": true}}`, `tools "a" has to be search`},
		{mcp.FromUser, `{"command": "x", "timeout": 60000000}`, "timeout is a number of seconds"},
		{mcp.FromUser, `{"command": "x", "timeout": 0}`, "timeout is a number of seconds"},
		{mcp.FromUser, `{"command": "x", "enabled": "no"}`, "enabled has to be true or false"},
		{mcp.FromUser, `{"url": "https://e/", "oauth": {"port": 70000}}`, "oauth.port"},
		{mcp.FromUser, `{"url": "https://e/", "oauth": {"clientSecret": "sk-secret"}}`, "goes with a clientId"},
		{mcp.FromUser, `{"url": "https://e/", "oauth": {"clientMetadataUrl": "https://e/"}}`, "with a path"},
		{mcp.FromUser, `{"command": "x", "args": ["${input:token}"]}`, "${input:token} is not understood"},
		{mcp.FromUser, `{"command": "x", "args": ["${NONE:-${LEVEL}}"]}`, "${NONE:-${LEVEL} is not understood"},
		{mcp.FromUser, `{"command": "x", "args": ["${userHome"]}`, "${ without a }"},
		{mcp.FromUser, `{"command": "x", "env": {"A": "!"}}`, "names no command"},
		{mcp.FromProject, `{"command": "x", "env": {"A": "!cat ~/.ssh/id"}}`, "only your own mcp.json may have"},
		{mcp.FromProject, `{"command": "x", "env": {"A": "${ANTHROPIC_API_KEY}"}}`, "is the key of a provider"},
		{mcp.FromProject, `{"command": "x", "args": ["${env:OPENAI_API_KEY:-none}"]}`, "is the key of a provider"},
		{mcp.FromProject, `{"url": "https://evil.example/${ALIAS}"}`, "${ALIAS} is the key of a provider"},
	} {
		s, problems := one(t, tt.kind, tt.entry)
		if len(problems) == 0 || problems[0].Warning || problems[0].Line != 1 || !strings.Contains(problems[0].Text, tt.want) || s.Name != "" {
			t.Errorf("%s: %+v, %v; want %q", tt.entry, s, problems, tt.want)
		}
		if strings.Contains(fmt.Sprint(problems), "sk-") {
			t.Errorf("%s: a secret is told: %v", tt.entry, problems)
		}
	}
}

func TestTheUserMayGiveAServerTheKeyOfAProvider(t *testing.T) {
	if s, problems := one(t, mcp.FromUser, `{"command": "x", "env": {"A": "${ANTHROPIC_API_KEY}"}}`); len(problems) != 0 || s.Env["A"] != "sk-ant" {
		t.Errorf("%+v, %v", s, problems)
	}
}

func TestWhatCostsOnlyItself(t *testing.T) {
	for _, tt := range []struct {
		kind        mcp.SourceKind
		entry, want string
	}{
		{mcp.FromUser, `{"command": "x", "arg": ["y"]}`, `"arg" is not understood, did you mean "args"?`},
		{mcp.FromUser, `{"command": "npx -y pkg"}`, "belongs into args"},
		{mcp.FromUser, `{"url": "https://e/", "oauth": {"client": "x"}}`, "oauth.client is not understood"},
		{mcp.FromProject, `{"command": "x", "trust_annotations": true}`, "is for your own mcp.json"},
	} {
		s, problems := one(t, tt.kind, tt.entry)
		if s.Name == "" || s.TrustAnnotations || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Text, tt.want) {
			t.Errorf("%s: %+v, %v; want %q", tt.entry, s, problems, tt.want)
		}
	}
}

func TestMistakesAreNamedWithTheirLinesAndCostTheOthersNothing(t *testing.T) {
	f := Parse([]byte(`{
  "other": 1,
  "mcpServers": {
    "good": {"command": "x"},
    "bad__name": {"command": "x"},
    "bad": {
      "command": "x",
      "timeout": "soon"
    },
    "good": {"command": "second"},
    "off": {"command": "y", "enabled": false, "disabled": null}
  }
}`), origin(mcp.FromUser))
	var got []string
	for _, p := range f.Problems {
		got = append(got, fmt.Sprintf("%d %.40s", p.Line, p.Text))
	}
	want := []string{`5 the name of the server "bad__name" has _`, `8 server "bad" is left out: timeout is a n`, `10 "good" stands here a second time; the fi`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(f.Servers) != 2 || f.Servers[0].Command != "x" || f.Servers[0].Source.Line != 4 || !f.Servers[1].Disabled {
		t.Errorf("%+v", f.Servers)
	}
}

func TestATextThatIsNoFileOfServers(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for text, want := range map[string]string{
		"[]": "1: a JSON object is expected", "{\n\"mcpServers\": {\n\"a\": sk-secret}}": "3: not valid JSON", "{\"mcpServers\":\n []}": "2: \"mcpServers\" has to be",
		`{"servers": {}}`: `1: it has "servers"`, `{"x": 1}`: `1: it has no "mcpServers"`, `{"mcpServers": {}} {}`: "1: not valid JSON: something follows",
		`{"mcpServers": {`: "1: not valid JSON", deep: "1: not valid JSON: more than 32",
	} {
		f := Parse([]byte(text), origin(mcp.FromUser))
		if len(f.Servers) != 0 || len(f.Problems) != 1 || !strings.Contains(f.Problems[0].String(), want) || strings.Contains(f.Problems[0].Text, "sk-") {
			t.Errorf("%q: %v, want %q", text, f.Problems, want)
		}
	}
	for _, text := range []string{"", " \n", "{}", "\xef\xbb\xbf{}", `{"mcpServers": {}}`} {
		if f := Parse([]byte(text), origin(mcp.FromUser)); len(f.Problems)+len(f.Servers) != 0 {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${A:-b}"], "env": {"K": "!c"}}, "b": {"url": "https://e"}}}`))
	f.Add([]byte("{\"mcpServers\":\n{\"a\": {\"command\": \"\\ud800\", \"timeout\": 1e999}}}"))
	f.Add([]byte(`{"mcpServers": {"a": {"tools": {"*": "off"}, "oauth": {"port": 1}, "cwd": "${"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []mcp.SourceKind{mcp.FromUser, mcp.FromProject} {
			file := Parse(data, origin(kind))
			for _, p := range file.Problems {
				if p.Line < 1 || p.Line > 1+strings.Count(string(data), "\n") {
					t.Errorf("line %d of %q", p.Line, data)
				}
			}
			for _, s := range file.Servers {
				if mcp.CheckName(s.Name) != nil || !s.Narrows && (s.Command == "") == (s.URL == "") && s.Problem == nil {
					t.Errorf("%q gives %+v", data, s)
				}
				if kind == mcp.FromProject && (s.Secrets != nil || strings.Contains(fmt.Sprintf("%q", []any{s.Args, s.Env, s.Headers, s.URL, s.Command}), "sk-ant")) {
					t.Errorf("%q lets a project have %+v", data, s)
				}
			}
		}
		for _, name := range Names(data) {
			changed, was, err := Remove(data, name)
			if err == nil && (!was || slices.Contains(Names(changed), name)) {
				t.Errorf("%q is still in %q", name, changed)
			}
		}
		if changed, err := Add(data, "new-one", New{Command: "x"}); err == nil && !slices.Contains(Names(changed), "new-one") {
			t.Errorf("%q has no new one", changed)
		}
		Mask(data)
	})
}

func TestWhatAProjectSaysOfAServerOfTheUser(t *testing.T) {
	user := `{"mcpServers": {"a": {"command": "mine", "exposure": "direct", "tools": {"get_*": "direct"}}, "b": {"command": "b", "tools": {"x*": "off"}}}}`
	for _, tt := range []struct {
		name, project string
		want          string // of a: command, disabled, exposure, tools
		problem       string
	}{
		{"nothing", `{}`, "mine false direct map[get_*:direct]", ""},
		{"off", `{"a": {"enabled": false}}`, "mine true direct map[get_*:direct]", ""},
		{"narrower", `{"a": {"exposure": "search", "tools": {"y": "off"}}}`, "mine false search map[get_*:search y:off]", ""},
		{"another command", `{"a": {"command": "evil", "exposure": "off"}}`, "mine false off map[get_*:off]", "you have one of this name"},
		{"wider", `{"b": {"exposure": "direct"}}`, "mine false direct map[get_*:direct]", "would widen"},
		{"wider by a longer pattern", `{"b": {"tools": {"xy*": "search"}}}`, "mine false direct map[get_*:direct]", "would widen"},
		{"nobody", `{"c": {"enabled": false}}`, "mine false direct map[get_*:direct]", "no server of this name"},
	} {
		u := Parse([]byte(user), origin(mcp.FromUser))
		entries, problems := Merge(u, Parse([]byte(`{"mcpServers": `+tt.project+`}`), origin(mcp.FromProject)), nil)
		a := entries[0]
		if got := fmt.Sprint(a.Command, a.Disabled, " ", a.Exposure, " ", a.Tools); strings.Join(strings.Fields(strings.Replace(got, "mine", "mine ", 1)), " ") != tt.want || len(entries) != 2 {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if b := entries[1]; b.Exposure != "" || b.ExposureOf("xyz") != mcp.Off {
			t.Errorf("%s: b is %+v", tt.name, b)
		}
		if (tt.problem != "") != (len(problems) == 1) || tt.problem != "" && !strings.Contains(problems[0].Text, tt.problem) {
			t.Errorf("%s: %v, want %q", tt.name, problems, tt.problem)
		}
		if len(u.Servers[0].Tools) != 1 || u.Servers[0].Tools["get_*"] != mcp.Direct {
			t.Errorf("%s: the file of the user was changed: %v", tt.name, u.Servers[0].Tools)
		}
	}
}

func TestServersOfAnEditor(t *testing.T) {
	entries, problems := FromClient([]byte(`[
		{"name": "my files", "command": "/bin/serve", "args": ["${X}"], "env": [{"name": "T", "value": "!x"}]},
		{"type": "http", "name": "docs", "url": "https://e/mcp", "headers": [{"name": "A", "value": "b"}]},
		{"type": "sse", "name": "old", "url": "https://e/sse"}, {"name": "none"}, {"name": "my_files", "command": "x"}, 7]`))
	if len(entries) != 2 || entries[0].Name != "my_files" || entries[0].Exposure != mcp.DirectIfFew || entries[0].Args[0] != "${X}" || entries[0].Env["T"] != "!x" || entries[0].Secrets != nil || entries[1].Headers["A"] != "b" {
		t.Errorf("%+v", entries)
	}
	if len(problems) != 4 || !strings.Contains(problems[0], `"old" of the editor is left out: type "sse" is the old way`) || !strings.Contains(problems[0], `try that with type "http"`) || !strings.Contains(problems[3], "server 6") {
		t.Errorf("%q", problems)
	}
	merged, problems2 := Merge(Parse([]byte(`{"mcpServers": {"docs": {"command": "mine"}}}`), origin(mcp.FromUser)), File{}, entries)
	if len(merged) != 2 || merged[0].URL != "https://e/mcp" || len(problems2) != 1 || !strings.Contains(problems2[0].Text, "the editor has one of this name") {
		t.Errorf("%+v, %v", merged, problems2)
	}
	if entries, problems := FromClient(nil); entries != nil || problems != nil {
		t.Errorf("%v, %v", entries, problems)
	}
}

func FuzzFromClient(f *testing.F) {
	for _, seed := range []string{`[{"name":"a b","command":"/x","args":["y"],"env":[{"name":"N","value":"v"}]}]`, `[{"type":"http","name":"__","url":"https://e/mcp","headers":[]}]`,
		`[{"type":"sse","name":"","url":"x"},7,null,{"name":7}]`, `{}`, `null`, ``, `[`, `[{"name":"é","command":"x"},{"name":"\u0000","command":"x"}]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, problems := FromClient([]byte(text))
		names := map[string]bool{}
		for _, e := range entries {
			if err := mcp.CheckName(e.Name); err != nil || names[e.Name] {
				t.Errorf("the name %q: %v", e.Name, err)
			}
			names[e.Name] = true
			if (e.Command == "") == (e.URL == "") || e.Source.Kind != mcp.FromClient || e.Exposure != mcp.DirectIfFew || e.Secrets != nil {
				t.Errorf("%+v", e)
			}
		}
		for _, p := range problems {
			if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%q is no line", p)
			}
		}
		var list []json.RawMessage
		if json.Unmarshal([]byte(text), &list) == nil && len(entries)+len(problems) != len(list) {
			t.Errorf("of %d servers %d are used and %d named", len(list), len(entries), len(problems))
		}
	})
}

func TestAServerOfAProjectIsTheFilesThatItNames(t *testing.T) {
	project := t.TempDir()
	write := func(path string) string {
		path = filepath.Join(project, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := []string{write("bin/serve"), write("conf.json"), write("hook.js"), write("sub/server.js")}
	write("node") // a program that is looked for in PATH, not here
	outside := filepath.Join(t.TempDir(), "outside.js")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := origin(mcp.FromProject)
	o.Base, o.Workspace = project, project
	f := Parse([]byte(`{"mcpServers": {
		"a": {"command": "./bin/serve", "args": ["--config=conf.json", "gone.js", ".", "`+filepath.ToSlash(outside)+`"]},
		"b": {"command": "node", "args": ["server.js", "${workspaceFolder}/bin/serve"], "cwd": "sub", "env": {"NODE_OPTIONS": "--require ../hook.js"}}}}`), o)
	if got := f.Files(project); !slices.Equal(got, want) || len(f.Problems) != 0 {
		t.Errorf("%q, want %q, %v", got, want, f.Problems)
	}
	isApproved := func(path string) bool { return filepath.Base(path) != "hook.js" }
	if err := f.Servers[0].Unapproved(project, isApproved); err != nil {
		t.Error(err)
	}
	if err := f.Servers[1].Unapproved(project, isApproved); err == nil || !strings.HasPrefix(err.Error(), "hook.js is not approved") {
		t.Error(err)
	}
	rows := strings.Join(f.Servers[1].Rows(), "\n")
	if rows != "b  node server.js ${workspaceFolder}/bin/serve\nin sub\ngets NODE_OPTIONS=--require ../hook.js" {
		t.Errorf("%s", rows)
	}
}

func TestAnEntryIsAddedAndRemovedAndTheRestStays(t *testing.T) {
	const entry = "\"new\": {\n      \"command\": \"x\"\n    }"
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		{"other things", "{ \"a\":1 }\n", "{ \"a\":1,\n  \"mcpServers\": {\n    " + entry + "\n  } }\n"},
		{"no servers", "{\"mcpServers\": {}}", "{\"mcpServers\": {\n    " + entry + "\n  }}"},
		{"another server", "{\"mcpServers\": {\n\t\"b\" : { \"url\":\"u\"  }\n}, \"z\": 1}", "{\"mcpServers\": {\n\t\"b\" : { \"url\":\"u\"  },\n    " + entry + "\n}, \"z\": 1}"},
	} {
		got, err := Add([]byte(tt.before), "new", New{Command: "x"})
		if err != nil || string(got) != tt.after {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.after)
		}
		if _, err := Add(got, "new", New{Command: "y"}); !errors.Is(err, ErrThere) {
			t.Errorf("%s: %v", tt.name, err)
		}
		back, was, err := Remove(got, "new")
		if err != nil || !was || len(Names(back)) != len(Names([]byte(tt.before))) {
			t.Errorf("%s: %q, %v, %v", tt.name, back, was, err)
		}
	}
	if _, err := Add([]byte(`{"mcpServers": []}`), "new", New{}); err == nil {
		t.Error("a list got a member")
	}
	if _, err := Add(nil, "a__b", New{}); err == nil {
		t.Error("a name that no server can have was added")
	}
	if got, was, err := Remove([]byte(`{"mcpServers": {"a": 1, "b": 2, "a": 3}}`), "a"); err != nil || !was || string(got) != `{"mcpServers": {"b": 2}}` {
		t.Errorf("%q, %v, %v", got, was, err)
	}
}

func TestACopyHasNoSecrets(t *testing.T) {
	text := `{"mcpServers": {"a": {"command": "x", "args": ["--api-key", "sk-1", "--token=sk-2", "plain", "https://u:sk-3@h/?key=sk-4&a=b", "-v"],
 "env": {"API_TOKEN": "sk-5", "PIN_KEY": 31337, "PAT": "sk-abcdef12345678", "DB": "pg://u:sk-9@h/d", "U": "${VAR}", "V": "!pass", "NODE_OPTIONS": "--require ./x.js"}}, "b": {"url": "https://h/?token=sk-6", "headers": {"Authorization": "Bearer sk-7", "X": "Bearer ${T}"}, "oauth": {"clientId": "id", "clientSecret": "sk-8"}}}}`
	masked, ok := Mask([]byte(text))
	if !ok || strings.Contains(string(masked), "sk-") || strings.Contains(string(masked), "31337") {
		t.Fatalf("%s, %v", masked, ok)
	}
	for _, want := range []string{`"U": "${VAR}"`, `"V": "!pass"`, `"Bearer ${T}"`, `"clientId": "id"`, `"plain"`, `"-v"`, "a=b", "--require ./x.js"} {
		if !strings.Contains(string(masked), want) {
			t.Errorf("%s has lost %s", masked, want)
		}
	}
	if other, _ := Mask([]byte(strings.Replace(text, "sk-8", "sk-0", 1))); string(other) == string(masked) {
		t.Error("a change of a secret is not seen")
	}
	f := Parse(masked, origin(mcp.FromUser))
	if len(f.Servers) != 2 || !errors.Is(f.Servers[0].Problem, errMasked) || !errors.Is(f.Servers[1].Problem, errMasked) {
		t.Errorf("a server is started without its secrets: %+v, %v", f.Servers, f.Problems)
	}
	for _, odd := range []string{
		`{"mcpServers": {"a": {"headers": {"A": "sk-1"}}}, "mcpServers": {}}`, `{"mcpServers": {"a": {"headers": {"A": ["sk-1"]}}}}`,
		`{"mcpServers": {"a": {"oauth": {"clientSecret": "sk-1", "clientSecret": "x"}}}}`, `{"mcpServers": {"a": {"env": {"API_KEY": {"b": "sk-1"}}}}}`,
	} {
		if masked, ok := Mask([]byte(odd)); !ok || strings.Contains(string(masked), "sk-") {
			t.Errorf("%s, %v", masked, ok)
		}
	}
	if _, ok := Mask([]byte(`{"mcpServers": {"a": {"env": {"T": "sk-1"}}`)); ok {
		t.Error("a text that cannot be read has no copy")
	}
	e := &mcp.Entry{Command: "x", Args: []string{"--api-key", "sk-1", "--token=sk-2", "a b"}}
	if got := Line(e); got != "x --api-key … --token=… 'a b'" {
		t.Errorf("%s", got)
	}
	if got := Line(&mcp.Entry{URL: "https://h/?token=sk-6"}); got != "https://h/?token=…" {
		t.Errorf("%s", got)
	}
}

func TestWhatIsNoPairIsNotRepeated(t *testing.T) {
	if name, value, err := ParsePair("A=b=c"); name != "A" || value != "b=c" || err != nil {
		t.Errorf("%q, %q, %v", name, value, err)
	}
	for _, text := range []string{"Authorization: Bearer sk-secret", "=sk-secret"} {
		if _, _, err := ParsePair(text); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%v", err)
		}
	}
}
