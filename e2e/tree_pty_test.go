//go:build unix

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const choice = "Enter choose"

func TestTheTreeOfALongSessionOpensWhereTheUserIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var lines strings.Builder
	lines.WriteString(`{"type":"session","version":3,"id":"long","timestamp":"2026-01-02T03:04:05.000Z","cwd":"` + w.project + "\"}\n")
	parent := "null"
	for i := range 60 {
		id := fmt.Sprintf(`"%08x"`, i)
		fmt.Fprintf(&lines, `{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"prompt %d.","timestamp":1}}`+"\n", id, parent, i)
		parent = id
	}
	w.write(w.agentFile("sessions/kept/long.jsonl"), lines.String())
	s := w.inTerminal("--resume", "long")
	s.enter("/tree")
	s.see(1, "▸ > user: prompt 59.")
	s.answer(choice, "12. prompt")
	s.see(1, "1 of 60")
	s.see(1, "▸ * user: prompt 12.")
	if s.Screen().Shows("0000000c") {
		t.Errorf("ids are for those who look for one:\n%s", s.Screen())
	}
	s.Press("ctrl+u")
	s.keys("0000003a")
	s.see(1, "1 of 60")
	s.see(1, "▸ * user: prompt 58.")
	s.see(2, "0000003a")
	s.esc()
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAnInterruptedSummaryMovesNothing(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Esc": "\x1b", "Ctrl+C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interruptSummary(t, key)
		})
	}
}

func interruptSummary(t *testing.T, key string) {
	w := newWorld(t)
	w.write(w.agentFile("hooks/tell.lua"), `pi.on("after_provider_response", function(_, ctx) ctx.ui.notify("it answers") end)`)
	s, m := talk(t, w, "text One.\n---\ntext a summary\nstall\n---\ntext Two.")
	s.enter("first")
	s.see(1, "One.")
	s.prompt()
	before := mustRead(t, w.sessionFile())
	s.enter("/tree")
	s.answer(choice, "user first\r")
	s.answer("go on from there", "particular\r")
	s.answer("What should the summary look at?", "names\r")
	s.see(2, "it answers")
	s.see(1, "summing up")
	s.see(1, "Esc cancels")
	s.keys(key)
	s.see(1, "nothing has moved")
	if now := mustRead(t, w.sessionFile()); now != before {
		t.Errorf("the session has changed: %s", strings.TrimPrefix(now, before))
	}
	s.enter("on")
	s.see(1, "Two.")
	s.enter("/quit")
	s.leave(statusDone)
	inOrder(t, messagesOf(t, m.asked()[2].body), []string{"first", "One.", "on"})
}

// sessionFile is the only session there is.
func (w *world) sessionFile() string {
	w.t.Helper()
	files, err := filepath.Glob(w.agentFile("sessions/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("want one session, have %q, %v", files, err)
	}
	return files[0]
}
