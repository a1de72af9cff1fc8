//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// asksUser gives a world an MCP server that asks, and a model that calls its tools one after the
// other, with an answer in words behind each.
func (w *world) asksUser(tools ...string) *modelServer {
	w.t.Helper()
	program, err := exec.LookPath("mcp-server")
	if err != nil {
		w.t.Fatal(err)
	}
	entry, err := json.Marshal(object{"mcpServers": object{"s": object{"command": program, "args": []string{"few"}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(w.agentFile("mcp.json"), string(entry))
	var answers []string
	for _, tool := range tools {
		answers = append(answers, `call mcp {"call":"s/`+tool+`"}`, "text That was "+tool+".")
	}
	return w.model(strings.Join(answers, "\n---\n"))
}

// resultOf is the text of the last result of a tool in the nth request, from 0.
func (s *modelServer) resultOf(t *testing.T, n int) (text string) {
	t.Helper()
	asked := s.asked()
	if n >= len(asked) {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	var body struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(asked[n].body, &body); err != nil {
		t.Fatal(err)
	}
	for _, m := range body.Messages {
		if is, ok := m.Content.(string); ok && m.Role == "tool" {
			text = is
		}
	}
	return text
}

// browser makes a program that keeps the last page that it was sent to, and returns what reads that.
func (w *world) browser() (opened func() string) {
	w.t.Helper()
	program, page := filepath.Join(w.home, "browser"), filepath.Join(w.home, "page")
	w.write(program, "#!/bin/sh\necho \"$1\" > \""+page+"\"\n")
	if err := os.Chmod(program, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "BROWSER="+program)
	return func() string { return strings.TrimSpace(mustRead(w.t, page)) }
}

const (
	askedForm = "MCP server s: Who are you?"
	noAnswer  = "cancel null\n[the server asked the user: \"Who are you?\" (name, age, colour, sure); there was no answer]"
	noPage    = "cancel null\n[the server asked the user: \"Open it\" (to open https://example.com/open); there was no answer]"
)

func TestServersAskTheClientOfRPC(t *testing.T) {
	t.Parallel()
	type step struct{ asked, answer string } // the title's end, and the fields of the answer
	const form, page = `\nIt wants to know: Your name, age (optional), colour (optional), sure (optional)"`, `https://example.com/open"`
	answer, decline, left := `"value":"answer"`, `"value":"decline"`, `"cancelled":true`
	for _, c := range []struct {
		name, tool string
		steps      []step
		want       string
	}{
		{"all", "ask", []step{{form, answer}, {`\nYour name"`, `"value":"Ada"`}, {`\nage (optional)"`, `"value":"36"`}, {`\ncolour (optional)"`, `"value":"Green"`}, {`\nsure (optional)"`, `"value":"no"`}},
			`accept {"age":36,"colour":"green","name":"Ada","sure":false}`},
		{"the least", "ask", []step{{form, answer}, {`\nYour name"`, `"value":"Ada"`}, {`\nage (optional)"`, `"value":""`}, {`\ncolour (optional)"`, `"value":"leave it out"`}, {`\nsure (optional)"`, `"value":"leave it out"`}},
			`accept {"name":"Ada"}`},
		{"what is empty or wrong is asked again", "ask", []step{{form, answer}, {`\nYour name"`, `"value":""`}, {`\nYour name\na value is wanted"`, `"value":"Ada"`},
			{`\nage (optional)"`, `"value":"0"`}, {`expected at least 1, got 0"`, `"value":"1"`}, {`\ncolour (optional)"`, `"value":"blue"`}, {`expected one of [\"red\",\"green\"]"`, `"value":"Red"`}, {`\nsure (optional)"`, `"value":"yes"`}},
			`accept {"age":1,"colour":"red","name":"Ada","sure":true}`},
		{"declined", "ask", []step{{form, decline}}, "decline null"},
		{"left at once", "ask", []step{{form, left}}, noAnswer},
		{"left", "ask", []step{{form, answer}, {`\nYour name"`, `"value":"Ada"`}, {`\nage (optional)"`, left}}, noAnswer},
		{"always empty", "ask", slices.Concat([]step{{form, answer}, {`\nYour name"`, `"value":""`}}, slices.Repeat([]step{{`wanted"`, `"value":""`}}, 7)), noAnswer},
		{"a page", "ask_page", []step{{page, `"value":"yes"`}}, "accept null"},
		{"no page", "ask_page", []step{{page, `"value":"no"`}}, "decline null"},
		{"a page left", "ask_page", []step{{page, left}}, noPage},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			model, opened := w.asksUser(c.tool), w.browser()
			client := w.client("--no-session")
			client.call("prompt", object{"message": "go"}, nil)
			seen := map[string]bool{}
			for _, step := range c.steps {
				r := client.wait("the question "+step.asked, func(r rpcRecord) bool {
					return (r.Method == "select" || r.Method == "input") && !seen[r.text()]
				})
				seen[r.text()] = true
				if !strings.Contains(r.line, `"title":"MCP server s: `) || !strings.Contains(r.line, step.asked) {
					t.Fatalf("asked %s, want %s", r.line, step.asked)
				}
				client.write(`{"type":"extension_ui_response","id":"` + r.text() + `",` + step.answer + "}\n")
			}
			client.wait("the end of the run", func(r rpcRecord) bool { return r.Type == "agent_settled" })
			if got := model.resultOf(t, 1); got != c.want {
				t.Errorf("the model got %q, want %q", got, c.want)
			}
			if c.name == "a page" && opened() != "https://example.com/open" {
				t.Errorf("opened %q", opened())
			}
			if status := client.end(); status != 0 {
				t.Errorf("status %d, %s", status, client.stderr.String())
			}
		})
	}
}

// Where no browser is known, or none can be started, the user is told which page to open.
func TestAPageThatCannotBeOpenedIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.asksUser("ask_page")
	w.env = append(w.env, "BROWSER=/no/such/browser")
	client := w.client("--no-session")
	client.call("prompt", object{"message": "go"}, nil)
	r := client.wait("the question", func(r rpcRecord) bool { return r.Method == "select" })
	client.write(`{"type":"extension_ui_response","id":"` + r.text() + `","value":"yes"}` + "\n")
	client.wait("what to open", func(r rpcRecord) bool {
		return r.Method == "notify" && strings.HasPrefix(r.Message, "open this page: https://example.com/open (/no/such/browser: ")
	})
	client.wait("the end of the run", func(r rpcRecord) bool { return r.Type == "agent_settled" })
	if got := model.resultOf(t, 1); got != "accept null" {
		t.Errorf("the model got %q", got)
	}
	if status := client.end(); status != 0 {
		t.Errorf("status %d, %s", status, client.stderr.String())
	}
}

// asksLast reports whether the cursor is in a dialog that has a row with this end above it, which
// is none of the one before.
func asksLast(now screentest.Screen, text string) bool {
	isPrompt := func(row string) bool {
		row = strings.TrimSpace(row)
		return strings.HasPrefix(row, "?") || strings.HasPrefix(row, "number or text?") || strings.HasPrefix(row, "filter:")
	}
	rows := now.Rows
	if !isPrompt(rows[now.Row]) {
		return false
	}
	for _, row := range slices.Backward(rows[:now.Row]) {
		switch {
		case isPrompt(row):
			return false
		case strings.HasSuffix(strings.TrimSpace(row), text):
			return true
		}
	}
	return false
}

func TestServersAskTheUserAtTheTerminal(t *testing.T) {
	t.Parallel()
	type step struct{ asked, keys string }
	const form, sure = "It wants to know: Your name, age (optional), colour (optional), sure (optional)", "sure (optional)"
	for _, c := range []struct {
		name  string
		args  []string
		calls []string
		steps []step
		want  []string
	}{
		{"interactive", nil, []string{"ask", "ask", "ask", "ask", "ask_page", "ask_page", "ask_page"}, []step{
			{form, "\r"}, {"Your name", "Ada\r"}, {"age (optional)", "36\r"}, {"colour (optional)", "gre\r"}, {sure, "no\r"},
			{form, "\r"}, {"Your name", "\r"}, {"a value is wanted", "Bea\r"}, {"age (optional)", "\r"}, {"colour (optional)", "\r"}, {sure, "leave\r"},
			{form, "decl\r"},
			{form, "\r"}, {"Your name", "Ada\r"}, {"age (optional)", "\x1b"},
			{"https://example.com/open", "yes\r"},
			{"https://example.com/open", "\r"},
			{"https://example.com/open", "\x1b"},
		}, []string{`accept {"age":36,"colour":"green","name":"Ada","sure":false}`, `accept {"name":"Bea"}`, "decline null", noAnswer, "accept null", "decline null", noPage}},
		{"plain", []string{"--plain"}, []string{"ask", "ask", "ask", "ask", "ask_page", "ask_page"}, []step{
			{form, "answer\r"}, {"Your name", "Ada\r"}, {"age (optional)", "36\r"}, {"colour (optional)", "2\r"}, {sure, "yes\r"},
			{form, "1\r"}, {"Your name", "\r"}, {"a value is wanted", "Bea\r"}, {"age (optional)", "\r"}, {"colour (optional)", "leave it out\r"}, {sure, "3\r"},
			{form, "decline\r"},
			{form, "\r"},
			{"https://example.com/open", "yes\r"},
			{"https://example.com/open", "\r"},
		}, []string{`accept {"age":36,"colour":"green","name":"Ada","sure":true}`, `accept {"name":"Bea"}`, "decline null", noAnswer, "accept null", noPage}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			model, opened := w.asksUser(c.calls...), w.browser()
			s := w.inTerminal(append(c.args, "--no-session")...)
			steps := c.steps
			for _, tool := range c.calls {
				s.enter("go")
				for first := true; len(steps) > 0 && (first || steps[0].asked != form && !strings.HasPrefix(steps[0].asked, "https:")); first = false {
					s.Until("it is asked: "+steps[0].asked, func(now screentest.Screen) bool { return asksLast(now, steps[0].asked) })
					s.keys(steps[0].keys)
					steps = steps[1:]
				}
				s.see(1, "That was "+tool+".")
				s.prompt()
				s.enter("/clear") // what was asked before is not on the screen any more
			}
			if len(steps) > 0 {
				t.Errorf("not asked: %v", steps)
			}
			s.prompt()
			var got []string
			for i := range c.calls {
				got = append(got, model.resultOf(t, 2*i+1))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the model got\n%q, want\n%q", got, c.want)
			}
			if opened() != "https://example.com/open" {
				t.Errorf("opened %q", opened())
			}
			s.enter("/quit")
			s.leave(statusDone)
		})
	}
}

// A call that is typed in a shell asks where it was typed, line by line, beside what it gives.
func TestACallInAShellAsksItsUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.asksUser("ask")
	s := w.inTerminal("mcp", "call", "s", "ask")
	for _, step := range []struct{ asked, keys string }{
		{"  2  decline", "1\r"}, {"Your name", "\r"}, {"a value is wanted", "Ada\r"}, {"age (optional)", "\r"}, {"  3  leave it out", "2\r"}, {"  3  leave it out", "3\r"},
	} {
		s.Until("it is asked: "+step.asked, func(now screentest.Screen) bool {
			return now.Row > 0 && now.Rows[now.Row-1] == step.asked && (now.Before() == "> " || strings.HasPrefix(now.Before(), "number, or Enter for "))
		})
		s.keys(step.keys)
	}
	s.see(1, `accept {"colour":"green","name":"Ada"}`)
	s.leave(statusDone)
}
