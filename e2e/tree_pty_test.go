//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

const choice = "Enter choose"

func TestAUserPicksAPlaceInTheTreeAndGoesOnFromThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, m := talk(t, w, "text Red.\n---\ntext Blue.\n---\ntext Green.\n---\ntext Again.")
	s.enter("colour one")
	s.see(1, "Red.")
	s.enter("colour two")
	s.see(1, "Blue.")
	s.enter("/tree")
	s.answer(choice, "Red.\r")
	s.answer("go on from there", "\r")
	s.see(1, "moved: the conversation (2 messages) ends with assistant: Red.")
	s.enter("colour three")
	s.see(1, "Green.")

	s.enter("/tree") // what was left is folded, and unfolds
	s.see(1, "▸ > assistant: Green.")
	s.see(1, "+   user: colour two")
	s.see(1, "1 more")
	s.Press("up", "up")
	s.see(1, "▸   +   user: colour two")
	s.Press("right")
	s.see(1, "assistant: Blue.")
	s.see(1, "edit it again · leaves 2")
	s.keys("\r")
	s.asked("branch off to a new session")
	s.answer("go on from there", "\r")
	s.see(2, "> colour two") // the prompt is in the line again
	s.keys(", but darker\r")
	s.see(1, "Again.")
	s.enter("/quit")
	s.leave(statusDone)
	sent := messagesOf(t, m.asked()[3].body)
	inOrder(t, sent, []string{"colour one", "Red.", "colour two, but darker"})
	if strings.Contains(sent, "Green.") || strings.Contains(sent, "Blue.") {
		t.Errorf("the model sees what was left: %s", sent)
	}
}

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
	s.see(0, "0000000c") // ids are for those who look for one
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

func TestWhatWasUndoneIsInThePromptLine(t *testing.T) {
	t.Parallel()
	s, m := talk(t, newWorld(t), "text One.\n---\ntext Two.")
	s.enter("first try")
	s.see(1, "One.")
	s.enter("/undo")
	s.see(1, "undone (/redo takes it back)")
	s.see(2, "> first try")
	s.keys(" and more\r")
	s.see(1, "Two.")
	s.enter("/quit")
	s.leave(statusDone)
	if sent := messagesOf(t, m.asked()[1].body); !strings.Contains(sent, "first try and more") || strings.Contains(sent, "One.") {
		t.Errorf("the model was sent %s", sent)
	}
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

func TestABranchBringsTheFilesOfItsCheckpointBack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	w := newWorld(t)
	w.env = append(w.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	git := exec.Command("git", "init", "-q")
	git.Dir = w.project
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.write(w.agentFile("hooks/git_checkpoint.lua"), mustRead(t, inModule("examples/git_checkpoint.lua")))
	s, m := talk(t, w, "call write {\"path\":\"b.txt\",\"content\":\"new\"}\n---\ntext Written.\n---\ntext Once more.")
	file := filepath.Join(w.project, "b.txt")
	s.enter("write it")
	s.see(1, "Written.")
	if got := mustRead(t, file); got != "new" {
		t.Fatalf("b.txt is %q", got)
	}
	s.enter("/branch")
	s.answer(choice, "write it\r")
	s.answer("Restore the files too?", "y")
	s.see(1, "the files are those of the checkpoint")
	s.see(1, "branched off")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("b.txt is still there: %v", err)
	}
	s.see(2, "> write it")
	s.keys(" again\r")
	s.see(1, "Once more.")
	s.enter("/quit")
	s.leave(statusDone)
	if sent := messagesOf(t, m.asked()[2].body); strings.Contains(sent, "Written.") || !strings.Contains(sent, "write it again") {
		t.Errorf("the model was sent %s", sent)
	}
}

func TestAHookGivesAPromptBackToTheLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/back.lua"), `pi.command("back", { handler = function(ctx)
  for _, entry in ipairs(ctx.entries) do
    if entry.type == "message" and entry.message.role == "user" then
      local result = assert(ctx.navigate_tree(entry.id))
      return { status = "back before: " .. result.text }
    end
  end
end })`)
	s, m := talk(t, w, "text One.\n---\ntext Two.")
	s.enter("first try")
	s.see(1, "One.")
	s.enter("/back")
	s.see(1, "back before: first try")
	s.see(2, "> first try")
	s.keys(" and more\r")
	s.see(1, "Two.")
	s.enter("/quit")
	s.leave(statusDone)
	if sent := messagesOf(t, m.asked()[1].body); !strings.Contains(sent, "first try and more") || strings.Contains(sent, "One.") {
		t.Errorf("the model was sent %s", sent)
	}
}

func TestAPromptOfSeveralLinesIsGivenBackWhole(t *testing.T) {
	t.Parallel()
	s, m := talk(t, newWorld(t), "text One.\n---\ntext Two.")
	s.enter("first line\\")
	s.Until("the cursor is in a second row", func(now screentest.Screen) bool { return now.LastRow() == "> first line" && now.CursorRow() == "" })
	s.keys("second line\r")
	s.see(1, "One.")
	s.enter("/undo")
	s.see(1, "undone (/redo takes it back)")
	s.until("both rows are in the line", func() bool { return strings.HasSuffix(s.text(), "\n> first line\n  second line") })
	s.keys(" and more\r")
	s.see(1, "Two.")
	s.enter("/quit")
	s.leave(statusDone)
	if sent := messagesOf(t, m.asked()[1].body); !strings.Contains(sent, `first line\nsecond line and more`) || strings.Contains(sent, "One.") {
		t.Errorf("the model was sent %s", sent)
	}
}
