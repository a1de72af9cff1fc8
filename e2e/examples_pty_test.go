//go:build unix

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheFileTriggerWakesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "text I see the red tests.\n---\ntext And the green ones.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	trigger := filepath.Join(w.project, "inbox", "trigger.txt")
	w.env = []string{"PI_TRIGGER_FILE=" + trigger}
	s := w.inTerminal("--hook", example(t, "file_trigger.lua"))
	s.prompt()
	w.write(trigger, "3 tests are red\n")
	s.see(1, "I see the red tests.")
	s.prompt()
	s.enter("/new")
	s.see(1, "new session ")
	s.prompt()
	w.write(trigger, "all tests are green\n")
	s.see(1, "And the green ones.")
	s.enter("/quit")
	s.leave(statusDone)
	for i, want := range []string{"Another program reports:\n\n3 tests are red", "all tests are green"} {
		if asked := messagesOf(t, m.asked()[i].body); !strings.Contains(asked, strings.ReplaceAll(want, "\n", `\n`)) {
			t.Errorf("request %d has no %q: %s", i+1, want, asked)
		}
	}
	if n := len(m.asked()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	if found, _ := filepath.Glob(trigger); len(found) > 0 {
		t.Error("the file is still there")
	}
}

func TestATriggerThatCannotBeWatchedIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = []string{"PI_TRIGGER_FILE=" + filepath.Join(w.project, "a.txt", "trigger.txt")}
	s := w.inTerminal("--hook", example(t, "file_trigger.lua"))
	s.see(1, "trigger: ")
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestATriggerThatWasThereBeforeTheStartCountsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("trigger.txt"), "read a.txt\n")
	s := w.inTerminal("--hook", example(t, "file_trigger.lua"))
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheWebhookTakesPromptsFromThoseWhoHaveTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = []string{"PI_WEBHOOK_TOKEN=secret-token", "PI_WEBHOOK_PORT=0"}
	s := w.inTerminal("--hook", example(t, "webhook.lua"))
	s.see(1, "webhook: http://127.0.0.1:")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/prompt`).FindString(s.text())
	send := func(method, token, body string) string {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", answer.StatusCode, strings.TrimSpace(string(text)))
	}
	for _, tt := range []struct{ method, token, body, want string }{
		{"POST", "", `{"text":"list"}`, "401 "},
		{"POST", "secret-tokem", `{"text":"list"}`, "401 "},
		{"GET", "secret-token", "", `405 {"error":"use POST"}`},
		{"POST", "secret-token", "read a.txt", "400 "},
		{"POST", "secret-token", `{"text":" "}`, "400 "},
		{"POST", "secret-token", `{"text":["read a.txt"]}`, "400 "},
		{"POST", "secret-token", `{"text":"/quit"}`, `202 {"accepted":true}`},
		{"POST", "secret-token", `{"text":"read a.txt"}`, `202 {"accepted":true}`},
	} {
		if got := send(tt.method, tt.token, tt.body); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s with %q: %s, want %s", tt.method, tt.body, tt.token, got, tt.want)
		}
	}
	s.see(1, "a.txt has 2 lines:")
	s.enter("/new")
	s.see(1, "new session ")
	s.prompt()
	if text := s.text(); strings.Contains(text, "This directory has") || strings.Count(text, "webhook: http") != 1 {
		t.Errorf("a prompt without the token was run, or it listens twice:\n%s", text)
	}
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheWebhookListensToNobodyWithoutAToken(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal("--hook", example(t, "webhook.lua"))
	s.see(1, "not listening, because PI_WEBHOOK_TOKEN is not set")
	s.enter("/quit")
	s.leave(statusDone)
}
