package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/cli/mcplogin"
	"pi/internal/testing/oauthtest"
)

// pasting is a user with a dialog for what is pasted: it ends with answer, or with its context.
type pasting struct {
	agent.NoUI
	answer *string // nil: the dialog is left open
	left   bool
}

func (*pasting) HasUI() bool { return true }

func (p *pasting) Input(ctx context.Context, _, _ string, _ agent.DialogOptions) (string, bool, error) {
	switch {
	case p.left:
		return "", false, nil
	case p.answer != nil:
		return *p.answer, true, nil
	}
	<-ctx.Done()
	return "", false, ctx.Err()
}

func TestWhoLeavesTheDialogOfASignInGivesItUp(t *testing.T) {
	text := "https://127.0.0.1/callback?code=x"
	for _, tt := range []struct {
		name    string
		ui      *pasting
		over    bool // the browser came back
		want    string
		givesUp bool
	}{
		{"pasted", &pasting{answer: &text}, false, text, false},
		{"left", &pasting{left: true}, false, "", true},
		{"the browser came back", &pasting{}, true, "", false},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		dialog, end := context.WithCancel(ctx)
		if tt.over {
			end()
		}
		got, err := signsInBy(tt.ui, cancel).Paste(dialog)
		if got != tt.want || (err != nil) != (tt.want == "") || errors.Is(context.Cause(ctx), errGivenUp) != tt.givesUp {
			t.Errorf("%s: %q, %v, then %v", tt.name, got, err, context.Cause(ctx))
		}
		end()
		cancel(nil)
	}
	if signsInBy(agent.NoUI{}, nil).Paste != nil {
		t.Error("nobody is asked to paste")
	}
}

func TestAServerThatNoSignInIsEnoughForIsGivenUp(t *testing.T) {
	const lets = 1000
	for _, tt := range []struct {
		after int // so many sign-ins it lets its user in
		want  string
	}{
		{1, ""}, {3, ""},
		{lets, "you have signed in 3 times, and it is not enough: server docs: it wants you to sign in: pi mcp login docs"},
	} {
		var s *oauthtest.Server
		s = oauthtest.New(oauthtest.Behaviour{Instead: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/mcp" || s.Count("POST /token") >= tt.after {
				return false
			}
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=\"http://%s/.well-known/oauth-protected-resource/mcp\"", r.Host))
			http.Error(w, "sign in", http.StatusUnauthorized)
			return true
		}})
		requests := &http.Transport{}
		logins := mcplogin.New(mcplogin.Options{AgentDir: t.TempDir(), HTTP: requests})
		servers := mcp.Open(mcp.Options{Entries: []mcp.Entry{{Name: "docs", URL: s.MCP()}}, Cwd: t.TempDir(), HTTP: requests, Authorize: logins.Handler})
		user := oauth.User{Tell: func(string) {}, Open: func(_ context.Context, address string) error {
			answer, err := http.Get(address)
			if err == nil {
				answer.Body.Close()
			}
			return err
		}}
		state, err := SignInTo(t.Context(), servers, logins, "docs", user)
		if got := fmt.Sprint(err); err == nil && (tt.want != "" || !strings.HasPrefix(state, "signed in")) || err != nil && got != tt.want {
			t.Errorf("after %d: %q, %s", tt.after, state, got)
		}
		servers.Close()
		requests.CloseIdleConnections()
		s.Close()
	}
}
