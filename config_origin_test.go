package main

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// checkPrinted: what is printed is a settings file that says the same, but for
// what is hidden.
func checkPrinted(t *testing.T, cfg Config) {
	t.Helper()
	for _, origins := range []Origins{nil, cfg.Origins} {
		var out strings.Builder
		if err := PrintConfig(&out, cfg, origins); err != nil {
			t.Fatal(err)
		}
		again := Default()
		d := decodeConfig(&again, place{file: "/a/printed.toml"}, []byte(out.String()))
		for _, p := range d.problems {
			t.Errorf("printed settings do not load: %s\n%s", p, out.String())
		}
		again.ProjectHooks, again.ProjectDisable = cfg.ProjectHooks, cfg.ProjectDisable
		if got, want := withoutSecrets(again), withoutSecrets(cfg); !reflect.DeepEqual(got, want) {
			t.Errorf("printed\n%s\ngot  %+v\nwant %+v", out.String(), got, want)
		}
	}
}

// withoutSecrets drops what does not survive printing: secrets, and free tables,
// whose numbers and dates have no fixed type.
func withoutSecrets(c Config) Config {
	c.Origins = nil
	providers := map[string]ProviderConfig{}
	for name, p := range c.Providers {
		p.BaseURL, p.APIKey, p.Headers, p.Compat = "", "", nil, nil
		models := []ModelConfig{}
		for _, m := range p.Models {
			m.Headers, m.Compat = nil, nil
			models = append(models, m)
		}
		p.Models = models
		providers[name] = p
	}
	c.Providers = providers
	return c
}

func TestPrintedSettingsHideKeysAndTellOrigins(t *testing.T) {
	s := newSandbox(t)
	s.global(`model = "a/b"
[retry]
max_delay = "1m30s"
[keys]
quit = "ctrl+q"
[providers."my own"]
base_url = "http://joe:pw1secret@host/v1/"
api_key = "sk-secret"
headers = { Authorization = "Bearer secret", X-Key = "env:MY_KEY" }
compat = { a = [1, { b = "c" }], d = 1.0 }
[[providers."my own".models]]
id = "m"
reasoning = false
input = ["text"]
cost = { input = 1, output = 2.5 }
[providers.run]
api_key = "!echo secret"
`)
	s.project("hooks = ['a.lua']\n")
	cfg, problems := s.load()
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	var out strings.Builder
	if err := PrintConfig(&out, cfg, cfg.Origins); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	file := s.agent + "/config.toml:"
	for _, want := range []string{
		`model = "a/b" # ` + file + "1 ", `thinking = "medium" # default`, `max_delay = "1m30s" # ` + file + "3",
		`[keys] quit = ["ctrl+q"] # ` + file + "5", `[providers."my own"]`, `[[providers."my own".models]] id = "m"`,
		`[providers."my own".models.cost] input = 1.0`, `output = 2.5`, `reasoning = false`, `api_key = "…"`, `api_key = "!…"`,
		`[providers."my own".compat] a = [1, {b = "c"}] # ` + file + "10", `Authorization = "…"`, `X-Key = "env:MY_KEY"`, "# project hooks: [", "joe:xxxxx@host",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "cache_read") {
		t.Errorf("too much is shown:\n%s", out.String())
	}
	checkPrinted(t, cfg)
}

func TestWithoutOriginsOnlyValuesArePrinted(t *testing.T) {
	var out strings.Builder
	if err := PrintConfig(&out, Default(), nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "#") || !strings.HasPrefix(out.String(), "model = \"\"\nthinking = \"medium\"\n") {
		t.Error(out.String())
	}
}

func TestDurationsArePrintedShort(t *testing.T) {
	for dur, want := range map[time.Duration]string{
		0: "0s", 2 * time.Second: "2s", time.Minute: "1m", 10 * time.Minute: "10m", 90 * time.Second: "1m30s",
		time.Hour: "1h", time.Hour + time.Second: "1h0m1s", 70 * time.Minute: "1h10m", 500 * time.Millisecond: "500ms",
	} {
		if got := formatDuration(dur); got != want {
			t.Errorf("%v: %s, want %s", dur, got, want)
		}
	}
}

func TestResolveKey(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"KEY": " k1\n", "EMPTY": "", "LINES": "a\nb"}[name]
	}
	run := func(command string) (string, string, error) {
		switch command {
		case "good":
			return "k2\n", "a remark", nil
		case "empty":
			return "\n", "", nil
		case "lines":
			return "leak\nleak\n", "", nil
		}
		return "leak", "no such\x1b[31m entry of leak\n", errors.New("exit status 1")
	}
	tests := []struct{ spec, key, err string }{
		{"sk-x", "sk-x", ""},
		{"", "", ""},
		{"env:KEY", "k1", ""},
		{"env:GONE", "", "read key: environment variable GONE is not set"},
		{"env:EMPTY", "", "read key: environment variable EMPTY is not set"},
		{"env:LINES", "", "read key: environment variable LINES holds more than one line"},
		{"env:sk-x", "", "read key: environment variable … is not set"},
		{"env:", "", `read key: "env:" names no variable`},
		{"!good", "k2", ""},
		{"! good", "k2", ""},
		{"!bad", "", "read key: command \"bad\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!bad leak", "", "read key: command \"bad …\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!TOKEN=t bad", "", "read key: command \"…\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!/opt/bad --token t", "", "read key: command \"/opt/bad …\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!empty", "", `read key: command "empty" printed nothing`},
		{"!lines", "", `read key: command "lines" printed more than one line`},
		{"!", "", `read key: "!" names no command`},
	}
	for _, tt := range tests {
		key, err := ResolveKey(tt.spec, getenv, run)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if key != tt.key || said != tt.err {
			t.Errorf("%q: %q, %q; want %q, %q", tt.spec, key, said, tt.key, tt.err)
		}
	}
}
