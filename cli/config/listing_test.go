package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEverySettingHasALineThatSaysWhatItDoes(t *testing.T) {
	known := meanings()
	var want []string
	for _, path := range settingPaths(reflect.TypeFor[Config](), "") {
		typ, _, err := settingAt(mustKey(t, path))
		if err == nil && typ.Kind() != reflect.Map {
			want = append(want, path)
		}
	}
	want = append(want, "keys.NAME", "providers.NAME.headers.NAME", "providers.NAME.compat.NAME", "providers.NAME.login.extra.NAME")
	for _, path := range want {
		if line := known[path]; line == "" || len(line) > 76 || strings.HasSuffix(line, ".") || strings.Contains(line, "\n") {
			t.Errorf("%s: %q", path, line)
		}
		delete(known, path)
	}
	if len(known) > 0 {
		t.Errorf("no setting has the lines %q", known)
	}
}

func mustKey(t *testing.T, path string) []string {
	t.Helper()
	key, err := parseKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestASettingIsListedWithValueOriginAndChoices(t *testing.T) {
	s := newSandbox(t)
	s.global("thinking = \"low\"\nmodels = [\"a\", \"b\"]\n[keys]\ntake_back = \"alt+up, ctrl+x up\"\n" +
		"[providers.local]\napi_key = \"sk-secret\"\nbase_url = \"http://u:sk-pw@h/v1\"\nheaders = { X-Key = \"sk-header\" }\ncompat = { store = false }\n")
	cfg, _ := s.load()
	all := cfg.Settings()
	find := func(key string) Setting {
		i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
		if i < 0 {
			t.Fatalf("%s is not listed", key)
		}
		return all[i]
	}
	thinking := find("thinking")
	if thinking.Value != `"low"` || thinking.Text != "low" || thinking.Default != `"medium"` || !strings.HasSuffix(thinking.Origin, "config.toml:1") ||
		thinking.Kind != Text || len(thinking.Choices) != 7 || thinking.Meaning == "" {
		t.Errorf("%+v", thinking)
	}
	for _, tt := range []struct {
		key, value, text string
		kind             Kind
	}{
		{"models", `["a", "b"]`, "a, b", List},
		{"ui.plain", "false", "false", Flag},
		{"max_turns", "0", "0", Number},
		{"retry.base_delay", `"2s"`, "2s", Duration},
		{"keys.take_back", `["alt+up", "ctrl+x up"]`, "alt+up, ctrl+x up", List},
		{"providers.local.api_key", `"…"`, "", Text},
		{"providers.local.headers.X-Key", `"…"`, "", Text},
		{"providers.local.compat.store", "false", "false", Flag},
	} {
		if got := find(tt.key); got.Value != tt.value || got.Text != tt.text || got.Kind != tt.kind || got.Meaning == "" {
			t.Errorf("%+v, want %+v", got, tt)
		}
	}
	for _, s := range all {
		if strings.Contains(s.Value+s.Text, "sk-") {
			t.Errorf("%s shows a secret: %q %q", s.Key, s.Value, s.Text)
		}
	}
}

// What a setting says of itself can be given back, and means the same.
func TestTheTextOfASettingCanBeWritten(t *testing.T) {
	s := newSandbox(t)
	s.global("models = [\"a,b\", \" c\"]\nhooks = [\"/x/y.lua\"]\nmax_cost = 1.5\n[retry]\nbase_delay = \"90s\"\n")
	cfg, _ := s.load()
	for _, setting := range cfg.Settings() {
		path := filepath.Join(t.TempDir(), "config.toml")
		if _, err := Set(path, setting.Key, setting.Text, noVariable); err != nil {
			t.Errorf("%s: %v", setting.Key, err)
			continue
		}
		again, _ := Load(filepath.Dir(path), t.TempDir(), noVariable, nil)
		i := slices.IndexFunc(again.Settings(), func(s Setting) bool { return s.Key == setting.Key })
		if got := again.Settings()[i]; got.Value != setting.Value {
			t.Errorf("%s: %s became %s", setting.Key, setting.Value, got.Value)
		}
	}
}

func TestAChangeForThisRunIsCheckedAndWrittenNowhere(t *testing.T) {
	before := Default()
	after, err := before.Change("ui.notify", "bell", "this run", noVariable)
	if err != nil || after.UI.Notify != "bell" || before.UI.Notify != "off" || after.Origins.Of("ui.notify") != "this run" || before.Origins.Of("ui.notify") != "default" {
		t.Errorf("%v: %+v", err, after.UI)
	}
	if after, err = after.Change("ui.notify", "loud", "this run", noVariable); err == nil || after.UI.Notify != "bell" {
		t.Errorf("%v, %q", err, after.UI.Notify)
	}
	bound, err := before.Change("keys.send", "enter, ctrl+m", "this run", noVariable)
	if err != nil || !slices.Equal(bound.Keys["send"], []string{"enter", "ctrl+m"}) || len(before.Keys) != 0 {
		t.Errorf("%v: %q, before %q", err, bound.Keys, before.Keys)
	}
}
