package config

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// sandbox is an agent directory and a project, both empty.
type sandbox struct {
	t              *testing.T
	home, agent, p string
	env            map[string]string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	root := t.TempDir()
	s := &sandbox{t: t, home: filepath.Join(root, "home"), agent: filepath.Join(root, "agent"), p: filepath.Join(root, "project")}
	s.env = map[string]string{"HOME": s.home, "USERPROFILE": s.home}
	return s
}

func (s *sandbox) getenv(name string) string { return s.env[name] }

func (s *sandbox) write(path, text string, mode os.FileMode) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		s.t.Fatal(err)
	}
}

func (s *sandbox) global(text string) { s.write(filepath.Join(s.agent, "config.toml"), text, 0o600) }
func (s *sandbox) project(text string) {
	s.write(filepath.Join(s.p, ".pi", "config.toml"), text, 0o644)
}

func (s *sandbox) load() (Config, []string) {
	cfg, problems := Load(s.agent, s.p, s.getenv, nil)
	lines := []string{}
	for _, p := range problems {
		text := strings.ReplaceAll(p.String(), filepath.Join(s.agent, "config.toml"), "G")
		lines = append(lines, strings.ReplaceAll(text, filepath.Join(s.p, ".pi", "config.toml"), "P"))
	}
	return cfg, lines
}

func withoutOrigins(c Config) Config {
	c.Origins = nil
	return c
}

func TestNoFilesMeanTheDefaults(t *testing.T) {
	cfg, problems := newSandbox(t).load()
	if len(problems) != 0 || !reflect.DeepEqual(cfg, Default()) {
		t.Errorf("got %+v, problems %q", cfg, problems)
	}
}

func TestProblemsNameLineKeyAndWayOut(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"typing mistake", "\n\nmodle = 'x'\n", `G:3: unknown key "modle", did you mean "model"?`},
		{"other case and joints", "hookTimeout = 1\n", `G:1: unknown key "hookTimeout", did you mean "hook_timeout"?`},
		{"inside a table", "[retry]\n\nbase_dealy = '1s'\n", `G:3: unknown key "retry.base_dealy", did you mean "retry.base_delay"?`},
		{"dotted key", "model = 'x'\nretry.maxx_delay = '1s'\n", `G:2: unknown key "retry.maxx_delay", did you mean "retry.max_delay"?`},
		{"below the wrong table", "[ui]\nmodel = 'x'\n", `G:2: unknown key "ui.model", did you mean "model"? (it stands above the first [table])`},
		{"outside its table", "reserve_tokens = 1\n", `G:1: unknown key "reserve_tokens", did you mean "compaction.reserve_tokens"?`},
		{"key of a provider", "base_url = 'http://x'\n", `G:1: unknown key "base_url", did you mean "providers.NAME.base_url"?`},
		{"nothing near", "\nzebra = 1\n", `G:2: unknown key "zebra"`},
		{"a whole table, once", "[zebra]\na = 1\nb = 2\n[[zebra.c]]\n", `G:1: unknown key "zebra"`},
		{"model of a provider", "[[providers.a.models]]\nid='1'\n[[providers.a.models]]\nid='2'\ncontxt_window = 3\n",
			`G:5: unknown key "providers.a.models[1].contxt_window", did you mean "providers.a.models[1].context_window"?`},
		{"string for integer", "max_turns = 'x'\n", `G:1: key "max_turns": expected integer, found string`},
		{"float for integer", "max_turns = 1.5\n", `G:1: key "max_turns": expected integer, found float`},
		{"too large", "max_turns = 99999999999\n", `G:1: key "max_turns": number is too large`},
		{"a table without its end", "max_turns = 1\n[retry\nmax_attempts = 2\n", `G:2: syntax error: expected '.' or ']' to end table name, but got '\n' instead`},
		{"not a number", "max_cost = nan\n", `G:1: key "max_cost": expected number, found infinity or NaN`},
		{"integer for string", "\nmodel = 3\n", `G:2: key "model": expected string, found integer`},
		{"string for boolean", "[ui]\nplain = 'yes'\n", `G:2: key "ui.plain": expected boolean, found string`},
		{"value for table", "compaction = true\n", `G:1: key "compaction": expected table, found boolean`},
		{"table for list", "[models]\n", `G:1: key "models": expected list of strings, found table`},
		{"date for string", "model = 2020-01-01\n", `G:1: key "model": expected string, found date or time`},
		{"element of a list", "models = [\n 'a',\n 3,\n]\n", `G:3: key "models[1]": expected string, found integer`},
		{"empty path", "hooks = ['']\n", `G:1: key "hooks[0]": an empty string names nothing`},
		{"word", "steering = 'al'\n", `G:1: key "steering": "al" is none of one-at-a-time, all; did you mean "all"?; "one-at-a-time" stays in force`},
		{"level", "thinking = 'HIGH'\n", `G:1: key "thinking": "HIGH" is none of off, minimal, low, medium, high, xhigh, max; did you mean "high"?; "medium" stays in force`},
		{"duration without unit", "[retry]\nbase_delay = '2'\n", `G:2: key "retry.base_delay": expected duration such as "500ms", "2s" or "1m30s", found string that is none; "2s" stays in force`},
		{"negative duration", "[retry]\nbase_delay = '-2s'\n", `G:2: key "retry.base_delay": must be at least 0, found "-2s"; "2s" stays in force`},
		{"hook_timeout zero", "hook_timeout = 0\n", `G:1: key "hook_timeout": must be at least 1, found 0; 30000 stays in force`},
		{"hook_timeout negative", "hook_timeout = -5\n", `G:1: key "hook_timeout": must be at least 1, found -5; 30000 stays in force`},
		{"hook_timeout text", "hook_timeout = '30s'\n", `G:1: key "hook_timeout": expected integer, found string; 30000 stays in force`},
		{"api", "[providers.a]\napi = 'openai-completion'\n",
			`G:2: key "providers.a.api": "openai-completion" is none of anthropic-messages, openai-completions, openai-responses, google-generative-ai; did you mean "openai-completions"?`},
		{"a price that does not follow", "[[providers.a.models]]\nid = 'm'\ncost = { input = 1, above = [ { tokens = 5, input = 2 }, { tokens = 5 } ] }\n", `G:3: "providers.a.models[0].cost.above[1]": tokens has to be more than 5; steps go from the shortest prompt to the longest`},
		{"a price above nothing", "[[providers.a.models]]\nid = 'm'\ncost = { above = [ { input = 2 } ] }\n", `G:3: "providers.a.models[0].cost.above[0]": tokens has to be more than 0; steps go from the shortest prompt to the longest`},
		{"a price that is no list", "[[providers.a.models]]\nid = 'm'\ncost = { above = 5 }\n", `G:3: key "providers.a.models[0].cost.above": expected list of tables, found integer`},
		{"address", "[providers.a]\nbase_url = 'localhost:80'\n", `G:2: key "providers.a.base_url": expected an address such as "http://localhost:8080/v1"`},
		{"input", "[[providers.a.models]]\nid = 'm'\ninput = ['text', 'images']\n", `G:3: key "providers.a.models[0].input[1]": "images" is none of text, image; did you mean "image"?`},
		{"model without id", "[[providers.a.models]]\nname = 'm'\n", `G:1: "providers.a.models[0]" has no id`},
		{"models inline", "[providers.a]\nmodels = [\n {id='x'},\n {name='y'} ]\n", `G:4: "providers.a.models[1]" has no id`},
		{"header", "[providers.a.headers]\nx = 1\n", `G:2: key "providers.a.headers.x": expected string, found integer`},
		{"provider that is no table", "providers.a = 1\n", `G:1: key "providers.a": expected table, found integer`},
		{"binding", "[keys]\nquit = 3\n", `G:2: key "keys.quit": expected list of strings, found integer`},
		{"empty binding", "[keys]\nquit = ''\n", `G:2: key "keys.quit": an empty string names nothing`},
		{"empty binding in a list", "[keys]\nquit = [\n'']\n", `G:3: key "keys.quit[0]": an empty string names nothing`},
		{"name of a variable as key", "[providers.a]\napi_key = '$MY_KEY'\n",
			`G:2: key "providers.a.api_key" looks like the name of a variable, but is sent as it stands; "env:NAME" reads a variable`},
		{"after strings of many lines", "model = \"\"\"\na = 1\n# x\"\"\"\nmax_turns = ''\n", `G:4: key "max_turns": expected integer, found string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			s.global(tt.text)
			if _, got := s.load(); len(got) != 1 || got[0] != tt.want {
				t.Errorf("problems\n  %s\nwant\n  %s", strings.Join(got, "\n  "), tt.want)
			}
		})
	}
}

func TestABadValueLosesOnlyItself(t *testing.T) {
	s := newSandbox(t)
	s.global(`model = "a/b"
max_turns = "many"
nonsense = 1
models = ["a", 3, "c"]
[retry]
max_attempts = -1
max_delay = "5s"
[providers.x]
api = "nope"
api_key = "env:X"
[[providers.x.models]]
name = "no id"
[[providers.x.models]]
id = "m"
reasoning = "yes"
max_tokens = 7
cost = { input = 1, output = "x", cache_read = 0.5 }
`)
	cfg, problems := s.load()
	if len(problems) != 8 {
		t.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
	}
	read, one := 0.5, 1.0
	want := Default()
	want.Model, want.Models, want.Retry.MaxDelay = "a/b", []string{"a", "c"}, 5*time.Second
	want.Providers["x"] = Provider{APIKey: "env:X", Models: []Model{{
		ID: "m", MaxTokens: 7, Cost: &Cost{Input: &one, CacheRead: &read},
	}}}
	if got := withoutOrigins(cfg); !reflect.DeepEqual(got, withoutOrigins(want)) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestHookTimeoutIsAWarning(t *testing.T) {
	s := newSandbox(t)
	s.global("hook_timeout = nan\nmax_turns = nan\n")
	cfg, problems := Load(s.agent, s.p, s.getenv, nil)
	if cfg.HookTimeout != 30000 || len(problems) != 2 || !problems[0].Warning || problems[1].Warning {
		t.Errorf("hook_timeout %d, problems %+v", cfg.HookTimeout, problems)
	}
}

func TestASyntaxErrorNamesTheLineAndTheFileCountsForNothing(t *testing.T) {
	s := newSandbox(t)
	s.global("model = 'a/b'\n\nthinking = \n")
	s.project("thinking = 'low'\n")
	cfg, problems := s.load()
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "G:3: syntax error: ") {
		t.Errorf("problems %q", problems)
	}
	if cfg.Model != "" || cfg.Thinking != "low" {
		t.Errorf("model %q thinking %q", cfg.Model, cfg.Thinking)
	}
}

func TestProblemsRepeatNoSecret(t *testing.T) {
	const secret = "12ab77secret"
	for _, text := range []string{
		"[providers.a]\napi_key = " + secret + "\n",
		"[providers.a]\napi_key = '" + secret + "\n",
		"[providers.a]\napi_key = ['" + secret + "']\n",
		"[providers.a]\napi_key = '" + secret + "'\napi_key = '" + secret + "'\n",
		"[providers.a.headers]\nAuthorization = " + secret + "\n",
		"[providers.a]\nheaders = { Authorization = " + secret + " }\n",
		"[providers.a]\nbase_url = 'user:" + secret + "@host'\n",
	} {
		s := newSandbox(t)
		s.global(text)
		_, problems := s.load()
		if len(problems) == 0 || strings.Contains(strings.Join(problems, ""), "12") {
			t.Errorf("%q: problems %q", text, problems)
		}
	}
}

func TestAProjectSetsOnlyWhatIsSafe(t *testing.T) {
	s := newSandbox(t)
	s.global("model = 'mine/m'\nhooks = ['mine.lua']\ndisable = ['old']\nmax_turns = 4\n[compaction]\nreserve_tokens = 5\n")
	s.project(`model = "theirs/m"
hooks = ["hooks/a.lua", "../b.lua", "../../c.lua", "~/d.lua", "/e.lua"]
disable = ["gate", "./hooks/x.lua"]
max_turns = 100
hook_edit = "ask"
[compaction]
keep_recent_tokens = 6
[ui]
plain = true
[tools]
confine = false
[providers.a]
base_url = "http://elsewhere"
[keys]
quit = "q"
`)
	cfg, problems := s.load()
	const only = " is ignored: a project may set only model, thinking, models, compaction, ui, hooks, disable, hook"
	want := []string{
		`P:2: key "hooks[2]": "../../c.lua" lies outside the project and is ignored`,
		`P:2: key "hooks[3]": "~/d.lua" lies outside the project and is ignored`,
		`P:2: key "hooks[4]": "/e.lua" lies outside the project and is ignored`,
		`P:4: key "max_turns"` + only,
		`P:5: unknown key "hook_edit", did you mean "hook_edits"?`,
		`P:10: key "tools"` + only,
		`P:12: key "providers"` + only,
		`P:14: key "keys"` + only,
	}
	if runtime.GOOS == "windows" {
		want = slices.Delete(want, 2, 3) // rooted, not absolute there
		problems = slices.DeleteFunc(problems, func(p string) bool { return strings.Contains(p, "e.lua") })
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	expect := Default()
	expect.Model, expect.MaxTurns, expect.UI.Plain = "theirs/m", 4, true
	expect.Compaction = Compaction{Enabled: true, ReserveTokens: 5, KeepRecentTokens: 6}
	expect.Hooks, expect.Disable = []string{filepath.Join(s.agent, "mine.lua")}, []string{"old"}
	expect.ProjectHooks = []string{filepath.Join(s.p, ".pi", "hooks", "a.lua"), filepath.Join(s.p, "b.lua")}
	expect.ProjectDisable = []string{"gate", filepath.Join(s.p, ".pi", "hooks", "x.lua")}
	if got := withoutOrigins(cfg); runtime.GOOS != "windows" && !reflect.DeepEqual(got, withoutOrigins(expect)) {
		t.Errorf("got  %+v\nwant %+v", got, expect)
	}
	for path, want := range map[string]string{
		"model": "config.toml:1", "project hooks": "config.toml:2", "hooks": "config.toml:2",
		"compaction.reserve_tokens": "config.toml:6", "compaction.keep_recent_tokens": "config.toml:7",
	} {
		if got := cfg.Origins.Of(path); filepath.Base(got) != want {
			t.Errorf("origin of %s: %s, want …/%s", path, got, want)
		}
	}
	if got := cfg.Origins.Of("thinking"); got != "default" {
		t.Errorf("origin of thinking: %s", got)
	}
}

func TestAProjectHookBehindASymlinkStaysInside(t *testing.T) {
	s := newSandbox(t)
	s.write(filepath.Join(s.home, "secret.lua"), "", 0o600)
	s.project("hooks = ['link.lua']\n")
	if err := os.Symlink(filepath.Join(s.home, "secret.lua"), filepath.Join(s.p, ".pi", "link.lua")); err != nil {
		t.Skip("no symlinks here:", err)
	}
	if cfg, problems := s.load(); len(cfg.ProjectHooks) != 0 || len(problems) != 1 {
		t.Errorf("hooks %q, problems %q", cfg.ProjectHooks, problems)
	}
}

func TestAnAgentDirectoryInsideTheProjectIsTheGlobalOne(t *testing.T) {
	s := newSandbox(t)
	s.agent = filepath.Join(s.p, ".pi")
	s.global("max_turns = 3\n")
	if cfg, problems := s.load(); cfg.MaxTurns != 3 || len(problems) != 0 {
		t.Errorf("max_turns %d, problems %q", cfg.MaxTurns, problems)
	}
}

func TestWhatIsNoPlainFileIsNotRead(t *testing.T) {
	s := newSandbox(t)
	if err := os.MkdirAll(filepath.Join(s.agent, "config.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.project("#" + strings.Repeat("x", maxSize))
	_, problems := s.load()
	want := []string{"G: read settings: not a regular file", "P: read settings: 262145 bytes are too many, at most 262144 are read; the file is left out"}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q", problems)
	}
}

func TestAKeyInPlainTextWantsAPrivateFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are no mode bits")
	}
	tests := []struct {
		line string
		mode os.FileMode
		want int
	}{
		{"api_key = 'sk-x'", 0o600, 0}, {"api_key = 'sk-x'", 0o400, 0}, {"api_key = 'sk-x'", 0o644, 1}, {"api_key = 'sk-x'", 0o640, 1},
		{"api_key = 'env:X'", 0o644, 0}, {"api_key = '!pass x'", 0o644, 0}, {"api_key = ''", 0o644, 0},
		{"headers = {Authorization = 'Bearer sk-x'}", 0o644, 1}, {"headers = {Authorization = 'Bearer sk-x'}", 0o600, 0},
		{"headers = {X-Team = 'tools'}", 0o644, 0},
		{"base_url = 'http://h/v1?key=sk-x'", 0o644, 1}, {"base_url = 'http://h/v1?v=x'", 0o644, 0},
	}
	for _, tt := range tests {
		s := newSandbox(t)
		s.write(filepath.Join(s.agent, "config.toml"), "\n[providers.a]\n"+tt.line+"\n", tt.mode)
		_, problems := Load(s.agent, s.p, s.getenv, nil)
		if len(problems) != tt.want {
			t.Errorf("%q with mode %o: problems %v", tt.line, tt.mode, problems)
		}
		for _, p := range problems {
			if !p.Warning || p.Line != 3 || strings.Contains(p.Text, "sk-x") || !strings.Contains(p.Text, "chmod 600") {
				t.Errorf("%q with mode %o: %+v", tt.line, tt.mode, p)
			}
		}
	}
}

func TestPathsAreRelativeToTheirFile(t *testing.T) {
	s := newSandbox(t)
	s.global("hooks = ['a.lua', '~/b.lua', 'sub/../c.lua']\n[session]\ndir = 's'\n[tools]\nshell = 'zsh'\n")
	cfg, problems := s.load()
	want := []string{filepath.Join(s.agent, "a.lua"), filepath.Join(s.home, "b.lua"), filepath.Join(s.agent, "c.lua")}
	if len(problems) != 0 || !slices.Equal(cfg.Hooks, want) || cfg.Session.Dir != filepath.Join(s.agent, "s") || cfg.Tools.Shell != "zsh" {
		t.Errorf("hooks %q dir %q shell %q problems %q", cfg.Hooks, cfg.Session.Dir, cfg.Tools.Shell, problems)
	}
}

func TestTheEnvironmentComesAfterTheFiles(t *testing.T) {
	s := newSandbox(t)
	s.global("[session]\ndir = 's'\n")
	s.env["PI_CODING_AGENT_SESSION_DIR"] = "~/elsewhere"
	cfg, _ := s.load()
	if want := filepath.Join(s.home, "elsewhere"); cfg.Session.Dir != want {
		t.Errorf("dir %q, want %q", cfg.Session.Dir, want)
	}
	if got := cfg.Origins.Of("session.dir"); got != "environment PI_CODING_AGENT_SESSION_DIR" {
		t.Errorf("origin %q", got)
	}
}

func TestAgentDir(t *testing.T) {
	home := t.TempDir()
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"home", map[string]string{"HOME": home}, filepath.Join(home, ".pi", "agent")},
		{"variable", map[string]string{"HOME": home, "PI_CODING_AGENT_DIR": filepath.Join(home, "x")}, filepath.Join(home, "x")},
		{"variable with ~", map[string]string{"HOME": home, "PI_CODING_AGENT_DIR": "~/x"}, filepath.Join(home, "x")},
		{"nothing", map[string]string{"LOCALAPPDATA": home}, ""},
	}
	for _, tt := range tests {
		got, err := AgentDir(func(name string) string { return tt.env[name] })
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}
