//go:build unix

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// numberOfSeconds is how long something took, in the row that tells of it.
var numberOfSeconds = regexp.MustCompile(` · \d+ s$`)

// callRows are the rows of the screen from that of a call on, without blank ones.
func callRows(now screentest.Screen, call string) []string {
	rows := strings.Split(unblank(now.Text()), "\n")
	return rows[max(0, slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, "• "+call) })):]
}

// A new file is shown by its first lines, folded; what is written anew is not.
func TestANewFileIsShownAsItBegins(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{terminal: screentest.Options{Rows: 60}})
	text := ""
	for i := range 30 {
		text += fmt.Sprintf("\tline %d\n", i+1)
	}
	turn := s.ask("go")
	turn.Call("c1", "write", "path", "new.txt", "content", text)
	turn.End()
	turn = s.turn()
	turn.Call("c2", "write", "path", "new.txt", "content", "short\n")
	turn.Call("c3", "write", "path", "small.txt", "content", "one\ntwo\n")
	turn.End()
	s.turn().Answer("Written.")
	s.rests("")
	want := []string{"• write new.txt ✓ +30 −0 · #1 · Ctrl+O"}
	for i := range 10 {
		want = append(want, fmt.Sprintf("  %2d +     line %d", i+1, i+1))
	}
	want = append(want, "  … 20 more lines",
		"• write new.txt ✓", "  Replaced new.txt: 6 bytes, 1 line",
		"• write small.txt ✓ +2 −0", "  1 + one", "  2 + two", "Written.")
	if rows := callRows(s.Screen(), "write"); len(rows) < len(want) || !slices.Equal(rows[:len(want)], want) {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	s.Press("ctrl+o")
	s.matches(`^  30 \+     line 30$`)
	s.quits()
}

// Who is asked is told so, and how long they take is no time of the tool: neither where a
// hook asks whether it may run, nor where the tool itself asks.
func TestTimeThatWaitsForAnAnswerIsNoTimeOfTheTool(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `
pi.on("tool_call", function(event, ctx)
  if event.tool_name == "bash" and not ctx.ui.confirm("May it run?") then return { block = true } end
end)
pi.tool({
  name = "ask", description = "Ask the person.", parameters = { properties = {} },
  execute = function(args, ctx) return "chosen: " .. tostring(ctx.ui.select("Which one?", { "red", "blue" })) end,
})`})
	turn := s.ask("go")
	turn.Call("c1", "ask")
	turn.Call("c2", "bash", "command", "echo it ran")
	turn.End()
	s.See("May it run?")
	s.matches(`^. waiting for your answer [1-9]\d* s\b`)
	s.Press("y")
	s.See("Which one?")
	s.matches(`^. waiting for your answer [1-9]\d* s\b`)
	s.Press("enter")
	s.turn().Answer("Done.")
	s.rests("")
	want := []string{"• ask ✓", "  chosen: red", "• bash echo it ran ✓", "  it ran", "Done."}
	if rows := callRows(s.Screen(), "ask"); len(rows) < len(want) || !slices.Equal(rows[:len(want)], want) {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	s.quits()
}

// What was interrupted says so in its row, and the row that tells of the interrupt is below.
func TestAfterAnInterruptTheRowOfTheToolComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	s := newDesk(t, scenery{world: w})
	turn := s.ask("go")
	turn.Call("c1", "bash", "command", "echo begun; echo $$ > started; exec sleep 600")
	turn.Call("c2", "bash", "command", "exec sleep 601")
	turn.End()
	started()
	s.See("│ begun")
	s.Press("esc")
	s.rests("")
	s.See("interrupted (Esc)")
	rows := callRows(s.Screen(), "bash")
	for i := range min(4, len(rows)) {
		rows[i] = numberOfSeconds.ReplaceAllString(rows[i], "")
	}
	want := []string{"• bash echo begun; echo $$ > started; exec sleep 600 ✗ interrupted", "  begun", "• bash exec sleep 601 ✗ interrupted", "interrupted (Esc) · bash exec sleep 601"}
	if len(rows) < len(want) || !slices.Equal(rows[:len(want)], want) {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	s.quits()
}
