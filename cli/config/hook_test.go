package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestATableOfAHookIsItsOwn(t *testing.T) {
	s := newSandbox(t)
	s.global(`[hook.gate]
max_continuations = 20
answers = true
unknown = "ask"
limit = 3
ratio = 0.5
since = 2026-01-02
at = 2026-01-02T03:04:05Z
words = ["a", "b"]

[hook.gate.more]
deep = { er = true }

[[hook.gate.rules]]
tool = "bash"

[hook."pack.lint"]
strict = true
`)
	cfg, problems := s.load()
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	h := cfg.ForHook("gate", false)
	want := map[string]any{
		"unknown": "ask", "limit": int64(3), "ratio": 0.5, "since": "2026-01-02", "at": "2026-01-02T03:04:05Z",
		"words": []any{"a", "b"}, "more": map[string]any{"deep": map[string]any{"er": true}},
		"rules": []any{map[string]any{"tool": "bash"}},
	}
	if !reflect.DeepEqual(h.Values, want) || *h.MaxContinuations != 20 || !h.Answers {
		t.Errorf("%+v", h)
	}
	if got := cfg.ForHook("pack.lint", false).Values["strict"]; got != true {
		t.Errorf("the hook of a package has %v", got)
	}
	if none := cfg.ForHook("other", false); none.Values != nil || none.MaxContinuations != nil || none.Answers {
		t.Errorf("a hook that nothing is said of has %+v", none)
	}
	file := filepath.Join(s.agent, "config.toml")
	for _, tt := range []struct {
		path []any
		want string
	}{
		{nil, ":1"}, {[]any{"unknown"}, ":4"}, {[]any{"more", "deep", "er"}, ":12"}, {[]any{"rules", 0, "tool"}, ":15"},
		{[]any{"words", 1}, ":9"}, {[]any{"words", 9}, ":9"}, {[]any{"not", "there"}, ":1"},
	} {
		if got := h.Where(tt.path...); got != file+tt.want {
			t.Errorf("%v is at %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestTablesOfHooksDoNotCrossBetweenUserAndProject(t *testing.T) {
	s := newSandbox(t)
	s.global("[hook.gate]\nof = 'user'\nmax_continuations = 3\n")
	s.project("[hook.gate]\nof = 'project'\n[hook.own]\nanswers = true\nmax_continuations = 5\nx = 1\n")
	cfg, problems := s.load()
	if got := cfg.ForHook("gate", false).Values["of"]; got != "user" {
		t.Errorf("the user's hook reads %v", got)
	}
	if got := cfg.ForHook("gate", true); got.Values["of"] != "project" || got.MaxContinuations != nil {
		t.Errorf("the project's hook reads %+v", got)
	}
	if got := cfg.ForHook("own", false); got.Values != nil {
		t.Errorf("a table of the project reached a hook of the user: %+v", got)
	}
	if got := cfg.ForHook("own", true); got.Answers || got.MaxContinuations != nil || got.Values["x"] != int64(1) {
		t.Errorf("a project's file set what is the program's: %+v", got)
	}
	want := []string{
		`P:4: key "hook.own.answers" is ignored: only your own config.toml may set it, and for hooks of your own`,
		`P:5: key "hook.own.max_continuations" is ignored: only your own config.toml may set it, and for hooks of your own`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q", problems)
	}
}

func TestWhatIsWrongInATableOfAHook(t *testing.T) {
	for _, tt := range []struct{ name, text, problem, wrong string }{
		{"no table", "hook.gate = 5\n", `G:1: key "hook.gate": expected table, found integer`, `key "hook.gate": expected table, found integer`},
		{"too large", "[hook.gate]\nx = '" + strings.Repeat("y", maxHook) + "'\n", `G:1: "hook.gate" has 65544 bytes, at most 65536 are handed to a hook`, `"hook.gate" has 65544 bytes, at most 65536 are handed to a hook`},
		{"below zero", "[hook.gate]\nmax_continuations = -1\n", `G:2: key "hook.gate.max_continuations": must be at least 0, found -1`, ""},
		{"too many", "[hook.gate]\nmax_continuations = 1001\n", `G:2: key "hook.gate.max_continuations": must be at most 1000, found 1001`, ""},
		{"no number", "[hook.gate]\nmax_continuations = 'all'\n", `G:2: key "hook.gate.max_continuations": expected integer, found string`, ""},
		{"no boolean", "[hook.gate]\nanswers = 'yes'\n", `G:2: key "hook.gate.answers": expected boolean, found string`, ""},
	} {
		s := newSandbox(t)
		s.global(tt.text)
		cfg, problems := s.load()
		if h := cfg.ForHook("gate", false); !slices.Equal(problems, []string{tt.problem}) || h.Wrong != tt.wrong || h.MaxContinuations != nil || h.Answers {
			t.Errorf("%s: %q, %+v", tt.name, problems, h)
		}
	}
}

func TestZeroContinuationsAreALimit(t *testing.T) {
	s := newSandbox(t)
	s.global("[hook.gate]\nmax_continuations = 0\n")
	cfg, _ := s.load()
	if got := cfg.ForHook("gate", false).MaxContinuations; got == nil || *got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestSecretsOfHooksAreShownNowhere(t *testing.T) {
	s := newSandbox(t)
	text := "[hook.gate]\ntoken = 'sk-hidden'\nfrom = 'file:x'\napi_keys = ['sk-hidden']\n[hook.gate.server]\npassword = 'sk-hidden'\nvia = { token = 'env:GATE_TOKEN' }\n"
	s.global(text)
	cfg, problems := s.load()
	var out strings.Builder
	if err := Print(&out, cfg, cfg.Origins); err != nil || len(problems) != 0 {
		t.Fatal(err, problems)
	}
	if got := out.String(); strings.Contains(got, "sk-hidden") || !strings.Contains(got, `from = "file:x"`) || !strings.Contains(got, "env:GATE_TOKEN") {
		t.Errorf("printed\n%s", got)
	}
	for _, setting := range cfg.Settings() {
		if strings.Contains(setting.Value+setting.Text, "sk-hidden") {
			t.Errorf("%s shows %q, %q", setting.Key, setting.Value, setting.Text)
		}
	}
	masked, ok := MaskKeys([]byte(text))
	if !ok || strings.Contains(string(masked), "sk-hidden") || !strings.Contains(string(masked), "env:GATE_TOKEN") {
		t.Errorf("%v, a copy is\n%s", ok, masked)
	}
	s.global("[hook.gate]\ntoken = sk-hidden\n")
	if _, problems := s.load(); len(problems) != 1 || strings.Contains(problems[0], "sk-") {
		t.Errorf("problems %q", problems)
	}
}

func TestPrintedTablesOfHooksLoad(t *testing.T) {
	s := newSandbox(t)
	s.global("[hook.gate]\nmax_continuations = 20\nwords = ['a']\n[hook.gate.more]\ndeep = { er = 1.0 }\n[[hook.gate.rules]]\ntool = 'bash'\n[hook.'pack.lint']\nanswers = true\n")
	cfg, _ := s.load()
	var out strings.Builder
	if err := Print(&out, cfg, nil); err != nil {
		t.Fatal(err)
	}
	s.global(out.String())
	again, problems := s.load()
	if len(problems) != 0 {
		t.Fatal(problems, out.String())
	}
	for _, name := range []string{"gate", "pack.lint"} {
		was, now := cfg.Hook[name], again.Hook[name]
		was.lines, now.lines = nil, nil
		if !reflect.DeepEqual(was, now) {
			t.Errorf("%s: printed %+v, read %+v", name, was, now)
		}
	}
}

func TestASettingOfAHookIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	for _, set := range [][2]string{
		{"hook.gate.unknown", "deny"}, {"hook.gate.limit", "3"}, {`hook."pack.lint".strict`, "true"},
		{"hook.gate.more.deep", `["a"]`}, {"hook.gate.max_continuations", "20"},
	} {
		if _, err := Set(path, set[0], set[1], noVariable); err != nil {
			t.Errorf("%s: %v", set[0], err)
		}
	}
	cfg, problems := Load(filepath.Dir(path), t.TempDir(), noVariable, nil)
	h := cfg.Hook["gate"]
	want := map[string]any{"unknown": "deny", "limit": int64(3), "more": map[string]any{"deep": []any{"a"}}}
	if len(problems) != 0 || !reflect.DeepEqual(h.Values, want) || *h.MaxContinuations != 20 || cfg.Hook["pack.lint"].Values["strict"] != true {
		t.Errorf("%v, %+v", problems, cfg.Hook)
	}
	if _, err := Set(path, "hook.gate.max_continuations", "1001", noVariable); err == nil {
		t.Error("a number beyond its bound was written")
	}
	if _, err := Set(path, "hook.gate", "1", noVariable); err == nil || !strings.Contains(err.Error(), "is a table") {
		t.Errorf("a table was written: %v", err)
	}
	if was, err := Unset(path, "hook.gate.limit"); !was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
}
