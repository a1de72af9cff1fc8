package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
)

// harness is a working directory with the tools in it.
type harness struct {
	t     *testing.T
	dir   string
	tools map[string]agent.Tool
}

func newHarness(t *testing.T, o Options) *harness {
	t.Helper()
	if o.Cwd == "" {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o.Cwd = dir
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	b := &harness{t: t, dir: o.Cwd, tools: map[string]agent.Tool{}}
	for _, tool := range All(o) {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

func (b *harness) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *harness) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

type args map[string]any

func (b *harness) try(tool string, a args) (agent.Result, error) {
	b.t.Helper()
	input, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools[tool].Run(b.t.Context(), input, nil)
}

func (b *harness) run(tool string, a args) agent.Result {
	b.t.Helper()
	r, err := b.try(tool, a)
	if err != nil {
		b.t.Fatalf("%s %v: %v", tool, a, err)
	}
	return r
}

func (b *harness) text(tool string, a args) string { b.t.Helper(); return textOf(b.run(tool, a)) }

// refused runs a tool that must fail and checks what its error says.
func (b *harness) refused(tool string, a args, says ...string) string {
	b.t.Helper()
	r, err := b.try(tool, a)
	if err == nil {
		b.t.Fatalf("%s %v succeeded: %s", tool, a, textOf(r))
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			b.t.Errorf("%s %v: the error does not say %q: %v", tool, a, s, err)
		}
	}
	return err.Error()
}

// textOf is the text of a result; "" if there is none yet.
func textOf(r agent.Result) string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func details[T any](t *testing.T, r agent.Result) (d T) {
	t.Helper()
	if err := json.Unmarshal(r.Details, &d); err != nil {
		t.Fatalf("details %s: %v", r.Details, err)
	}
	return d
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestAllToolsInOrderWithTheirTexts(t *testing.T) {
	var names []string
	for _, tool := range All(Options{}) {
		s := tool.Spec()
		names = append(names, s.Name)
		if s.Snippet == "" || s.Description == "" || strings.Contains(s.Snippet, "\n") || strings.Contains(s.Description, "Guidelines") {
			t.Errorf("%s: snippet %q, description %q", s.Name, s.Snippet, s.Description)
		}
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Description string }
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(s.Parameters, &schema); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
			t.Errorf("%s: the schema is not one of an object without further properties", s.Name)
		}
		for name, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", s.Name, name)
			}
		}
	}
	equal(t, strings.Join(names, " "), "read bash edit write grep find ls")
	if g := specOf("bash", bashText, bashSchema).Guidelines; len(g) != 2 {
		t.Errorf("bash has %d guidelines: %q", len(g), g)
	}
}

func TestEveryToolHonoursItsContext(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("a.txt", "text\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, input := range map[string]string{
		"read": `{"path":"a.txt"}`, "bash": `{"command":"echo > made"}`, "write": `{"path":"made","content":""}`,
		"edit": `{"path":"a.txt","oldText":"text","newText":"new"}`, "grep": `{"pattern":"text"}`,
		"find": `{"pattern":"*"}`, "ls": `{}`,
	} {
		if r, err := b.tools[tool].Run(ctx, json.RawMessage(input), nil); err == nil {
			t.Errorf("%s ran although its context had ended: %s", tool, textOf(r))
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "made")); err == nil {
		t.Error("a file was made")
	}
	equal(t, b.content("a.txt"), "text\n")
}

func TestArgumentsThatCannotBeRead(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("a.txt", "1\n2\n3\n")
	b.refused("read", args{"path": 5}, "read: the arguments cannot be read")
	b.refused("read", args{"path": "a.txt", "offset": 1.5}, "not a whole number")
	equal(t, b.text("read", args{"path": "a.txt", "offset": 3.0}), "3\n")
}
