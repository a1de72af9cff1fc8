//go:build unix

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestServersOfAProjectAreAskedAboutInTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write := func(args string) {
		w.write(filepath.Join(w.project, ".mcp.json"), `{"mcpServers": {"theirs": {"command": "no-such-program", "args": ["`+args+`"], "env": {"LEVEL": "${LEVEL:-1}"}}}}`)
	}
	write("server.js")
	w.write(filepath.Join(w.project, "server.js"), "// what it is made of\n")
	s := w.inTerminal()
	s.see(1, "This project brings MCP servers that you have not approved.")
	s.see(1, "theirs  no-such-program server.js")
	s.see(1, "reads LEVEL")
	s.see(1, "of an MCP server")
	s.answer(trustQuestion, "view\r")
	s.see(1, "// what it is made of")
	s.answer(trustQuestion, "\r")
	s.prompt()
	s.see(1, "MCP servers of this project not used, not approved: .mcp.json, server.js")
	s.enter("/quit")
	s.leave(statusDone)

	s = w.inTerminal()
	s.answer(trustQuestion, "always\r")
	s.prompt()
	s.enter("/mcp theirs")
	s.see(1, "theirs · idle · search · project (")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)

	s = w.inTerminal() // as it was approved
	s.prompt()
	if strings.Contains(s.output(), "This project brings") {
		t.Error("what was approved is asked about again")
	}
	s.enter("/quit")
	s.leave(statusDone)

	write("other.js")
	s = w.inTerminal()
	s.see(1, "theirs  no-such-program other.js")
	s.answer(trustQuestion, "never\r")
	s.prompt()
	s.enter("/mcp")
	s.see(1, "there are no MCP servers")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestServersOfAProjectThatComeWhileASessionRunsAreAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write := func(command string) {
		w.write(filepath.Join(w.project, ".mcp.json"), `{"mcpServers": {"theirs": {"command": "`+command+`", "env": {"LEVEL": "${LEVEL:-1}"}}}}`)
	}
	s := w.inTerminal()
	s.prompt()
	write(w.program("mcp-server"))
	s.enter("/mcp refresh")
	s.see(1, "This project brings MCP servers that you have not approved.")
	s.see(1, "reads LEVEL")
	s.answer(trustQuestion, "always\r")
	s.see(1, "theirs: 19 tools")
	s.prompt()
	s.enter("/mcp refresh theirs")
	s.see(2, "theirs: 19 tools")
	s.prompt()

	write("other-program")
	s.enter("/mcp refresh")
	s.see(1, "theirs  other-program")
	s.answer(trustQuestion, "\r")
	s.see(1, "gone: theirs")
	s.see(1, "MCP servers of this project not used, not approved: .mcp.json")
	s.prompt()
	write(w.program("mcp-server")) // as it was approved
	s.enter("/mcp refresh")
	s.see(3, "theirs: 19 tools")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheListOfServersDoesWhatItsWordsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.servers("prompts")
	s := w.inTerminal()
	s.enter("/mcp")
	s.asked("MCP servers · 1")
	s.answer("MCP servers · 1", "\r")
	s.answer("list its tools anew", "refresh\r")
	s.see(1, "t: 19 tools")
	s.answer("MCP servers · 1", "\r")
	s.answer("turn it off in this session", "off\r")
	s.see(1, "t is off in this session")
	s.answer("MCP servers · 1", "\r")
	s.answer("turn it on in this session", "on\r")
	s.see(1, "t is on in this session")
	s.answer("MCP servers · 1", "\r")
	s.answer("show its tools", "tools\r")
	s.see(1, "/mcp:t:greet")
	s.see(1, "Says a text back")
	s.see(1, "2 resources")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

// What a server says is on the screen in lists, dialogs, rows of progress, results and notices.
func TestNothingThatAnMCPServerSaysCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program, err := exec.LookPath("mcp-server")
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.agentFile("mcp.json"), fmt.Sprintf(`{"mcpServers": {"t": {"command": %q, "args": ["commands-terminals"]}}}`, program))
	s := w.inTerminal()
	s.prompt()
	s.enter(`call mcp {"call": "t/ask"}`)
	s.asked("MCP server t: question xyzab")
	s.esc()
	s.see(1, "there was no answer")
	for _, tool := range []string{"say", "refuse", "fail", "die"} {
		s.prompt()
		s.enter(fmt.Sprintf(`call mcp {"call": "t/%s"}`, tool))
	}
	s.see(1, "it ended with status 3")
	s.prompt()
	s.enter("/mcp t")
	s.see(1, "it wrote last:")
	s.prompt()
	s.enter("/mcp")
	s.see(1, "MCP servers · 1")
	s.esc()
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	s.commandsNothing("an MCP server")
}
