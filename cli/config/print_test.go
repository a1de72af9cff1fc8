package config

import (
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
		if err := Print(&out, cfg, origins); err != nil {
			t.Fatal(err)
		}
		again := Default()
		d := decode(&again, place{file: "/a/printed.toml"}, []byte(out.String()))
		for _, p := range d.problems {
			t.Errorf("printed settings do not load: %s\n%s", p, out.String())
		}
		again.ProjectHooks, again.ProjectDisable, again.ProjectHook = cfg.ProjectHooks, cfg.ProjectDisable, cfg.ProjectHook
		if got, want := withoutSecrets(again), withoutSecrets(cfg); !reflect.DeepEqual(got, want) {
			t.Errorf("printed\n%s\ngot  %+v\nwant %+v", out.String(), got, want)
		}
	}
}

// withoutSecrets drops what does not survive printing: secrets, and free tables,
// whose numbers and dates have no fixed type.
func withoutSecrets(c Config) Config {
	c.Origins = nil
	providers := map[string]Provider{}
	for name, p := range c.Providers {
		p.BaseURL, p.APIKey, p.Headers, p.Compat = "", "", nil, nil
		p.Login.Extra = nil
		models := []Model{}
		for _, m := range p.Models {
			m.Headers, m.Compat = nil, nil
			models = append(models, m)
		}
		p.Models = models
		providers[name] = p
	}
	c.Providers = providers
	hooks := map[string]Hook{}
	for name, h := range c.Hook {
		hooks[name] = Hook{MaxContinuations: h.MaxContinuations, Answers: h.Answers}
	}
	c.Hook = hooks
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
[providers.run.login]
extra = { client_key = "secret", audience = "shown" }
`)
	s.project("hooks = ['a.lua']\n")
	cfg, problems := s.load()
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	var out strings.Builder
	if err := Print(&out, cfg, cfg.Origins); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	file := s.agent + "/config.toml:"
	for _, want := range []string{
		`model = "a/b" # ` + file + "1 ", `thinking = "medium" # default`, `max_delay = "1m30s" # ` + file + "3",
		`[keys] quit = ["ctrl+q"] # ` + file + "5", `[providers."my own"]`, `[[providers."my own".models]] id = "m"`,
		`[providers."my own".models.cost] input = 1.0`, `output = 2.5`, `reasoning = false`, `api_key = "…"`, `api_key = "!…"`,
		`[providers."my own".compat] a = [1, {b = "c"}] # ` + file + "10", `Authorization = "…"`, `X-Key = "env:MY_KEY"`, `audience = "shown"`, `client_key = "…"`, "# project hooks: [", "joe:xxxxx@host",
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
	if err := Print(&out, Default(), nil); err != nil {
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
