//go:build unix

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pi/cli/config"
)

// leakKey is a key with all that is written in another way in an address, in
// base64 or in JSON.
const leakKey = "sk-l3ak+/=&<\"9f8e7d6c5b4a39281706"

// leakForms are the ways in which a key may be written.
func leakForms() map[string]string {
	quoted, _ := json.Marshal(leakKey)
	return map[string]string{
		"as it is": leakKey, "as JSON": strings.Trim(string(quoted), `"`), "without its end": leakKey[:len(leakKey)-4], "without its beginning": leakKey[4:],
		"in a query": url.QueryEscape(leakKey), "in a path": url.PathEscape(leakKey),
		"in base64": base64.StdEncoding.EncodeToString([]byte(leakKey)), "in base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte(leakKey)),
	}
}

// leaks looks for the key in a text.
func leaks(t testing.TB, where, text string) {
	t.Helper()
	for form, needle := range leakForms() {
		if i := strings.Index(text, needle); i >= 0 {
			t.Errorf("the key stands %s in %s: …%s", form, where, text[max(0, i-200):min(len(text), i+len(needle)+50)])
			return
		}
	}
}

// keyFrom is a place that a key comes from.
type keyFrom struct {
	name     string
	args     func() []string
	setting  func(w *world) string // the line of the provider's settings
	env      []string
	prepare  func(w *world)
	exported bool // so that commands may see it
}

func keysFrom() []keyFrom {
	none := func(*world) string { return "" }
	tomlKey := strings.ReplaceAll(strings.ReplaceAll(leakKey, `\`, `\\`), `"`, `\"`)
	auth := func(entry map[string]any) func(w *world) {
		return func(w *world) {
			b, _ := json.Marshal(map[string]any{"local": entry})
			w.write(w.agentFile("auth.json"), string(b))
		}
	}
	return []keyFrom{
		{name: "the command line", setting: none, args: func() []string { return []string{"--api-key", leakKey} }},
		{name: "a variable", setting: func(*world) string { return `api_key = "env:LEAK_KEY"` }, env: []string{"LEAK_KEY=" + leakKey}, exported: true},
		{name: "the settings", setting: func(*world) string { return `api_key = "` + tomlKey + `"` }},
		{name: "a command", setting: func(w *world) string { return `api_key = "!cat ` + w.keyFile() + `"` }, prepare: func(w *world) { w.write(w.keyFile(), leakKey+"\n") }},
		{name: "auth.json", setting: none, prepare: auth(map[string]any{"type": "api_key", "key": leakKey})},
		{name: "a hook", setting: none, prepare: func(w *world) {
			w.write(w.agentFile("hooks/key.lua"), "pi.provider(\"local\", { api_key = [==["+leakKey+"]==] })\n")
		}},
		{name: "a login", setting: none, prepare: auth(map[string]any{"type": "oauth", "access": leakKey, "refresh": leakKey + "r", "expires": 4e12})},
	}
}

// keyFile returns the file outside of HOME and of the project that a command prints; it
// belongs to this world alone.
func (w *world) keyFile() string {
	if w.vault == "" {
		w.vault = shortTempDir(w.t)
	}
	return filepath.Join(w.vault, "key")
}

// telltale is a server that repeats the key it is given wherever it can, and
// else answers as s does.
func telltale(s *modelServer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", "you said "+leakKey)
		w.Header().Set("X-Request-Id", base64.StdEncoding.EncodeToString([]byte(leakKey)))
		s.ServeHTTP(w, r)
	})
}

// refusal is an error body with the key in all its forms.
func refusal() string {
	said := "Incorrect API key provided:"
	for _, form := range leakForms() {
		said += " " + form
	}
	b, _ := json.Marshal(map[string]any{"error": map[string]string{"message": said, "type": "invalid " + leakKey, "code": leakKey}})
	return "status 401 " + string(b)
}

// spyHook writes down all that it is shown.
const spyHook = `
local json = require "pi.json"
for _, name in ipairs { "before_provider_request", "before_provider_headers", "after_provider_response", "message_end", "agent_end", "turn_end", "tool_result" } do
  pi.on(name, function(event)
    pi.log(name .. " " .. json.encode(event))
  end)
end
`

// leakWorld is a world whose provider "local" is a telltale with the key of from.
func leakWorld(t *testing.T, from keyFrom, api, script string) *world {
	t.Helper()
	w := newWorld(t)
	w.env = append([]string{"TMPDIR=" + filepath.Join(w.home, "tmp")}, from.env...)
	if err := os.Mkdir(filepath.Join(w.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newModelServer(api, script, "")
	t.Cleanup(s.http.Close)
	front := httptest.NewServer(telltale(s))
	t.Cleanup(front.Close)
	base := strings.Replace(s.baseURL(), s.http.URL, front.URL, 1)
	w.write(w.agentFile("config.toml"), fmt.Sprintf("model = \"local/small\"\n[retry]\nmax_attempts = 0\n[providers.local]\nbase_url = %q\napi = %q\n%s\n[[providers.local.models]]\nid = \"small\"\n",
		base, api, from.setting(w)))
	w.write(w.agentFile("hooks/spy.lua"), spyHook)
	if from.prepare != nil {
		from.prepare(w)
	}
	return w
}

// noLeak searches an output and every file of a world, except those that a
// user put the key into, and the copies of these that the guard keeps: only
// their owner may read them.
func (w *world) noLeak(what, output string) {
	w.t.Helper()
	leaks(w.t, what, output)
	kept := w.agentFile(filepath.Join("trust", "kept"))
	theirs := []string{w.agentFile("auth.json"), w.agentFile("config.toml"), w.agentFile("hooks/key.lua")}
	for _, root := range []string{w.home, w.project} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || slices.Contains(theirs, path) {
				return err
			}
			if filepath.Dir(path) == kept {
				if info, err := d.Info(); err != nil || config.OthersMayRead(info) {
					w.t.Errorf("%s may hold a key, and has mode %v, %v", path, info.Mode(), err)
				}
				return nil
			}
			b, err := os.ReadFile(path)
			leaks(w.t, fmt.Sprintf("%s after %s", path, what), string(b))
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
}

// output runs the program and returns all it says, and checks its status.
func (w *world) output(status int, args ...string) string {
	w.t.Helper()
	cmd := w.released(args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.t.Errorf("pi %q ended with %v, want exit status %d:\n%s", args, err, status, out)
	}
	return string(out)
}

func TestAKeyIsNowhereToBeFound(t *testing.T) {
	for _, api := range slices.Sorted(maps.Keys(apiPaths())) {
		for _, from := range keysFrom() {
			t.Run(api+" with a key of "+from.name, func(t *testing.T) {
				t.Parallel()
				script := strings.Join([]string{refusal(), "text half\ncut", "call bash {\"command\":\"env; set\"}", "text Done."}, "\n---\n")
				w := leakWorld(t, from, api, script)
				args := []string{}
				if from.args != nil {
					args = from.args()
				}
				run := func(status int, more ...string) {
					t.Helper()
					w.noLeak(fmt.Sprintf("pi %q", more), w.output(status, append(args, more...)...))
				}
				run(statusDenied, "-p", "refuse me")
				run(statusProvider, "-p", "cut me off")
				if !from.exported {
					run(statusDone, "-p", "look around")
				}
				for _, event := range []string{"before_provider_headers {", "after_provider_response {", "message_end {", "agent_end {"} {
					if !strings.Contains(w.log(), event) {
						t.Errorf("the hook was shown no %s:\n%s", event, w.log())
					}
				}
			})
		}
	}
}

func TestAKeyIsInNoListingAndNoExport(t *testing.T) {
	for _, from := range keysFrom() {
		t.Run("with a key of "+from.name, func(t *testing.T) {
			t.Parallel()
			w := leakWorld(t, from, "openai-completions", refusal())
			args := []string{}
			if from.args != nil {
				args = from.args()
			}
			w.noLeak("a refusal", w.output(statusDenied, append(args, "-p", "refuse me")...))
			id := strings.TrimSuffix(filepath.Base(w.sessions()[0]), ".jsonl")
			id = id[strings.LastIndexByte(id, '_')+1:]
			for _, listing := range [][]string{
				{"config"}, {"config", "--origin"}, {"models"}, {"models", "--all", "--json"}, {"models", "--json", "small"}, {"hooks", "list"},
				{"sessions", "show", id}, {"sessions", "list", "--json"}, {"sessions", "export", id}, {"sessions", "export", id, "md"},
			} {
				w.noLeak(fmt.Sprintf("pi %q", listing), w.output(statusDone, listing...))
			}
		})
	}
}

func TestAKeyIsNotOnTheScreen(t *testing.T) {
	for _, from := range keysFrom() {
		t.Run("with a key of "+from.name, func(t *testing.T) {
			t.Parallel()
			w := leakWorld(t, from, "anthropic-messages", refusal()+"\n---\ntext Done.")
			args := []string{}
			if from.args != nil {
				args = from.args()
			}
			s := w.inTerminal(args...)
			s.enter("refuse me")
			s.see(1, "401")
			s.enter("again")
			s.see(1, "Done.")
			for _, line := range []string{"/session", "/context", "/model small", "/export all.jsonl", "/hooks"} {
				s.enter(line)
			}
			s.asked("Hooks")
			s.esc()
			s.enter("/quit")
			s.leave(statusDone)
			w.noLeak("a conversation", s.output())
		})
	}
}

// The report of a crash has every goroutine.
func TestAKeyIsNotInTheOutputOfACrash(t *testing.T) {
	for _, from := range keysFrom() {
		t.Run("with a key of "+from.name, func(t *testing.T) {
			t.Parallel()
			w := leakWorld(t, from, "openai-completions", "text thinking about it\nstall")
			args := []string{"-p", "stall"}
			if from.args != nil {
				args = append(from.args(), args...)
			}
			r := w.background(args...)
			waitUntil(t, func() bool { return strings.Contains(w.log(), "after_provider_response") })
			if err := r.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			_ = r.cmd.Wait()
			report := w.crashReport()
			if !strings.Contains(report, "goroutine ") {
				t.Errorf("it did not crash: %s", r.output.String())
			}
			w.noLeak("a crash", r.output.String()+report)
		})
	}
}

func (w *world) crashReport() string {
	w.t.Helper()
	files, err := filepath.Glob(w.agentFile("crashes/*.txt"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("reports of a crash: %q, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) log() string {
	b, _ := os.ReadFile(w.agentFile("hooks.log"))
	return string(b)
}
