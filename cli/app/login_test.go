package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
)

// typing is a user who types one key, and says no to every question.
type typing struct {
	agent.NoUI
	key    string
	secret bool // the key was asked for as a secret
}

func (*typing) HasUI() bool { return true }

func (f *typing) Select(_ context.Context, _ string, choices []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	for _, c := range choices {
		if strings.HasPrefix(c.Value, "local ") {
			return []string{c.Value}, true, nil
		}
	}
	return nil, false, nil
}

func (f *typing) Input(_ context.Context, _, _ string, o agent.DialogOptions) (string, bool, error) {
	f.secret = o.Secret
	return f.key, true, nil
}

// stays is a run that goes on with the model that it has.
func stays(context.Context, string) string { return "" }

func TestAKeyThatAServerTakesIsKept(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-good" {
			http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	}))
	defer server.Close()
	p := place(t, Options{}, nil)
	settings := "[providers.local]\nbase_url = \"" + server.URL + "/v1\"\napi = \"openai-completions\"\n[[providers.local.models]]\nid = \"m\"\n"
	if err := os.WriteFile(filepath.Join(p.AgentDir, "config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	p.readSettings()
	kept := func() string {
		data, _ := os.ReadFile(filepath.Join(p.AgentDir, "auth.json"))
		return string(data)
	}
	user := &typing{key: "sk-bad"}
	login := p.loginCommand(user, nil, stays)
	for _, tt := range []struct{ key, args, says, file string }{
		{"sk-bad", "", "the key was not kept", ""},
		{"sk-good", "", "the key of local works and is kept in", `"key": "sk-good"`},
		{"sk-bad", "local", "the key was not kept", `"key": "sk-good"`},
	} {
		user.key, user.secret = tt.key, false
		outcome, err := login.Run(t.Context(), tt.args)
		if err != nil || !strings.Contains(outcome.Status, tt.says) || strings.Contains(outcome.Status, "sk-") || !user.secret {
			t.Errorf("%s: %q, %v, secret %v", tt.key, outcome.Status, err, user.secret)
		}
		if file := kept(); !strings.Contains(file, tt.file) || strings.Contains(file, "sk-bad") || tt.file == "" && file != "" {
			t.Errorf("%s: auth.json has %q", tt.key, file)
		}
	}
	if names := login.Complete("loc"); len(names) != 1 || names[0] != "local" {
		t.Errorf("completed to %q", names)
	}
	if _, err := p.loginCommand(agent.NoUI{}, nil, stays).Run(t.Context(), "local"); err == nil || command.HintOf(err) == "" {
		t.Errorf("without a user: %v", err)
	}
}

func TestTheKeysOfAnActionAreCheckedBeforeTheyAreWritten(t *testing.T) {
	p := place(t, Options{}, nil)
	for _, tt := range []struct{ key, value, err string }{
		{"keys.cycle_model", "f6", ""},
		{"keys.cycle_model", "f6, ctrl+x m", ""},
		{"keys.cycle_modell", "f7", "is no action"},
		{"keys.cycle_model", "ctrl+nokey", "keys.cycle_model"},
		{"keys.cycle_model", "enter", "enter is bound to both send and cycle_model"},
	} {
		before, _ := os.ReadFile(p.configFile())
		_, err := p.WriteSetting(tt.key, tt.value)
		after, _ := os.ReadFile(p.configFile())
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || (err == nil) == (string(before) == string(after)) {
			t.Errorf("%s = %s: %v", tt.key, tt.value, err)
		}
	}
}
