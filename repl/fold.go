package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/session/message"
)

// A result is shown folded: its last rows, with the count of those that are hidden.
// The whole of it stays at hand under a number, for Ctrl+O and /expand.

// foldsKept is how many results can be shown again, the newest ones.
const foldsKept = 500

// folded is a block that is shown in part.
type folded struct {
	number int
	title  string
	whole  func(columns int) []string // all its rows
}

// folds are the blocks that can be shown whole, oldest first.
type folds struct {
	all  []folded
	last int // the number of the newest
	next int // index in all of the block that Ctrl+O shows next, counted from the end
}

// add stores a block and returns its number. Ctrl+O begins with it.
func (f *folds) add(title string, whole func(columns int) []string) int {
	f.last++
	f.all = append(f.all, folded{f.last, title, whole})
	if len(f.all) > foldsKept {
		f.all = f.all[len(f.all)-foldsKept:]
	}
	f.next = 0
	return f.last
}

// again has Ctrl+O begin with the newest block once more, because another key was
// pressed.
func (f *folds) again() { f.next = 0 }

// older returns the newest block that Ctrl+O has not shown yet.
func (f *folds) older() (folded, bool) {
	i := len(f.all) - 1 - f.next
	if i < 0 {
		return folded{}, false
	}
	f.next++
	return f.all[i], true
}

// find returns the block with a number.
func (f *folds) find(number int) (folded, bool) {
	for _, b := range f.all {
		if b.number == number {
			return b, true
		}
	}
	return folded{}, false
}

// lastLines are the last lines of many, as rows of at most columns cells, and how many
// lines before them are hidden.
func lastLines(lines []string, most, columns int) (rows []string, hidden int) {
	if hidden = len(lines) - most; hidden <= 1 {
		hidden = 0 // a row that tells of one hidden line is no shorter than that line
	}
	for _, line := range lines[hidden:] {
		rows = append(rows, cells.Cut(strings.ReplaceAll(line, "\t", "    "), columns))
	}
	return rows, hidden
}

// toolDetails are the details of results that the terminal knows.
type toolDetails struct {
	Diff       string `json:"diff"`
	ExitCode   *int   `json:"exitCode"`
	Truncation *struct {
		TotalLines  int `json:"totalLines"`
		OutputLines int `json:"outputLines"`
	} `json:"truncation"`
	FullOutputPath string `json:"fullOutputPath"`
}

// detailsOf reads the details of a result; those of another form are empty.
func detailsOf(r agent.Result) (d toolDetails) {
	if len(r.Details) > 0 && json.Unmarshal(r.Details, &d) != nil {
		return toolDetails{}
	}
	return d
}

// resultText joins the texts of a result; an image is its type in brackets.
func resultText(r agent.Result) string {
	var parts []string
	for _, b := range r.Content {
		switch b.Type {
		case message.BlockText:
			parts = append(parts, b.Text)
		case message.BlockImage:
			parts = append(parts, "["+b.MimeType+"]")
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// outputLines are the lines of a text without the empty ones at its end.
func outputLines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// withoutNotes cuts what the bash tool tells the model behind an output, in brackets.
func withoutNotes(text string) string {
	i := strings.LastIndex(text, "\n\n[")
	if i < 0 {
		if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && !strings.Contains(text, "\n") {
			return ""
		}
		return text
	}
	for line := range strings.SplitSeq(text[i+2:], "\n") {
		if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
			return text
		}
	}
	return text[:i]
}

// lastStates undoes what a program has overwritten: of a line with carriage returns,
// the last state counts.
func lastStates(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// pagedRows is from how many rows on a block is shown by the pager.
const pagedRows = 200

// expandNext shows the newest folded block whole that Ctrl+O has not shown yet. The
// caller has the lock.
func (k *keyboard) expandNext() after {
	s := k.screen
	block, ok := s.folds.older()
	if !ok {
		s.answerKey("nothing is folded")
		return nil
	}
	return func() { go k.expand(block) }
}

// expand shows a folded block whole: a long one through the pager while nothing runs,
// else in the transcript.
func (k *keyboard) expand(b folded) {
	s := k.screen
	s.mu.Lock()
	columns, busy := s.columns, len(s.activity.tasks) > 0
	s.mu.Unlock()
	rows := b.whole(columns)
	if len(rows) >= pagedRows && !busy && !k.user.term.Plain() && k.page(rows) {
		return
	}
	rows = append([]string{s.palette.Paint("dim", fmt.Sprintf("#%d %s", b.number, printable.Line(b.title)))}, rows...)
	s.change(func() { s.interject(kindNotice, 0, s.wrapped(rows)) })
}

// page shows rows with the pager, and reports whether that could be started.
func (k *keyboard) page(rows []string) bool {
	words := strings.Fields(k.opts.Pager)
	if len(words) == 0 {
		words = []string{"less", "-R"}
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return false
	}
	started := false
	err = k.user.lend(func() error {
		cmd := exec.Command(path, words[1:]...)
		cmd.Stdin = strings.NewReader(strings.Join(rows, "\n") + "\n")
		cmd.Stdout, cmd.Stderr = k.opts.Out, k.opts.Out
		cmd.Env = os.Environ()
		if err := cmd.Start(); err != nil {
			return err
		}
		started = true
		return cmd.Wait()
	})
	if err != nil && started {
		k.user.Notify(fmt.Sprintf("the pager %s: %v", words[0], err), agent.LevelWarning)
	}
	return started
}

// expandCommand is /expand N.
func (k *keyboard) expandCommand(_ context.Context, args string) (command.Outcome, error) {
	s := k.screen
	s.mu.Lock()
	var block folded
	ok := false
	if args == "" {
		block, ok = s.folds.older()
	} else if n, err := strconv.Atoi(strings.TrimPrefix(args, "#")); err == nil {
		block, ok = s.folds.find(n)
	}
	last := s.folds.last
	s.mu.Unlock()
	switch {
	case ok:
		k.expand(block)
		return command.Outcome{}, nil
	case last == 0:
		return command.Outcome{}, fmt.Errorf("nothing is folded yet")
	}
	return command.Outcome{}, fmt.Errorf("no folded block %q: there are #%d to #%d", args, max(1, last-foldsKept+1), last)
}
