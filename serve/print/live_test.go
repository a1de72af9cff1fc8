package print

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/session/message"
)

// onScreen is what a terminal shows of what was written to it, and the row at its end.
func onScreen(written string) (lines, row string) {
	for i, part := range strings.Split(written, eraseRow) {
		if i > 0 {
			row = ""
		}
		at := strings.LastIndex(part, "\n") + 1
		if at > 0 {
			part, row, lines = part[at:], "", lines+row+part[:at]
		}
		row += part
	}
	return lines, row
}

func TestTheRowSaysWhatGoesOnAndIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := &lines{w: &b, row: row{columns: func() int { return 40 }}}
		wants := func(lines, row string) {
			t.Helper()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if gotLines, gotRow := onScreen(b.String()); gotLines != lines || gotRow != row {
				t.Errorf("%q, and the row %q; want %q and %q", gotLines, gotRow, lines, row)
			}
		}
		piece := func(text string, counted int) *agent.MessageUpdate {
			return agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaText, Text: text, Usage: &message.Usage{Output: counted}}, nil, nil)
		}
		stop := l.watch()
		time.Sleep(1900 * time.Millisecond)
		wants("", "")
		time.Sleep(200 * time.Millisecond)
		wants("", "answering 2s")
		l.follow(piece(strings.Repeat("word", 300), 1))
		time.Sleep(time.Second)
		wants("", "answering 3s · 300 tokens")
		l.write("a line")
		wants("a line\n", "answering 3s · 300 tokens")
		l.follow(&agent.MessageEnd{Message: &message.Message{Usage: &message.Usage{Output: 1250}}})
		l.follow(&agent.ToolExecutionStart{ID: "a", Name: "bash"})
		l.follow(&agent.ToolExecutionStart{ID: "b", Name: "read\x1b[2J\n"})
		wants("a line\n", "bash, read 0s · 1k tokens")
		time.Sleep(time.Second)
		l.follow(&agent.ToolRan{ID: "b"})
		l.follow(&agent.ToolExecutionEnd{ID: "b"})
		wants("a line\n", "bash 1s · 1k tokens")
		l.follow(&agent.ToolRan{ID: "a"})
		time.Sleep(71 * time.Second)
		wants("a line\n", "answering 1m10s · 1k tokens")
		l.follow(&agent.AutoRetryStart{})
		wants("a line\n", "waiting to try again 0s · 1k tokens")
		l.follow(&agent.AutoRetryWaited{})
		l.follow(&agent.CompactionStart{})
		l.follow(&agent.CompactionStart{Auto: true})
		wants("a line\n", "compacting 0s · 1k tokens")
		l.follow(&agent.CompactionEnd{})
		l.follow(&agent.ToolExecutionStart{ID: "c", Name: strings.Repeat("long", 20)})
		wants("a line\n", strings.Repeat("long", 10)[:39])
		stop()
		wants("a line\n", "")
		l.write("behind it")
		time.Sleep(10 * time.Second)
		wants("a line\nbehind it\n", "")

		stop = l.watch() // the next prompt begins anew
		time.Sleep(2 * time.Second)
		wants("a line\nbehind it\n", "answering 2s")
		stop()
	})
}

func TestAShortPromptHasNoRowAndALongOneHasNoneAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for prompt, long := range map[string]bool{"hi": false, "slow": true, "slow act": true} {
			var out, progress bytes.Buffer
			p := New(&out, &progress)
			p.beside.row.columns = func() int { return 80 }
			if err := runWith(t.Context(), p, prompt); err != nil {
				t.Error(err)
			}
			lines, row := onScreen(progress.String())
			if strings.Contains(progress.String(), "answering 2s") != long || row != "" || strings.Contains(lines, "answering") {
				t.Errorf("%s: %q", prompt, progress.String())
			}
			if strings.Contains(out.String(), "\x1b") || !long && out.String() != "re: hi\n" {
				t.Errorf("%s: the answer is %q", prompt, out.String())
			}
		}
	})
}

func TestWithoutATerminalThereIsNoRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]func(progress *bytes.Buffer) *Printer{
			"no terminal": func(progress *bytes.Buffer) *Printer { return New(&bytes.Buffer{}, progress) },
			"JSON":        func(progress *bytes.Buffer) *Printer { return NewJSON(&bytes.Buffer{}, progress) },
			"plain": func(progress *bytes.Buffer) *Printer {
				p := New(&bytes.Buffer{}, progress)
				p.beside.row.columns = func() int { return 80 }
				p.NoRow()
				return p
			},
		} {
			var progress bytes.Buffer
			printer := p(&progress)
			if printer.Wants(agent.KindMessageUpdate) != (name == "JSON") {
				t.Errorf("%s: deltas are heard", name)
			}
			if err := runWith(t.Context(), printer, "slow"); err != nil || progress.Len() > 0 {
				t.Errorf("%s: %q, %v", name, fmt.Sprint(&progress), err)
			}
			if err := printer.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
