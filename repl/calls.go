package repl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// A tool call is one row in the live zone while it runs, with the last rows of what it
// prints. When it has ended, and all calls before it have, its rows go into the
// transcript: the calls are there in their order, as in the session.

// call is a tool call whose rows are not in the transcript yet.
type call struct {
	id, name string
	title    []string      // rows of the call itself, the first without its bullet
	note     string        // a hook has rewritten it
	runs     time.Time     // since when its time runs; zero: it stands
	took     time.Duration // until then
	tail     []string      // the last lines of its output so far
	lines    int           // how many lines of output there are so far
	rows     []string      // of the ended call, for the transcript
	mark     string        // of the ended call: ✓ or ✗
	drawn    *drawnCall    // for the hooks that draw it
	progress []string      // what it has reported last, as a hook draws it; nil: none does
}

// calls are the calls of the answer at hand, in their order.
type calls struct {
	palette terminal.Palette
	all     []*call
}

func (c *calls) find(id string) *call {
	if i := slices.IndexFunc(c.all, func(x *call) bool { return x.id == id && x.rows == nil }); i >= 0 {
		return c.all[i]
	}
	return nil
}

// start adds a call.
func (c *calls) start(id, name string, title []string) *call {
	x := &call{id: id, name: name, title: title}
	c.all = append(c.all, x)
	return x
}

// clock has the time of a call run from now on, or stand.
func (c *calls) clock(id string, runs bool, now time.Time) {
	x := c.find(id)
	if x == nil {
		return
	}
	if x.took, x.runs = x.ranFor(now), (time.Time{}); runs {
		x.runs = now
	}
}

// update stores what a call has printed so far, and returns it for the hooks that draw it;
// nil if there is none.
func (c *calls) update(id string, partial agent.Result) *drawnCall {
	x := c.find(id)
	if x == nil {
		return nil
	}
	lines := outputLines(printable.Text(lastStates(resultText(partial))))
	x.lines = len(lines)
	if d := detailsOf(partial); d.Truncation != nil {
		x.lines = d.Truncation.TotalLines
	}
	x.tail = lines[max(0, len(lines)-tailRows):]
	return x.drawn
}

// tailRows is how many lines of a running call's output are shown.
const tailRows = 2

// ran notes that the tool of a call has ended.
func (c *calls) ran(id string, failed bool, now time.Time) {
	if x := c.find(id); x != nil {
		x.took, x.runs, x.mark = x.ranFor(now), time.Time{}, markDone
		if failed {
			x.mark = markFailed
		}
	}
}

// ranFor is how long the tool ran, or has been running.
func (x *call) ranFor(now time.Time) time.Duration {
	if x.runs.IsZero() {
		return x.took
	}
	return x.took + now.Sub(x.runs)
}

// end stores how a call ended, and removes and returns the rows of the calls that have
// ended and have no running one before them.
func (c *calls) end(id, mark string, rows []string, took time.Duration) (done []string) {
	if x := c.find(id); x != nil {
		x.rows, x.took, x.runs, x.mark = rows, took, time.Time{}, mark
	}
	for len(c.all) > 0 && c.all[0].rows != nil {
		done = append(done, c.all[0].rows...)
		c.all = c.all[1:]
	}
	return done
}

// drop removes all calls, for a run that has ended, and returns the rows of those that
// had ended behind one that did not.
func (c *calls) drop() (done []string) {
	for _, x := range c.all {
		done = append(done, x.rows...)
		if x.drawn != nil {
			x.drawn.over.Store(true)
		}
	}
	c.all = nil
	return done
}

// running is the title of the newest call that runs, and for how long; "" for none.
func (c *calls) running(now time.Time) (title string, ran time.Duration) {
	for _, x := range slices.Backward(c.all) {
		if x.mark == "" {
			return x.title[0], x.ranFor(now)
		}
	}
	return "", 0
}

// liveRows are the rows of the zone: each call, and what those that run print.
func (c *calls) liveRows(columns int, now time.Time) (rows []string) {
	for _, x := range c.all {
		if x.mark != "" {
			rows = append(rows, c.headRow(x, c.mark(x.mark)+" "+printable.Seconds(x.took), columns))
			continue
		}
		ran := ""
		if !x.runs.IsZero() || x.took > 0 { // hooks have let the tool run
			ran = printable.Seconds(x.ranFor(now))
		}
		rows = append(rows, c.headRow(x, ran, columns))
		if x.progress != nil {
			drawn, _ := foldedDrawing(x.progress, c.palette, columns)
			rows = append(rows, drawn...)
			continue
		}
		rows = append(rows, c.tailRows(x, columns)...)
	}
	return rows
}

// tailRows are the last lines of what a call has printed.
func (c *calls) tailRows(x *call, columns int) (rows []string) {
	for i, line := range x.tail {
		row := "  │ " + strings.ReplaceAll(line, "\t", "    ")
		count := fmt.Sprintf("  (last %d of %d)", len(x.tail), x.lines)
		if i < len(x.tail)-1 || x.lines <= len(x.tail) || columns-len(count) < 24 {
			count = "" // the output matters more than how much of it there is
		}
		rows = append(rows, c.palette.Paint("dim", cells.Cut(row, columns-len(count))+count))
	}
	return rows
}

// headRow is the first row of a call with something behind it, which is cut last, or nothing.
func (c *calls) headRow(x *call, behind string, columns int) string {
	if behind == "" {
		return c.palette.Paint("tool_title", cells.Cut("• "+x.title[0], columns))
	}
	room := columns - cells.Width(behind) - 1
	if room < 6 {
		return c.headRow(x, "", columns)
	}
	return c.palette.Paint("tool_title", cells.Cut("• "+x.title[0], room)) + " " + c.palette.Paint("dim", behind)
}

func (c *calls) mark(mark string) string {
	style := "success"
	if mark == markFailed {
		style = "error"
	}
	return c.palette.Paint(style, mark)
}

const (
	markDone   = "✓"
	markFailed = "✗"
)

// commandRows is how many lines of a command are shown.
const commandRows = 3

// titleOf names a call by its tool and its argument: one row, of a command with several
// lines the first three and their number.
func titleOf(name string, input json.RawMessage) (rows []string) {
	lines := strings.Split(agent.CallTarget(input), "\n")
	rows = append(rows, strings.TrimSpace(printable.Line(name)+" "+strings.ReplaceAll(lines[0], "\t", " ")))
	if len(lines) == 1 {
		return rows
	}
	for _, line := range lines[1:min(len(lines), commandRows)] {
		rows = append(rows, strings.ReplaceAll(line, "\t", "    "))
	}
	if n := len(lines) - commandRows; n > 0 {
		rows = append(rows, fmt.Sprintf("… %s in all", printable.Count(len(lines), "line")))
	}
	return rows
}

// outputRows is how many rows of a result are shown.
const outputRows = 5

// ended is a call that has ended, as it is put into the transcript.
type ended struct {
	name   string
	input  json.RawMessage
	title  []string
	note   string
	result agent.Result
	took   time.Duration
	drawn  []string // by a hook; nil: none did
	more   bool     // a hook draws it otherwise in full
	plain  bool     // states are said in words
	number func(whole wholeCall) int
}

// wholeCall draws all of a call. Title and drawn are the call and its result as hooks draw
// them in full; nil where none does.
type wholeCall func(columns int, title, drawn []string) []string

// rows are those of the transcript. number is called for what is not shown whole, with
// what it would be.
func (e ended) rows(p terminal.Palette, columns int) []string {
	d := detailsOf(e.result)
	text := resultText(e.result)
	if e.name == "bash" {
		text = withoutNotes(text)
		if text == "(no output)" {
			text = ""
		}
	}
	lines := outputLines(printable.Text(lastStates(text)))
	if n := len(lines) - 1; e.result.Interrupted && n >= 0 && lines[n] == "interrupted" {
		lines = lines[:n] // the first row says so
	}
	body, facts, hidden := e.body(d, lines, p, columns)
	total := len(lines)
	if d.Truncation != nil {
		total = d.Truncation.TotalLines
	}
	behind := e.facts(d, facts, total)
	if hidden || e.more || len(e.title) > 1 {
		n := e.number(func(columns int, title, drawn []string) []string {
			return append(e.wholeHead(title, p), e.whole(d, lines, drawn, p, columns)...)
		})
		behind = append(behind, wayToWhole(n, e.plain)...)
	}
	rows := []string{e.head(behind, p, columns)}
	for _, row := range e.title[1:] {
		rows = append(rows, p.Paint("tool_title", cells.Cut("    "+row, columns)))
	}
	if e.note != "" {
		rows = append(rows, p.Paint("dim", cells.Cut("  "+e.note, columns)))
	}
	rows = append(rows, body...)
	for i, row := range rows {
		rows[i] = cells.Cut(row, columns)
	}
	return rows
}

// wayToWhole names a folded block, and how it is shown whole. In plain mode Ctrl+O is no key.
func wayToWhole(number int, plain bool) []string {
	if plain {
		return []string{fmt.Sprintf("/expand %d", number)}
	}
	return []string{fmt.Sprintf("#%d", number), "Ctrl+O"}
}

// facts are the words behind the mark: time, exit status, lines.
func (e ended) facts(d toolDetails, more string, lines int) (facts []string) {
	if e.result.Interrupted && !e.plain {
		facts = append(facts, "interrupted")
	}
	if e.took >= time.Second {
		facts = append(facts, printable.Seconds(e.took))
	}
	if d.ExitCode != nil && *d.ExitCode != 0 {
		facts = append(facts, fmt.Sprintf("exit %d", *d.ExitCode))
	}
	switch {
	case more != "":
		facts = append(facts, more)
	case lines > 1 && e.drawn == nil:
		facts = append(facts, printable.Count(lines, "line"))
	}
	return facts
}

// head is the first row: as many of the words behind the mark as there is room for next
// to the beginning of the title. The number of the block stays longest.
func (e ended) head(behind []string, p terminal.Palette, columns int) string {
	mark, style := markDone, "success"
	if e.result.IsError {
		mark, style = markFailed, "error"
	}
	title := "• " + e.title[0]
	if e.plain {
		title = plainTitle(e.title[0])
		mark = map[string]string{markDone: "done", markFailed: "failed"}[mark]
		if e.result.Interrupted {
			mark = "interrupted"
		}
	}
	least := min(cells.Width(e.title[0])+2, max(8, columns/3))
	for len(behind) > 0 && least+3+cells.Width(strings.Join(behind, " · ")) > columns {
		drop := len(behind) - 1
		if strings.ContainsAny(behind[drop][:1], "#/") && len(behind) > 1 {
			drop--
		}
		behind = slices.Delete(behind, drop, drop+1)
	}
	tail := " " + mark
	words := strings.Join(behind, " · ")
	if words != "" {
		words = " " + words
	}
	title = cells.Cut(title, max(1, columns-cells.Width(tail)-cells.Width(words)))
	return p.Paint("tool_title", title) + p.Paint(style, tail) + p.Paint("dim", words)
}

// plainTitle is a title in words: "tool bash: ls".
func plainTitle(title string) string {
	name, rest, _ := strings.Cut(title, " ")
	return strings.TrimSuffix("tool "+name+": "+rest, " ")
}

// body are the rows below the title. facts are words that take the place of the number
// of lines, hidden says that something is not shown.
func (e ended) body(d toolDetails, lines []string, p terminal.Palette, columns int) (rows []string, facts string, hidden bool) {
	if e.drawn != nil {
		rows, hidden = foldedDrawing(e.drawn, p, columns)
		return rows, "", hidden
	}
	if diff, isNew, ok := e.change(d); ok {
		rows, hidden = foldedChange(diff, isNew, p, columns)
		return rows, diff.counts(), hidden
	}
	if e.name == "read" && !e.result.IsError {
		return nil, "", len(lines) > 0
	}
	if e.result.IsError && len(lines) <= outputRows && d.ExitCode == nil {
		var wrapped []string // an error is read to its end
		for _, line := range lines {
			wrapped = append(wrapped, cells.Wrap(line, max(1, columns-2))...)
		}
		lines = wrapped
	}
	shown, n := lastLines(lines, outputRows, max(1, columns-2))
	if n > 0 {
		rows = append(rows, p.Paint("dim", cells.Cut(fmt.Sprintf("  … %d earlier", n), columns)))
	}
	dropped := 0
	if d.Truncation != nil {
		dropped = d.Truncation.TotalLines - d.Truncation.OutputLines
	}
	if dropped > 0 {
		rows = append([]string{p.Paint("dim", cells.Cut(fmt.Sprintf("  … %s dropped before them", printable.Count(dropped, "line")), columns))}, rows...)
	}
	style := "dim"
	if e.result.IsError {
		style = "tool_output"
	}
	for _, row := range shown {
		rows = append(rows, p.Paint(style, "  "+row))
	}
	return rows, "", n > 0 || dropped > 0 || slices.ContainsFunc(lines, func(line string) bool { return cells.Width(line) > columns-2 })
}

// foldedDrawing is a result as a hook draws it, and whether some of it is hidden.
func foldedDrawing(drawn []string, p terminal.Palette, columns int) (rows []string, hidden bool) {
	if n := len(drawn) - diffRowsShown; n > 1 {
		return append(indented(drawn[:diffRowsShown], columns), p.Paint("dim", fmt.Sprintf("  … %d more", n))), true
	}
	return indented(drawn, columns), false
}

func indented(rows []string, columns int) (all []string) {
	for _, row := range rows {
		all = append(all, cells.Cut("  "+row, columns))
	}
	return all
}

// wholeHead is the call with all of its arguments, as a hook draws it unless title is nil:
// a command then has all of its lines.
func (e ended) wholeHead(title []string, p terminal.Palette) (rows []string) {
	switch {
	case title != nil:
	case len(e.title) == 1 || e.input == nil:
		title = e.title
	default:
		title = strings.Split(agent.CallTarget(e.input), "\n")
		title[0] = e.name + " " + title[0]
	}
	for i, row := range title {
		sign := "• "
		if i > 0 {
			sign = "    "
		}
		rows = append(rows, p.Paint("tool_title", sign+row))
	}
	return rows
}

// whole is all of the result, as a hook draws it unless drawn is nil.
func (e ended) whole(d toolDetails, lines, drawn []string, p terminal.Palette, columns int) (rows []string) {
	if drawn != nil {
		return indented(drawn, columns)
	}
	if diff, _, ok := e.change(d); ok {
		return diffRows(diff.lines, p, columns)
	}
	for _, line := range lines {
		rows = append(rows, "  "+strings.ReplaceAll(line, "\t", "    "))
	}
	if d.FullOutputPath != "" {
		rows = append(rows, p.Paint("dim", "  all of it: "+printable.Text(d.FullOutputPath)))
	}
	return rows
}
