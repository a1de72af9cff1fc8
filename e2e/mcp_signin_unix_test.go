//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/internal/testing/oauthtest"
)

// guarded gives a world a server docs that wants a sign-in, and a browser that signs in.
func (w *world) guarded(b oauthtest.Behaviour) *oauthtest.Server {
	s := oauthtest.New(b)
	w.t.Cleanup(s.Close)
	w.write(w.agentFile("mcp.json"), fmt.Sprintf(`{"mcpServers": {"docs": {"url": %q}}}`, s.MCP()))
	w.env = append(w.env, "BROWSER="+w.program("browse"))
	return s
}

const wantsMore = "The MCP server docs wants more than you are signed in for."

func TestWhoIsSignedInForTooLittleIsAskedInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.guarded(oauthtest.Behaviour{})
	w.pi("mcp", "login", "docs")
	s := w.inTerminal()
	const call = `call mcp {"call": "docs/deep"}`
	s.enter(call)
	s.answer(wantsMore, "n")
	s.see(1, "what you are signed in for is not enough, this needs deep: /mcp login docs")
	s.prompt()
	before := server.Count("POST /token")

	s.enter(call)
	s.see(1, "It wants: deep")
	s.answer(wantsMore, "y")
	s.see(1, "you have deep")
	s.prompt()
	s.enter(`call mcp {"call": "docs/whoami"}`)
	s.see(2, "you have deep")
	s.prompt()
	if got := server.Count("POST /token") - before; got != 1 {
		t.Errorf("%d tokens were asked for, not 1", got)
	}
	s.enter("/quit")
	s.leave(statusDone)
}

// expires makes the login to docs one that is to be renewed.
func (w *world) expires() {
	w.t.Helper()
	path := w.agentFile("mcp-auth.json")
	all := map[string]map[string]any{}
	if err := json.Unmarshal([]byte(mustRead(w.t, path)), &all); err != nil || len(all) != 1 {
		w.t.Fatalf("%d logins: %v", len(all), err)
	}
	for _, login := range all {
		login["expires"] = 1
	}
	text, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(path, string(text))
}

// heldRenewals holds the requests for tokens of a server: held tells of each, which goes on with
// release, or with drop never came.
type heldRenewals struct {
	held          chan struct{}
	release, drop chan struct{}
}

func hold(s *oauthtest.Server) heldRenewals {
	h := heldRenewals{make(chan struct{}, 9), make(chan struct{}), make(chan struct{})}
	s.Change(func(b *oauthtest.Behaviour) {
		b.Instead = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			h.held <- struct{}{}
			select {
			case <-h.release:
				return false
			case <-h.drop:
				return true
			}
		}
	})
	return h
}

func (h heldRenewals) wait(t *testing.T) {
	t.Helper()
	select {
	case <-h.held:
	case <-time.After(patience):
		t.Fatal("no token was asked for")
	}
}

func TestOfTwoProgramsOneRenewsALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.guarded(oauthtest.Behaviour{Rotates: true})
	w.pi("mcp", "login", "docs")
	server.Forget(false) // what is there is not let in any more
	w.expires()
	w.write(w.agentFile("hooks/here.lua"), `pi.on("session_start", function() assert(pi.exec("sh", { "-c", "echo here >> started" })) end)`)
	started := w.mailbox("started")
	before := server.Count("POST /token")
	renewals := hold(server)
	one := w.background("mcp", "call", "docs", "whoami")
	started()
	renewals.wait(t)
	two := w.background("mcp", "call", "docs", "whoami")
	started() // its next step is to want a token
	close(renewals.release)
	for _, r := range []*running{one, two} {
		if err := r.cmd.Wait(); err != nil || !strings.Contains(r.output.String(), "you have") {
			t.Errorf("%v: %s", err, r.output.String())
		}
	}
	if got := server.Count("POST /token") - before; got != 1 {
		t.Errorf("%d renewals, not 1", got)
	}
}

func TestAProgramThatIsKilledWhileItRenewsLosesNoLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.guarded(oauthtest.Behaviour{Rotates: true})
	w.pi("mcp", "login", "docs")
	server.Forget(false)
	w.expires()
	path := w.agentFile("mcp-auth.json")
	before := mustRead(t, path)
	renewals := hold(server)
	r := w.background("mcp", "call", "docs", "whoami")
	renewals.wait(t)
	r.end(syscall.SIGKILL)
	close(renewals.drop) // the server has not heard of it
	if got := mustRead(t, path); got != before {
		t.Error("the logins are others than before")
	}
	server.Change(func(b *oauthtest.Behaviour) { b.Instead = nil })
	if got := w.pi("mcp", "call", "docs", "whoami"); !strings.Contains(got, "you have") {
		t.Errorf("%q", got)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, ".new-") || strings.Contains(name, "mcp-auth") && name != "mcp-auth.json" {
			t.Errorf("%s is left", name)
		}
	}
}

// A kill may come at any moment behind the answer, in the middle of writing it down too.
func TestAProgramThatIsKilledBehindARenewalLeavesALoginThatWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.guarded(oauthtest.Behaviour{})
	w.pi("mcp", "login", "docs")
	for range 6 {
		server.Forget(false)
		w.expires()
		renewals := hold(server)
		r := w.background("mcp", "call", "docs", "whoami")
		renewals.wait(t)
		close(renewals.release)
		r.end(syscall.SIGKILL)
		server.Change(func(b *oauthtest.Behaviour) { b.Instead = nil })
		if got := w.pi("mcp", "call", "docs", "whoami"); !strings.Contains(got, "you have") {
			t.Fatalf("%q", got)
		}
	}
}
