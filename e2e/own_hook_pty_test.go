//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/docs"
)

// The hook and its test as the guide has them in brief.
func briefHook(t *testing.T) (hook, test string) {
	t.Helper()
	guide, err := docs.Find("hooks")
	if err != nil {
		t.Fatal(err)
	}
	brief, err := guide.Section("In brief")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:lua)?\n(.*?)```").FindAllStringSubmatch(brief, -1)
	if len(blocks) != 2 {
		t.Fatalf("the brief has %d examples", len(blocks))
	}
	return blocks[0][1], blocks[1][1]
}

// A model that is asked for a gate reads the guide, writes the gate with its test, checks and
// tests it; the user approves, and the gate blocks: in one session, with a model that is
// played here. What it reads costs at most 3,000 tokens.
func TestAnAgentWritesItsOwnHook(t *testing.T) {
	t.Parallel()
	hook, test := briefHook(t)
	w := newWorld(t)
	bin := filepath.Join(w.home, "bin")
	w.write(filepath.Join(bin, "of"), "")
	if err := os.Symlink(piCommand(t), filepath.Join(bin, "pi")); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	file := w.agentFile("hooks/no_force_push.lua")
	testFile := w.agentFile("hooks/no_force_push_test.lua")
	call := func(tool string, input map[string]string) string {
		b, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return "call " + tool + " " + string(b)
	}
	run := func(command string) string { return call("bash", map[string]string{"command": command}) }
	s := w.model(strings.Join([]string{
		run("pi docs hooks --section brief"),
		call("write", map[string]string{"path": file, "content": hook}) + "\n" + call("write", map[string]string{"path": testFile, "content": test}),
		run(fmt.Sprintf("pi hooks check %s; pi test %s", file, testFile)),
		"text The gate is written and waits for your approval.",
		run("git push --force origin main"),
		"text That was refused.",
	}, "\n---\n"))
	term := w.inTerminal()
	term.enter("make a gate against force pushes")
	term.see(1, "waits for your approval.")
	term.answer("Run it like this from now on?", "y")
	term.see(1, "hook no_force_push loaded")
	term.prompt()
	term.enter("push it")
	term.see(1, "That was refused.")
	term.enter("/quit")
	term.leave(statusDone)

	read, said := toolResults(t, s)
	if tokens := len(read) / 4; tokens > 3000 || tokens < 500 {
		t.Errorf("what was read of the documents has about %d tokens", tokens)
	}
	for _, text := range []string{"tool_call", "no_force_push", "1 case in 1 file", "no force pushes"} {
		if !strings.Contains(said, text) {
			t.Errorf("no tool said %q:\n%s", text, said)
		}
	}
	if strings.Contains(said, "problem") || strings.Contains(said, "warning") {
		t.Errorf("the check finds something:\n%s", said)
	}
}

// toolResults returns what the first call of the model gave back, and what all others did, as
// the last request has it.
func toolResults(t *testing.T, s *modelServer) (first, others string) {
	t.Helper()
	asked := s.asked()
	var request struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(asked[len(asked)-1].body, &request); err != nil {
		t.Fatal(err)
	}
	for _, m := range request.Messages {
		switch {
		case m.Role != "tool":
		case first == "":
			first = fmt.Sprint(m.Content)
		default:
			others += fmt.Sprint(m.Content) + "\n"
		}
	}
	return first, others
}
