//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/wiretest"
)

// world is a HOME and a project of one test, and the program in them. Until the
// test writes other settings, the model is demo/tour.
type world struct {
	t             testing.TB
	home, project string
	env           []string // beside what every program gets
	written       int      // sessions, by keeps
	narrow        bool     // its terminals have no columns
	vault         string   // the folder of keyFile, once it was asked for
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, home: shortTempDir(t), project: shortTempDir(t)}
	w.write(filepath.Join(w.project, "a.txt"), "alpha\nbeta\n")
	w.write(w.agentFile("config.toml"), demoSettings)
	return w
}

// shortTempDir is t.TempDir without the name of the test, so that paths on a
// screen are rarely cut or broken.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) agentFile(name string) string { return filepath.Join(w.home, ".pi", "agent", name) }

// command is the program with nothing of the environment but what it needs.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(piCommand(w.t), args...)
	cmd.Args[0] = "pi"
	cmd.Dir = w.project
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "LOCAL_KEY=" + testKey, "GORACE=" + endAtOnce}
	if testing.CoverMode() != "" { // or the program warns that it is not set
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+w.t.TempDir())
	}
	cmd.Env = append(cmd.Env, w.env...)
	return cmd
}

// released is command for a run in print mode, of which some tests have a hundred, as
// asReleased says.
func (w *world) released(args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := w.command(args...)
	if raceEnabled {
		pi, err := binary.build()
		if err != nil {
			w.t.Fatal(err)
		}
		cmd.Path = pi
	}
	return cmd
}

// pi runs the program to its end and returns its answer.
func (w *world) pi(args ...string) string {
	w.t.Helper()
	answer, _ := w.piTells(args...)
	return answer
}

// piTells is pi with what was told beside the answer.
func (w *world) piTells(args ...string) (answer, notices string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := w.released(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("pi %q: %v\n%s", args, err, stderr.String())
	}
	if strings.Contains(stdout.String()+stderr.String(), testKey) {
		w.t.Errorf("the key is in the output of pi %q:\n%s%s", args, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// conversation is two prompts in two processes: three tool calls, then words.
const conversation = `text I look at it.
call read {"path":"a.txt"}
call write {"path":"b.txt","content":"gamma\n"}
---
call bash {"command":"cat b.txt; exit 4"}
---
text Both files are there.
---
text You are welcome.`

func apiCases() map[string]struct{ same []string } {
	return map[string]struct{ same []string }{
		"openai-completions":   {[]string{"model", "tools"}},
		"anthropic-messages":   {[]string{"model", "tools", "system"}},
		"openai-responses":     {[]string{"model", "tools", "prompt_cache_key"}},
		"google-generative-ai": {[]string{"systemInstruction", "tools"}},
	}
}

func TestEachRequestExtendsTheOneBefore(t *testing.T) {
	for api, c := range apiCases() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := converse(t, w, api)
			asked := s.asked()
			if len(asked) != 4 {
				t.Fatalf("the model was asked %d times, want 4", len(asked))
			}
			for i := 1; i < len(asked); i++ {
				wiretest.Extends(t, asked[i-1].body, asked[i].body, c.same...)
			}
		})
	}
}

func converse(t *testing.T, w *world, api string) *modelServer {
	t.Helper()
	s := newModelServer(api, conversation, "")
	t.Cleanup(s.http.Close)
	w.write(w.agentFile("config.toml"), s.settings())
	w.write(filepath.Join(w.project, "AGENTS.md"), "Be brief.\n")
	if got := w.pi("-p", "see to the files"); got != "Both files are there.\n" {
		t.Errorf("the answer is %q", got)
	}
	if got := w.pi("--continue", "-p", "thank you"); got != "You are welcome.\n" {
		t.Errorf("the second answer is %q", got)
	}
	return s
}

func TestToolResultsReachTheModelInTheOrderOfTheCalls(t *testing.T) {
	for api := range apiCases() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			asked := converse(t, w, api).asked()
			if b, err := os.ReadFile(filepath.Join(w.project, "b.txt")); err != nil || string(b) != "gamma\n" {
				t.Errorf("b.txt: %q, %v", b, err)
			}
			for _, c := range []struct {
				request int
				parts   []string
			}{
				{0, []string{"Be brief.", "see to the files"}},
				{1, []string{"I look at it.", `"read"`, `"write"`, `alpha\nbeta\n`, "b.txt"}},
				{2, []string{`"bash"`, `gamma\n`, "4"}},
				{3, []string{"Both files are there.", "thank you"}},
			} {
				inOrder(t, messagesOf(t, asked[c.request].body), c.parts)
			}
		})
	}
}

// messagesOf is the part of a request that holds the conversation, the system
// prompt first.
func messagesOf(t *testing.T, body []byte) string {
	t.Helper()
	var r struct {
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
		Input    json.RawMessage `json:"input"`
		Before   json.RawMessage `json:"systemInstruction"`
		Contents json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return string(r.System) + string(r.Messages) + string(r.Input) + string(r.Before) + string(r.Contents)
}

func inOrder(t *testing.T, text string, parts []string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, found := strings.Cut(rest, p)
		if !found {
			t.Errorf("%q is not where it belongs in %s", p, text)
			return
		}
		rest = after
	}
}

func TestTheKeyGoesToTheServerAndNowhereElse(t *testing.T) {
	headers := map[string]struct{ name, value string }{
		"openai-completions":   {"Authorization", "Bearer " + testKey},
		"anthropic-messages":   {"X-Api-Key", testKey},
		"openai-responses":     {"Authorization", "Bearer " + testKey},
		"google-generative-ai": {"X-Goog-Api-Key", testKey},
	}
	for api, header := range headers {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, r := range converse(t, w, api).asked() {
				if got := r.header.Get(header.name); got != header.value {
					t.Errorf("request %d has %s %q", i, header.name, got)
				}
				if bytes.Contains(r.body, []byte(testKey)) {
					t.Errorf("the key is in the body of request %d", i)
				}
			}
			files := w.sessions()
			if len(files) != 1 {
				t.Fatalf("want one session, have %q", files)
			}
			if b, err := os.ReadFile(files[0]); err != nil || bytes.Contains(b, []byte(testKey)) {
				t.Errorf("the key is in the session, or it cannot be read: %v", err)
			}
		})
	}
}

// sessions are the session files of the world.
func (w *world) sessions() []string {
	w.t.Helper()
	files, err := filepath.Glob(w.agentFile("sessions/*/*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}
