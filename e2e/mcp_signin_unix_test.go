//go:build unix

package e2e

import (
	"fmt"
	"testing"

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
