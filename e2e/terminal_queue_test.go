//go:build unix

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// many is a text of n lines with what may be taken for something else.
func many(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %d\twith a tab, ⏎ and ␉  and two blanks", i+1))
	}
	return strings.Join(lines, "\n")
}

// A paste is one insertion, whenever it comes, and one Enter sends one message.
func TestAPasteDuringAStreamIsOneQueuedMessage(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		first := s.ask("go")
		first.Text("I begin ")
		s.See("I begin")
		text := many(20)
		s.Paste(strings.ReplaceAll(text, "\n", "\r"))
		if n < 40 { // the token is cut there
			s.matches(`^steer> \[paste #1`)
		} else {
			s.steers("[paste #1: 20 lines, " + sizeOf(text) + "]")
		}
		s.Press("enter")
		s.steers("")
		if n >= 80 {
			s.matches(`1 queued`)
		}
		first.Text("and I end.")
		first.End()
		second := s.turn()
		second.Answer("Read.")
		s.rests("")
		if got := second.Request.Prompts(); !slices.Equal(got, []string{"go", text}) {
			t.Errorf("the model was told %q", got)
		}
		s.quits()
		if got := len(s.model.Asked()); got != 2 {
			t.Errorf("%d requests, want 2", got)
		}
		if got := s.Transcript(); strings.Contains(unspaced(got), unspaced("I begin and I end.")) == false {
			t.Errorf("the answer was split:\n%s", got)
		}
	})
}

// sizeOf is a number of bytes as a token of a paste says it.
func sizeOf(text string) string {
	if n := len(text); n >= 1000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%d B", len(text))
}

// What is typed while an answer comes is in the line, and nowhere else.
func TestKeysTypedDuringAStreamAreOnlyInTheLine(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		turn.Text("Here ")
		s.See("Here")
		strange := ""
		s.Watch(func(now screentest.Screen) {
			for _, row := range now.Rows {
				if strings.ContainsAny(row, "QXZ") && !strings.HasPrefix(row, "steer> ") && strange == "" {
					strange = now.String()
				}
			}
		})
		const typed = "QXZQXZQXZ"
		for i, key := range typed {
			turn.Text(fmt.Sprintf("comes word %d of many, ", i))
			s.Type(string(key))
			s.steers(typed[:i+1])
		}
		s.See("word 8")
		s.Press(slices.Repeat([]string{"backspace"}, len(typed))...)
		s.steers("")
		turn.Text("the end.")
		turn.End()
		s.rests("")
		s.Watch(nil)
		if strange != "" {
			t.Errorf("keys are shown outside of the line:\n%s", strange)
		}
		if got := s.Transcript(); strings.ContainsAny(got, "QXZ") {
			t.Errorf("keys are in the transcript:\n%s", got)
		}
		s.quits()
	})
}

// A line of any length is sent whole, and the cell before the cursor is what Backspace
// takes, whatever the terminal's driver knows of UTF-8.
func TestALongLineSentWhileWorkingArrivesWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789 abcdefghi ", 300)[:6000]
	long = strings.TrimSpace(long) + "."
	for name, args := range map[string][]string{"": nil, "plain": {"--plain"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{args: args})
			s.Until("there is a prompt", func(now screentest.Screen) bool { return strings.HasPrefix(now.LastRow(), ">") })
			s.Type("go\r")
			turn := s.turn()
			turn.Text("I work.\n\n")
			s.See("I work.")
			s.Type(long + "\r")
			s.Until("all of it was taken", func(now screentest.Screen) bool { return args != nil || isLine(now, "steer> ", "") })
			turn.Text("Now I look.\n\n")
			s.See("Now I look.")
			turn.End()
			second := s.turn()
			if got := second.Request.Last(); got != long {
				t.Errorf("%d bytes arrived of %d: %q", len(got), len(long), got)
			}
			second.Answer("Read.")
		})
	}
}

func TestBackspaceTakesAWholeCharacterOnEveryTerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]scenery{
		"":                     {},
		"no IUTF8":             {terminal: screentest.Options{NoUTF8: true}},
		"plain":                {args: []string{"--plain"}},
		"plain, without IUTF8": {args: []string{"--plain"}, terminal: screentest.Options{NoUTF8: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, c)
			prompt := func(now screentest.Screen) bool { return strings.HasPrefix(now.LastRow(), ">") }
			s.Until("there is a prompt", prompt)
			s.Type("日本")
			s.Press("backspace", "enter")
			turn := s.turn()
			if got := turn.Request.Last(); got != "日" {
				t.Errorf("at rest %q was sent", got)
			}
			turn.Text("I work.\n\n")
			s.See("I work.")
			s.Type("語日本")
			s.Press("backspace", "enter")
			s.Until("it is queued", func(now screentest.Screen) bool { return now.Shows("queued") || c.args != nil })
			turn.End()
			if got := s.turn().Request.Last(); got != "語日" {
				t.Errorf("while working %q was sent", got)
			}
		})
	}
}

// Ctrl+C gives up the work and keeps the line; at rest it clears the line, which can be
// undone.
func TestCtrlCInterruptsTheWorkOrClearsTheLine(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		turn.Text("I begin")
		s.See("I begin")
		s.Type("half a line")
		s.steers("half a line")
		s.Press("ctrl+c")
		within(t, "the request is given up", turn.Abandoned())
		s.rests("half a line")
		s.Press("ctrl+c")
		s.rests("")
		s.Press("ctrl+_")
		s.rests("half a line")
		s.Press("ctrl+c")
		s.rests("")
		s.Press("ctrl+c") // the first in an empty line; the one before cleared
		s.Type("more")
		s.rests("more")
		s.Press("ctrl+c")
		s.rests("")
		s.quits()
	})
}

// A hook's tool says how far it is as a built-in one does, and what a hook queues waits
// where a typed message does.
func TestHooksAreSeenAtWorkAsTheUserIs(t *testing.T) {
	atWidths(t, []int{40, 80, 200}, func(t *testing.T, n int) {
		c := cols(n)
		c.hook = `pi.tool { name = "dig", description = "digs", parameters = { type = "object", properties = {} },
  execute = function(params, ctx, call)
    call.update { content = "three metres deep" }
    assert(pi.exec("sh", { "-c", "read line < go" }))
    call.update { content = "six metres deep" }
    assert(pi.exec("sh", { "-c", "read line < go" }))
    return { content = "found a bone" }
  end }
pi.on("tool_execution_start", function() pi.send_user_message("and then rest", { deliver_as = "steer" }) end)`
		c.world = newWorld(t)
		c.world.mailbox("go")
		s := newDesk(t, c)
		turn := s.ask("dig")
		turn.Call("c1", "dig")
		turn.End()
		s.See("three metres deep")
		s.See("and then rest")
		s.matches(`↳.*and then rest`)
		s.Type("typed too")
		s.Press("enter")
		s.matches(`↳.*typed too`)
		s.Until("both are queued", func(now screentest.Screen) bool { return len(rowsWith(now, "↳")) == 2 || n < 80 })
		s.projectPipe("go", "on\n")
		s.See("six metres deep")
		s.UntilGone("three metres deep")
		s.projectPipe("go", "on\n")
		second := s.turn()
		prompts := second.Request.Prompts()
		second.Answer("Done.")
		for len(prompts) < 3 { // one at a time
			turn := s.turn()
			prompts = turn.Request.Prompts()
			turn.Answer("Done.")
		}
		if !slices.Equal(prompts, []string{"dig", "and then rest", "typed too"}) {
			t.Errorf("the model was told %q", prompts)
		}
		s.rests("")
		s.UntilGone("six metres deep")
		s.quits()
	})
}

// projectPipe writes into a named pipe of the project, which somebody reads.
func (s *desk) projectPipe(name, text string) {
	s.t.Helper()
	f, err := os.OpenFile(s.world.project+"/"+name, os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// What waited when the work was interrupted is back in the line, and gives way as well.
func TestACommandTakesThePlaceOfWhatWaited(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.ask("go")
	s.Type("and then this\r")
	s.matches(`↳ .*: and then this`)
	s.Press("esc")
	s.rests("and then this")
	s.Type("/undo\r")
	s.See("undone")
	s.rests("go")
	s.Press("ctrl+c")
	s.quits()
}
