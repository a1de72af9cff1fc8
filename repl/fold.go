package repl

import (
	"fmt"
	"strings"
	"time"

	"pi/internal/cells"
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

// seconds is a time as it is shown: whole seconds, with minutes from one on.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
	if d < time.Hour {
		return fmt.Sprintf("%d min %d s", int(d/time.Minute), int(d%time.Minute/time.Second))
	}
	return fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
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
