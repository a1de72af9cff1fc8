package repl

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/repl/terminal"
	"pi/session/message"
)

func widthOf(row string) int { return cells.Width(row) }

// numbered is "1\n2\n…" up to n.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("x", i%3) + "line\n")
	}
	return b.String()
}

func TestTheTitleOfACallHasWhatItIsAbout(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"bash", `{"command": "ls -l", "timeout": 5}`, "bash ls -l"},
		{"bash", `{"command": "a\n\tb\nc"}`, "bash a|    b|c"},
		{"bash", `{"command": "a\nb\nc\nd\ne"}`, "bash a|b|c|… 5 lines in all"},
		{"bash", `{"command": "a\u001b[2J\n"}`, "bash a"},
		{"grep", `{"pattern": "x", "path": "src"}`, "grep x in src"},
		{"own\u001b[2J", `{"rows": 3}`, `own {"rows": 3}`},
		{"ls", `{}`, "ls"},
	} {
		if got := strings.Join(titleOf(c.name, json.RawMessage(c.input)), "|"); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

func TestACallThatEndedIsShownInWhatMatters(t *testing.T) {
	exit := func(code string) json.RawMessage { return json.RawMessage(`{"exitCode":` + code + `}`) }
	for _, c := range []struct {
		name    string
		e       ended
		columns int
		want    string
	}{
		{"a short result is shown whole", ended{name: "ls", result: agent.TextResult("a\nb\n")}, 80, "• call ✓ 2 lines|  a|  b"},
		{"six lines are no more than five and a row about the sixth", ended{name: "ls", result: agent.TextResult("1\n2\n3\n4\n5\n6")}, 80,
			"• call ✓ 6 lines|  1|  2|  3|  4|  5|  6"},
		{"a long one by its end", ended{name: "ls", result: agent.TextResult("1\n2\n3\n4\n5\n6\n7")}, 80,
			"• call ✓ 7 lines · #1 · Ctrl+O|  … 2 earlier|  3|  4|  5|  6|  7"},
		{"a command that failed", ended{name: "bash", took: 14 * time.Second, result: agent.Result{IsError: true, Details: exit("1"),
			Content: []message.Block{message.TextBlock("no\n\n[exit status 1]")}}}, 80, "• call ✗ 14 s · exit 1|  no"},
		{"less than a second is no time", ended{name: "bash", took: 900 * time.Millisecond, result: agent.Result{Details: exit("0"),
			Content: []message.Block{message.TextBlock("(no output)")}}}, 80, "• call ✓"},
		{"what was dropped is counted", ended{name: "bash", result: agent.Result{Details: json.RawMessage(`{"truncation":{"totalLines":5000,"outputLines":2}}`),
			Content: []message.Block{message.TextBlock("4999\n5000")}}}, 80, "• call ✓ 5000 lines · #1 · Ctrl+O|  … 4998 lines dropped before them|  4999|  5000"},
		{"progress is its last state", ended{name: "bash", result: agent.TextResult("10%\r50%\r100%\nok")}, 80, "• call ✓ 2 lines|  100%|  ok"},
		{"what was read is one row", ended{name: "read", result: agent.TextResult("a\nb")}, 80, "• call ✓ 2 lines · #1 · Ctrl+O"},
		{"what could not be read is not", ended{name: "read", result: agent.Result{IsError: true, Content: []message.Block{message.TextBlock("no such file")}}}, 80,
			"• call ✗|  no such file"},
		{"an image is its type", ended{name: "read", result: agent.Result{Content: []message.Block{{Type: message.BlockImage, MimeType: "image/png"}}}}, 80, "• call ✓ #1 · Ctrl+O"},
		{"one that was interrupted", ended{name: "bash", took: 14 * time.Second, result: agent.Result{IsError: true, Interrupted: true,
			Content: []message.Block{message.TextBlock("a\nb\n\n[cancelled]")}}}, 80, "• call ✗ interrupted · 14 s · 2 lines|  a|  b"},
		{"one whose tool says so", ended{name: "own", result: agent.Result{IsError: true, Interrupted: true,
			Content: []message.Block{message.TextBlock("half"), message.TextBlock("interrupted")}}}, 80, "• call ✗ interrupted|  half"},
		{"one that was interrupted, in words", ended{name: "own", plain: true, result: agent.Result{IsError: true, Interrupted: true,
			Content: []message.Block{message.TextBlock("interrupted")}}}, 80, "tool call: interrupted"},
		{"a new file is how it begins", ended{name: "write", result: wrote(true, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n\n")}, 80,
			"• call ✓ +12 −0 · #1 · Ctrl+O|   1 + 1|   2 + 2|   3 + 3|   4 + 4|   5 + 5|   6 + 6|   7 + 7|   8 + 8|   9 + 9|  10 + 10|  … 2 more lines"},
		{"a small one is shown whole", ended{name: "write", result: wrote(true, "a\n\tb")}, 80, "• call ✓ +2 −0|  1 + a|  2 +     b"},
		{"its lines are cut, and can be seen", ended{name: "write", result: wrote(true, strings.Repeat("long ", 9)+"\nb\n")}, 30,
			"• call ✓ +2 −0 · #1 · Ctrl+O|  1 + long long long long lon…|  2 + b"},
		{"a file that was there is no new one", ended{name: "write", result: wrote(false, "a\n")}, 80, "• call ✓|  Replaced it"},
		{"an empty file has no beginning", ended{name: "write", result: wrote(true, "")}, 80, "• call ✓|  Replaced it"},
		{"in words", ended{name: "ls", plain: true, result: agent.Result{IsError: true}}, 80, "tool call: failed"},
		{"in words, and by a command", ended{name: "ls", plain: true, result: agent.TextResult("1\n2\n3\n4\n5\n6\n7")}, 80,
			"tool call: done 7 lines · /expand 1|  … 2 earlier|  3|  4|  5|  6|  7"},
		{"a narrow window keeps the number", ended{name: "bash", took: 14 * time.Second, result: agent.Result{IsError: true, Details: exit("1"),
			Content: []message.Block{message.TextBlock("1\n2\n3\n4\n5\n6\n7")}}}, 20, "• call ✗ 14 s · #1|  … 2 earlier|  3|  4|  5|  6|  7"},
		{"and loses all else", ended{name: "ls", result: agent.TextResult("1\n2\n3\n4\n5\n6\n7")}, 12, "• call ✓ #1|  … 2 earli…|  3|  4|  5|  6|  7"},
		{"a line that is too wide is cut, and can be seen", ended{name: "ls", result: agent.TextResult("0123456789012345678901234567890")}, 30,
			"• call ✓ #1 · Ctrl+O|  012345678901234567890123456…"},
		{"an error is read to its end", ended{name: "edit", result: agent.Result{IsError: true, Content: []message.Block{message.TextBlock("the text that was to be replaced")}}}, 20,
			"• call ✗|  the text that was|  to be replaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.title = []string{"call"}
			c.e.number = func(wholeCall) int { return 1 }
			rows := c.e.rows(terminal.Palette{}, c.columns)
			if got := strings.Join(rows, "|"); got != c.want {
				t.Errorf("shows %s\nwant  %s", got, c.want)
			}
			for _, row := range rows {
				if widthOf(row) > c.columns {
					t.Errorf("%q is wider than %d", row, c.columns)
				}
			}
		})
	}
}

// wrote is the result of a tool that has written a file.
func wrote(created bool, text string) agent.Result {
	r := agent.TextResult("Replaced it")
	r.Touched = &agent.Touched{Path: "/x", Change: &agent.FileChange{Created: created, After: text}}
	return r
}

func TestAllOfANewFileCanBeShown(t *testing.T) {
	const lines = 100_000 // which takes no time, as long as each is looked at once
	var whole wholeCall
	e := ended{name: "write", title: []string{"write x"}, result: wrote(true, strings.Repeat("line\n", lines)), number: func(w wholeCall) int { whole = w; return 1 }}
	if rows := e.rows(terminal.Palette{}, 80); len(rows) != 1+newRowsShown+1 {
		t.Errorf("%d rows", len(rows))
	}
	if rows := whole(80, nil, nil); len(rows) != 1+lines || rows[lines] != "  100000 + line" {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1])
	}
}

func TestTheTimeOfACallStandsWhileItWaits(t *testing.T) {
	x, now := calls{}, time.Unix(1000, 0)
	row := func(after time.Duration) string { return x.liveRows(60, now.Add(after*time.Second))[0] }
	x.start("1", "bash", []string{"bash make"})
	for _, c := range []struct {
		at   time.Duration
		do   func(at time.Time)
		want string
	}{
		{5, func(time.Time) {}, "• bash make"}, // its gate is asked
		{6, func(at time.Time) { x.clock("1", true, at) }, "• bash make 0 s"},
		{8, func(at time.Time) { x.clock("1", false, at) }, "• bash make 2 s"},
		{60, func(at time.Time) { x.clock("1", true, at) }, "• bash make 2 s"},
		{63, func(time.Time) {}, "• bash make 5 s"},
		{64, func(at time.Time) { x.clock("1", false, at); x.ran("1", false, at.Add(time.Minute)) }, "• bash make ✓ 6 s"},
	} {
		if c.do(now.Add(c.at * time.Second)); row(c.at) != c.want {
			t.Errorf("at %d s: %q, want %q", c.at, row(c.at), c.want)
		}
	}
}

func TestAllOfACallCanBeShown(t *testing.T) {
	input := json.RawMessage(`{"command":"one\ntwo\nthree\nfour\nfive"}`)
	var whole wholeCall
	e := ended{name: "bash", input: input, title: titleOf("bash", input), result: agent.TextResult(numbered(41)),
		number: func(w wholeCall) int { whole = w; return 7 }}
	if head := e.rows(terminal.Palette{}, 80)[0]; head != "• bash one ✓ 41 lines · #7 · Ctrl+O" {
		t.Errorf("head %q", head)
	}
	rows := whole(80, nil, nil)
	if len(rows) != 5+41 || rows[0] != "• bash one" || strings.TrimSpace(rows[4]) != "five" || rows[45] != "  xline" {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
}

func TestARunningCallIsOneRowWithTheEndOfItsOutput(t *testing.T) {
	for _, c := range []struct {
		columns int
		want    string
	}{
		{60, "• bash make 0 s|  │ b|  │ c  (last 2 of 3)"},
		{20, "• bash make 0 s|  │ b|  │ c"},
		{9, "• bash m…|  │ b|  │ c"},
	} {
		x := calls{}
		x.start("1", "bash", []string{"bash make"})
		x.clock("1", true, time.Unix(1000, 0))
		x.update("1", agent.TextResult("a\nb\nc"))
		if got := strings.Join(x.liveRows(c.columns, time.Unix(1000, 0)), "|"); got != c.want {
			t.Errorf("%d columns: %s, want %s", c.columns, got, c.want)
		}
	}
	x, now := calls{}, time.Unix(1000, 0)
	x.start("1", "bash", []string{"bash make"})
	x.start("2", "ls", []string{"ls"})
	x.clock("1", true, now)
	x.clock("2", true, now)
	x.ran("2", true, now.Add(3*time.Second))
	if rows := x.liveRows(60, now.Add(9*time.Second)); rows[len(rows)-1] != "• ls ✗ 3 s" {
		t.Errorf("%q", rows)
	}
	if title, ran := x.running(now.Add(9 * time.Second)); title != "bash make" || ran != 9*time.Second {
		t.Errorf("%q runs for %v", title, ran)
	}
	x.end("2", markFailed, []string{"• ls ✗"}, 3*time.Second)
	if rows := x.liveRows(60, now.Add(9*time.Second)); rows[len(rows)-1] != "• ls ✗ 3 s" { // its result waited, it did not run
		t.Errorf("%q", rows)
	}
	if rows := x.drop(); len(rows) != 1 || rows[0] != "• ls ✗" || x.all != nil {
		t.Errorf("dropped %q", rows)
	}
}

func TestNotesForTheModelAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"out\n\n[exit status 1]":      "out",
		"out\n\n[one]\n[two]":         "out",
		"[exit status 1]":             "",
		"a\n\n[not the end]\nb":       "a\n\n[not the end]\nb",
		"[1, 2]\nout":                 "[1, 2]\nout",
		"out [exit status 1]":         "out [exit status 1]",
		"out\n\n[a]\n\n[exit status]": "out\n\n[a]",
	} {
		if got := withoutNotes(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
