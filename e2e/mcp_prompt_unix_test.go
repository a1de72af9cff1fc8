//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/acptest"
)

// program is the path of one of the programs of TestMain, for programs of a world.
func (w *world) program(name string) string {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.home, name) // the name says what it is
	if err := os.Symlink(self, path); err != nil && !os.IsExist(err) {
		w.t.Fatal(err)
	}
	return path
}

// servers writes the mcp.json of the user with a server t of a kind.
func (w *world) servers(kind string) {
	w.t.Helper()
	w.write(w.agentFile("mcp.json"), fmt.Sprintf(`{"mcpServers": {"t": {"command": %q, "args": [%q]}}}`, w.program("mcp-server"), kind))
}

func TestThePromptsOfServersAreCommandsOfAnEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.model("text one")
	w.servers("prompts")
	e := w.editor(object{})
	id := e.New(w.project)
	const listed = `"name":"mcp:t:review_code"`
	if e.Prompt(id, "/mcp:t:greet Bob"); !strings.Contains(e.Texts(id, "agent_message_chunk"), "one") {
		t.Errorf("%q", e.Texts(id, "agent_message_chunk"))
	}
	e.Wait("the command", func(l acptest.Line) bool { return strings.Contains(string(l.Raw), listed) })
	if got := e.Prompt(id, "/mcp:t:review_code"); !strings.Contains(got, "language is missing; usage: /mcp:t:review_code language=… [style=…]") {
		t.Errorf("%q", got)
	}
	if got := len(server.asked()); got != 1 {
		t.Errorf("%d requests, not 1", got)
	}
	if status := e.end(); status != 0 {
		t.Errorf("status %d: %s", status, e.stderr.String())
	}
}

func TestThePromptsOfServersAreTemplatesOfAClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.model("text one")
	w.servers("prompts")
	c := w.client()
	c.refused("prompt", object{"message": "/mcp:t:gret"}, `server t has no prompt "gret", did you mean "greet"?`)
	n := len(c.sofar())
	c.call("prompt", object{"message": "/mcp:t:greet Bob"}, nil)
	c.event(n, "agent_settled")
	server.asks(t, 1, "Say hello to Bob", true)
	var data struct {
		Commands []struct{ Name, Source string }
	}
	c.call("get_commands", nil, &data)
	if !strings.Contains(fmt.Sprint(data), "{mcp:t:greet prompt}") {
		t.Errorf("%+v", data)
	}
	if status := c.end(); status != 0 {
		t.Errorf("status %d: %s", status, c.stderr.String())
	}
}

func TestThePromptsOfServersAreInTheMenuOnceTheyAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.model("text I have reviewed it.")
	w.servers("prompts")
	s := w.inTerminal()
	s.prompt()
	s.enter("/mcp refresh t")
	s.see(1, "t: 19 tools")
	s.prompt()
	s.keys("/mcp:t:rev")
	s.see(1, "Reviews code")
	s.keys("\t")
	s.stands("/mcp:t:review_code")
	s.keys("\t")
	s.see(1, "what it is written in")
	s.keys("\t")
	s.stands("/mcp:t:review_code language=")
	s.keys("Go\r")
	s.see(1, "I have reviewed it.")
	server.asks(t, 1, "Review this Go, style <>:", true)
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}
