//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile is text that commands a terminal in every way there is: by an escape
// sequence, by a control of one character, by turning the order of reading, and by
// tags, which are the ASCII of a second, invisible text.
const hostile = "x\x1b]0;owned\ay\u009b31mz\u202ea\U000e0041b\u2029\u200dc"

// asTOML is hostile as a settings file writes it.
const asTOML = `x\u001b]0;owned\u0007y\u009b31mz\u202ea\U000e0041b\u2029\u200dc`

// hostileSession is a session that has it wherever a session has text.
func hostileSession(cwd string) string {
	const at = "2026-01-02T03:04:05.000Z"
	message := func(fields map[string]any) map[string]any {
		return map[string]any{"type": "message", "message": fields}
	}
	text := []any{map[string]any{"type": "text", "text": hostile}}
	entries := []map[string]any{
		message(map[string]any{"role": "user", "content": hostile, "timestamp": 1}),
		message(map[string]any{"role": "assistant", "provider": hostile, "model": hostile, "stopReason": "error", "errorMessage": hostile, "timestamp": 1,
			"content": append(text, map[string]any{"type": "thinking", "thinking": hostile},
				map[string]any{"type": "toolCall", "id": "c", "name": "bash", "arguments": map[string]any{"command": hostile}})}),
		message(map[string]any{"role": "toolResult", "toolCallId": "c", "toolName": hostile, "content": text, "timestamp": 1}),
		message(map[string]any{"role": "bashExecution", "command": hostile, "output": hostile, "exitCode": 0, "timestamp": 1}),
		{"type": hostile},
		{"type": "model_change", "provider": hostile, "modelId": hostile},
		{"type": "thinking_level_change", "thinkingLevel": hostile},
		{"type": "session_info", "name": hostile},
		{"type": "label", "targetId": "00000001", "label": hostile},
		{"type": "custom_message", "customType": hostile, "content": hostile, "display": true},
		message(map[string]any{"role": "user", "content": hostile, "timestamp": 1}),
	}
	var lines strings.Builder
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]any{"type": "session", "version": 3, "id": "aaaa", "timestamp": at, "cwd": cwd})
	var parent any
	for i, entry := range entries {
		id := fmt.Sprintf("%08x", i+1)
		entry["id"], entry["parentId"], entry["timestamp"] = id, parent, at
		_ = e.Encode(entry)
		parent = id
	}
	return lines.String() + "damage " + hostile + "\n"
}

// hostileWorld has that text in every place where others write.
func hostileWorld(t *testing.T) *world {
	w := newWorld(t)
	w.project = filepath.Join(w.project, "in "+hostile)
	in := func(names ...string) string { return filepath.Join(append([]string{w.project}, names...)...) }
	w.write(in("a.txt"), hostile+"\n")
	w.write(in(hostile+".txt"), "b\n")
	w.write(in("AGENTS.md"), hostile+"\n")
	w.write(in(".pi", "hooks", hostile+".lua"), "-- "+hostile+"\npi.on('turn_start', function() end)\n")
	w.write(in(".pi", "config.toml"), "\""+asTOML+"\" = 1\n")
	w.write(w.agentFile("config.toml"), strings.ReplaceAll(demoSettings+`"NAME" = 1
thinking = "NAME"
models = ["NAME"]
[providers."NAME"]
base_url = "http://127.0.0.1:1/v1"
api = "openai-completions"
[[providers."NAME".models]]
id = "NAME"
name = "NAME"
`, "NAME", asTOML))
	w.write(w.agentFile("auth.json"), `{"`+hostile+`": 1}`)
	w.write(w.agentFile("hooks/"+hostile+".lua"), fmt.Sprintf(`
local text = %s
pi.on("session_start", function(_, ctx)
  ctx.ui.notify(text)
  ctx.ui.set_status("s", text)
  ctx.ui.set_title(text)
  ctx.ui.set_widget("w", { text })
  error(text)
end)
pi.command("evil", { description = text, handler = function(ctx) ctx.ui.select(text, { text, "b" }) return { status = text } end })
pi.command("broken", { handler = function() error(text) end })
pi.provider("evil", { models = { { id = "m", name = text } }, stream = function() error(text) end })
`, luaString(hostile)))
	w.write(w.agentFile("sessions/kept/aaaa.jsonl"), hostileSession(w.project))
	return w
}

func luaString(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\%03d`, c)
	}
	return `"` + b.String() + `"`
}

// commandsNothing fails the test for what of the output only others can have written.
func (s *screen) commandsNothing(what string) {
	s.t.Helper()
	written := s.output()
	for i, r := range written {
		if r >= 0x80 && r <= 0x9f || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r >= 0xe0000 && r <= 0xe0fff {
			from := max(i-60, 0)
			s.t.Errorf("%s: %U reached the terminal: %q", what, r, written[from:min(i+20, len(written))])
			break
		}
	}
	if !utf8.ValidString(written) {
		s.t.Errorf("%s: bytes that are no text reached the terminal", what)
	}
	s.harmless("\x1b]0;", "\x1b[31m")
}

func TestNothingThatOthersWroteCommandsATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"sessions", "list"}, {"sessions", "list", "--all"}, {"sessions", "list", "--json", "--all"},
		{"sessions", "show", "aaaa"}, {"sessions", "show", "aaaa", "--json"},
		{"sessions", "export", "aaaa"}, {"sessions", "export", "aaaa", "md"}, {"sessions", "export", "aaaa", "-o", hostile + ".md"},
		{"sessions", "rm", "aaaa", "--yes"}, {"sessions", "show", hostile}, {"sessions", "export", "aaaa", hostile},
		{"hooks", "list"}, {"hooks", "check"}, {"hooks", "check", hostile}, {"hooks", "events", hostile}, {"hooks", hostile},
		{"trust", "--list"}, {"trust", "--json"}, {"trust", "--revoke"}, {"trust", hostile},
		{"models"}, {"models", "--json"}, {"models", hostile}, {"config"}, {"config", "--origin"},
		{"-p", "read a.txt"}, {"-p", "read " + hostile + ".txt"}, {"-p", "list"}, {"-p", "run `cat a.txt`"}, {"-p", hostile},
		{"--session", "aaaa", "-p", "list"}, {"--session", "aaaa", "-p", "/tree", "/session", "/context", "/name", "/hooks", "/help"},
		{"-p", "/resume"}, {"-p", "/model"}, {"-p", "/tools"}, {"-p", "/settings"}, {"-p", "/evil"}, {"-p", "/broken"}, {"-p", "/" + hostile},
		{"--model", hostile, "-p", "list"}, {"--model", "evil/m", "-p", "list"}, {"--tools", hostile, "-p", "list"},
		{"--thinking", hostile, "-p", "list"}, {"--hook", hostile + ".lua", "-p", "list"}, {"--resume", hostile, "-p", "list"},
		{"--" + hostile, "-p", "list"}, {"--session-dir", hostile + "/" + strings.Repeat("x", 300), "-p", "list"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			s := hostileWorld(t).inTerminal(args...)
			s.Wait()
			s.commandsNothing(strings.Join(args, " "))
			if strings.Contains(s.output(), "\x1b") {
				t.Errorf("an escape sequence reached the terminal: %q", s.output())
			}
		})
	}
}

// Where a command of the user has no terminal, what it prints is cleaned. Where it has
// one it is at a shell, and may do all that it may there.
func TestNothingThatACommandPrintsCommandsATerminalOfLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "a.txt"), hostile+"\n")
	s := w.inTerminal("--plain")
	for _, line := range []string{"!cat a.txt", "/quit"} {
		s.until("the prompt is open", func() bool { return s.Screen().LastRow() == ">" })
		s.keys(line + "\r")
		s.see(1, line)
	}
	s.Wait()
	s.see(1, "xyz<U+202E>a")
	s.commandsNothing("a command")
}

func TestNothingThatOthersWroteCommandsTheTerminalOfAConversation(t *testing.T) {
	t.Parallel()
	s := hostileWorld(t).inTerminal()
	s.answer("Run them?", "view\r")
	s.See("--- .pi/hooks/")
	s.answer("Run them?", "\r")
	for _, line := range []string{"read a.txt", "list", "/hooks", "/help", "/model", "/broken", "/evil", "/resume aaaa",
		"/session", "/context", "/name", "/tools", "/tree"} {
		s.prompt()
		before := len(s.output())
		s.keys(line + "\r")
		s.until("the line is typed, and its Enter", func() bool { return strings.Contains(s.output()[before:], "\n") })
		switch line {
		case "/model", "/tree", "/evil", "/hooks":
			s.asked(choice)
			s.esc()
		}
	}
	s.enter("/quit")
	s.leave(statusDone)
	s.commandsNothing("a conversation")
}

// At rest a command has the terminal, as in any shell. While the agent works it has not.
func TestNothingThatACommandPrintsWhileTheAgentWorksCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "evil.txt"), hostile+"\n")
	w.mailbox("go")
	s := w.inTerminal()
	s.enter("run `read x < go`")
	s.see(1, "Esc interrupts")
	s.keys("!!cat evil.txt\r")
	s.see(1, "xyz<U+202E>a<U+E0041>b")
	w.line("go")
	s.see(1, "printed nothing")
	s.enter("/quit")
	s.leave(statusDone)
	s.commandsNothing("a command at work")
}
