package repl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// diffLine is a line of a difference, with its number in the file that it is in.
type diffLine struct {
	mark   byte // '+', '-', ' ', or '…' between two parts of the file
	number int
	text   string
}

// parsedDiff is a unified difference in lines.
type parsedDiff struct {
	lines          []diffLine
	added, removed int
}

// parseDiff reads a unified difference. Lines that are none of it are skipped.
func parseDiff(text string) (d parsedDiff) {
	head := regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)
	before, after := 0, 0
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if m := head.FindStringSubmatch(line); m != nil {
			if before > 0 || after > 0 {
				d.lines = append(d.lines, diffLine{mark: '~'})
			}
			before, _ = strconv.Atoi(m[1])
			after, _ = strconv.Atoi(m[2])
			continue
		}
		if before == 0 && after == 0 || line == "" {
			continue
		}
		switch line[0] {
		case '+':
			d.lines = append(d.lines, diffLine{'+', after, line[1:]})
			after++
			d.added++
		case '-':
			d.lines = append(d.lines, diffLine{'-', before, line[1:]})
			before++
			d.removed++
		case ' ':
			d.lines = append(d.lines, diffLine{' ', after, line[1:]})
			before++
			after++
		}
	}
	return d
}

// allAdded is the difference to nothing of a text that is not empty.
func allAdded(text string) (d parsedDiff) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		d.lines = append(d.lines, diffLine{'+', i + 1, line})
	}
	d.added = len(d.lines)
	return d
}

// beginning are the first lines, each cut to one row; whole says that these are all.
func (d parsedDiff) beginning(most, columns int) (lines []diffLine, whole bool) {
	n := len(d.lines)
	if whole = n <= most+1; !whole { // a row that tells of one more line is no shorter than that line
		n = most
	}
	room := columns - len(strconv.Itoa(n)) - diffMargin
	for _, line := range d.lines[:n] {
		text := strings.ReplaceAll(line.text, "\t", "    ")
		if line.text = cells.Cut(text, max(1, room)); line.text != text {
			whole = false
		}
		lines = append(lines, line)
	}
	return lines, whole
}

// counts are the numbers of added and removed lines in words.
func (d parsedDiff) counts() string { return fmt.Sprintf("+%d −%d", d.added, d.removed) }

// changes returns the lines that were added or removed, and those between two of them
// that are at most two apart.
func (d parsedDiff) changes() (lines []diffLine) {
	last := -1
	for i, line := range d.lines {
		if line.mark != '+' && line.mark != '-' {
			continue
		}
		switch gap := i - last - 1; {
		case last >= 0 && gap > 2:
			lines = append(lines, diffLine{mark: '~'})
		case last >= 0:
			lines = append(lines, d.lines[last+1:i]...)
		}
		lines = append(lines, line)
		last = i
	}
	return lines
}

// diffRowsShown is how many rows of a difference are shown, and newRowsShown how many lines
// of a new file, each in a row of its own.
const (
	diffRowsShown = 40
	newRowsShown  = 10
)

// change is what the call has made of a file: an edit, or a new one; ok is false for neither.
func (e ended) change(d toolDetails) (diff parsedDiff, isNew, ok bool) {
	switch t := e.result.Touched; {
	case e.result.IsError:
	case d.Diff != "":
		return parseDiff(printable.Text(d.Diff)), false, true
	case t != nil && t.Change != nil && t.Change.Created && t.Change.After != "":
		return allAdded(printable.Text(t.Change.After)), true, true
	}
	return parsedDiff{}, false, false
}

// foldedChange are the rows of a change that are shown at first; hidden says that there are
// more.
func foldedChange(diff parsedDiff, isNew bool, p terminal.Palette, columns int) (rows []string, hidden bool) {
	more := func(n int, what string) string { return p.Paint("dim", fmt.Sprintf("  … %d more %s", n, what)) }
	if isNew {
		lines, whole := diff.beginning(newRowsShown, columns)
		if rows = diffRows(lines, p, columns); len(lines) < len(diff.lines) {
			rows = append(rows, more(len(diff.lines)-len(lines), "lines"))
		}
		return rows, !whole
	}
	rows = diffRows(diff.changes(), p, columns)
	if n := len(rows) - diffRowsShown; n > 1 {
		return append(rows[:diffRowsShown:diffRowsShown], more(n, "rows")), true
	}
	return rows, false
}

// rows draws lines of a difference: number, mark and text. A long line goes on under its
// text, and the part of a changed line that is different is marked.
func diffRows(lines []diffLine, p terminal.Palette, columns int) (rows []string) {
	digits := 1
	for _, line := range lines {
		digits = max(digits, len(strconv.Itoa(line.number)))
	}
	run := changeRun{}
	for i, line := range lines {
		if i >= run.end {
			run = runAt(lines, i)
		}
		if line.mark == '~' {
			rows = append(rows, cells.Cut(p.Paint("dim", "  "+strings.Repeat(" ", max(0, digits-1))+"⋮"), columns))
			continue
		}
		from, to := 0, 0
		if other, ok := run.counterpart(lines, i); ok {
			from, to = different(line.text, other)
		}
		rows = append(rows, diffRow(line, from, to, digits, p, columns)...)
	}
	return rows
}

// changeRun is a run of removed lines, and of added ones behind them.
type changeRun struct{ removed, added, end int } // where they begin, and where they end

// runAt is the run that begins at a line; that has at least this one line, changed or not.
func runAt(lines []diffLine, i int) changeRun {
	r := changeRun{removed: i, added: i}
	for r.added < len(lines) && lines[r.added].mark == '-' {
		r.added++
	}
	for r.end = r.added; r.end < len(lines) && lines[r.end].mark == '+'; r.end++ {
	}
	r.end = max(r.end, i+1)
	return r
}

// counterpart returns the text that a removed line of the run was replaced by, or that an
// added line replaces, if as many were added as removed.
func (r changeRun) counterpart(lines []diffLine, i int) (string, bool) {
	n := r.added - r.removed
	switch {
	case n == 0 || n != r.end-r.added:
		return "", false
	case i < r.added:
		return lines[i+n].text, true
	}
	return lines[i-n].text, true
}

// different returns the part of text, in bytes, that other does not share at its
// beginning or end; nothing if they share nothing.
func different(text, other string) (from, to int) {
	a, b := clusters(text), clusters(other)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head+tail == 0 {
		return 0, 0
	}
	return len(strings.Join(a[:head], "")), len(strings.Join(a[:len(a)-tail], ""))
}

func clusters(text string) (all []string) {
	for c := range cells.Clusters(text) {
		all = append(all, c)
	}
	return all
}

// diffMargin is how many cells there are beside the number and the text of a line.
const diffMargin = 5

// diffRow draws one line, whose bytes from from to to are different.
func diffRow(line diffLine, from, to, digits int, p terminal.Palette, columns int) (rows []string) {
	style := map[byte]string{'+': "success", '-': "error", ' ': "dim"}[line.mark]
	text := line.text
	if from < to && p.On {
		text = text[:from] + "\x1b[7m" + text[from:to] + "\x1b[27m" + text[to:]
	}
	text = strings.ReplaceAll(text, "\t", "    ")
	first := fmt.Sprintf("  %*d %c ", digits, line.number, line.mark)
	room := columns - digits - diffMargin
	if room < 4 {
		return []string{cells.Cut(p.Paint(style, first+text), columns)}
	}
	for i, part := range cells.Wrap(text, room) {
		if i == 1 {
			first = strings.Repeat(" ", len(first))
		}
		rows = append(rows, p.Paint(style, first+part))
	}
	return rows
}
