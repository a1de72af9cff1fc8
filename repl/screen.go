package repl

import (
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// screen is everything that the user sees, behind one lock: rows on their way into
// the transcript, and the parts of the live zone below it. The painter of the terminal
// asks for both at once (frame), so that a row is never in both or in neither.
type screen struct {
	look
	now      func() time.Time
	keysWait func() bool // something was typed that was not read yet

	mu      sync.Mutex // guards the rest
	drained *sync.Cond // pending was handed to the terminal
	term    *terminal.Terminal
	columns int
	outgoing
	closed  bool
	hurried bool // nobody waits for the terminal, which may take nothing any more

	writer   transcriptWriter
	calls    calls
	agents   agentRows
	folds    folds
	notices  notices
	activity activity
	queue    []queuedRow
	widgets  widgets
	status   status
	panels   panels
	line     *line
	window   window
	hookTold time.Time // when a hook last told something on the desktop
}

// look is how the screen shows things.
type look struct {
	palette      terminal.Palette
	plain        bool // no live zone: rows are written as they come
	highlight    bool
	showThinking bool
	notifyWith   string // "bell", "osc9"; else nothing is sent when the user looks elsewhere
	menuWith     string // "tab": no menu opens by itself
}

// window is whether the window of the terminal is in front, once the terminal has told.
type window struct{ known, inFront bool }

// outgoing are rows on their way into the transcript.
type outgoing struct {
	pending []string
	size    int // their bytes
}

// pendingMost is how many bytes may wait for a terminal that is slower than the model,
// before the model has to wait.
const pendingMost = 1 << 20

// close has nothing wait for the terminal any more, and all components closed.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.hurried = true, true
	s.endBlock()
	s.term.Print(s.take()...)
	for _, x := range s.panels.components {
		x.cancel()
	}
	s.widgets.end()
	s.drained.Broadcast()
}

func newScreen(p terminal.Palette, plain bool, columns int) *screen {
	s := &screen{look: look{palette: p, plain: plain}, columns: columns, now: time.Now, keysWait: func() bool { return false }}
	s.drained = sync.NewCond(&s.mu)
	s.calls.palette, s.notices.palette = p, p
	return s
}

// setLight says whether the background is light. The caller has the lock.
func (s *screen) setLight(light bool) {
	s.palette.Light = light
	s.calls.palette, s.notices.palette = s.palette, s.palette
}

// change calls f with the lock and has the zone painted in the next frame, or in plain mode
// writes the rows. It waits while too much is on its way to the terminal.
func (s *screen) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.size > pendingMost && !s.hurried {
		s.drained.Wait()
	}
	f()
	switch {
	case s.term == nil:
	case s.plain:
		s.term.Print(s.take()...)
	default:
		s.term.Changed()
	}
}

// isPlain reports whether lines are read and nothing is painted. While the terminal is being
// taken over it waits for that.
func (s *screen) isPlain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plain
}

// stopWaiting has nobody wait for the terminal from now on, because the program is to end.
func (s *screen) stopWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hurried = true
	s.drained.Broadcast()
}

// key calls f with the lock and has the zone painted at once.
func (s *screen) key(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	if s.term != nil && !s.plain {
		s.term.Echo()
	}
}

// take removes and returns the rows for the transcript. The caller has the lock.
func (s *screen) take() []string {
	rows := s.pending
	s.pending, s.size = nil, 0
	s.drained.Broadcast()
	return rows
}

// frame hands over the rows for the transcript and returns the live zone below them.
// The painter calls it.
func (s *screen) frame(columns, rows int) terminal.Zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	if columns != s.columns && columns > 0 {
		s.columns = columns
		if s.writer.open != nil {
			s.writer.open.SetColumns(columns)
		}
	}
	z := s.zone(columns, rows)
	if len(s.pending) > 0 && s.term != nil { // it paints before it is known here
		s.term.Print(s.take()...)
	}
	return z
}

// add puts rows into the transcript, below a blank row if what is there is of another
// kind. The caller has the lock.
func (s *screen) add(k kind, rows ...string) {
	if len(rows) == 0 {
		return
	}
	if s.writer.last != kindNone && needsBlank(s.writer.last, k) {
		s.pending = append(s.pending, "")
	}
	s.writer.last = k
	for _, row := range rows {
		s.pending = append(s.pending, row)
		s.size += len(row) + 1
	}
}

// needsBlank reports whether a blank row stands between two kinds of rows.
func needsBlank(before, k kind) bool {
	switch k {
	case kindPrompt: // two prompts are apart too
		return true
	case before, kindNotice, kindRows:
		return false
	case kindTool:
		return before == kindPrompt || before == kindText || before == kindThinking
	}
	return true
}

// print puts rows of a command or of the program into the transcript, each wrapped at
// words. They must be clean. During an answer they are in the zone at first.
func (s *screen) print(rows ...string) {
	s.change(func() { s.interject(kindRows, 0, s.wrapped(rows)) })
}

// printNow is print for what has to be in the transcript before the program goes on, such
// as a question in plain mode. It ends the open block.
func (s *screen) printNow(rows ...string) {
	s.change(func() {
		s.endBlock()
		s.add(kindRows, s.wrapped(rows)...)
	})
}

// wrapped are rows, cut at words where they are too long. The caller has the lock.
func (s *screen) wrapped(rows []string) (all []string) {
	for _, row := range rows {
		for part := range strings.SplitSeq(row, "\n") {
			all = append(all, cells.Wrap(part, max(1, s.columns))...)
		}
	}
	return all
}

// echo shows a prompt, marked, with blank rows around it: shown are its rows where the
// user typed it. The caller has the lock.
func (s *screen) echo(text string, shown, attached []string) {
	sign, rest := promptSign, strings.Repeat(" ", cells.Width(promptSign))
	if s.plain {
		sign, rest = "you: ", ""
	}
	var rows []string
	for _, row := range s.wrapped(shown) { // the window may be narrower than it was then
		rows = append(rows, s.palette.Paint("user", row))
	}
	if shown != nil {
		text = ""
	}
	for i, line := range outputLines(printable.Text(text)) {
		for j, part := range cells.Wrap(strings.ReplaceAll(line, "\t", "    "), max(1, s.columns-len(sign))) {
			if i == 0 && j == 0 {
				rows = append(rows, s.palette.Paint("user", sign+part))
				continue
			}
			rows = append(rows, s.palette.Paint("user", rest+part))
		}
	}
	for _, a := range attached {
		rows = append(rows, s.palette.Paint("dim", cells.Cut(rest+printable.Line(a), s.columns)))
	}
	s.interject(kindPrompt, 0, rows)
}

// promptSign is before the line that is typed, and before a prompt in the transcript;
// steerSign is before the line while the agent works.
const (
	promptSign = "> "
	steerSign  = "steer> "
)

// lineSign is what stands before the line. The caller has the lock.
func (s *screen) lineSign() string {
	if s.activity.steers() {
		return steerSign
	}
	return promptSign
}

// section is a part of the live zone. When the zone is too high, sections give way in
// the order of their rank: the one with the lowest loses rows first.
type section struct {
	rank rank
	rows []string
	// least rows stay whatever happens.
	least int
	// fromEnd is set where the last rows are the ones to lose; else it is the first.
	fromEnd bool
}

// rank says which section of the zone gives way first.
type rank uint8

const (
	rankAir rank = iota // a blank row
	rankWidget
	rankHeader
	rankFooter
	rankBlock
	rankOutput
	rankQueue
	rankStatus
	rankLive // the row that says what is waited for, and the row of the cursor
)

// zoneRows is how many rows the zone may have in a window of height rows: a third, and
// what hooks show besides, together half at most, but six where there are so many; with a panel
// all but two.
func zoneRows(height int, panel bool, ofHooks int) int {
	if panel {
		return max(1, height-2)
	}
	return min(height, max(6, min(height/3+ofHooks, height/2)))
}

// fit shortens sections until together they have at most limit rows.
func fit(sections []section, limit int) {
	total := 0
	for _, s := range sections {
		total += len(s.rows)
	}
	for r := rankAir; r <= rankLive && total > limit; r++ {
		for i := len(sections) - 1; i >= 0 && total > limit; i-- {
			s := &sections[i]
			if s.rank != r {
				continue
			}
			n := min(total-limit, len(s.rows)-min(s.least, len(s.rows)))
			if s.fromEnd {
				s.rows = s.rows[:len(s.rows)-n]
			} else {
				s.rows = s.rows[n:]
			}
			total -= n
		}
	}
}

// zone puts the live zone together, from top to bottom. The caller has the lock.
func (s *screen) zone(columns, rows int) terminal.Zone {
	panel := s.panels.top()
	component := s.panels.component()
	of := func(place agent.Place) []string { return s.widgets.rows(s.palette, columns, place) }
	header, above, below, footer := of(agent.Header), of(agent.Above), of(agent.Below), of(agent.Footer)
	limit := zoneRows(rows, panel != nil || component != nil || s.line.overlay != nil, len(header)+len(above)+len(below)+len(footer))
	busy := s.activity.rows(columns, s)
	sections := []section{
		{rank: rankHeader, rows: header, fromEnd: true},
		{rank: rankBlock, rows: s.writer.liveRows(columns)},
		{rank: rankOutput, rows: s.calls.liveRows(columns, s.now())},
		{rank: rankOutput, rows: s.agents.rows(&s.calls, columns, s.now())},
		{rank: rankOutput, rows: s.notices.waitingRows(columns, s.now())},
		{rank: rankLive, rows: busy, least: 1},
		{rank: rankQueue, rows: s.queueRows(columns)},
		{rank: rankQueue, rows: s.notices.mention.rows(s.palette, columns, s.now())},
		{rank: rankWidget, rows: s.widgets.plan.rows(s.palette, columns), fromEnd: true},
		{rank: rankWidget, rows: above, fromEnd: true},
	}
	z := terminal.Zone{NoCursor: true}
	at, row := -1, 0
	for _, part := range s.typing(columns, max(1, limit-len(busy)), rows, panel, component) {
		if part.row >= 0 {
			at, row, z.Column, z.NoCursor = len(sections), part.row, part.column, false
		}
		sections = append(sections, section{rank: part.rank, rows: part.rows, least: part.least, fromEnd: true})
	}
	sections = append(sections,
		section{rank: rankWidget, rows: below, fromEnd: true},
		section{rank: rankFooter, rows: footer, fromEnd: true})
	fit(sections, limit)
	for i, x := range sections {
		if i == at {
			z.Row = min(len(z.Rows)+row, len(z.Rows)+max(0, len(x.rows)-1))
		}
		z.Rows = append(z.Rows, x.rows...)
	}
	if z.NoCursor {
		z.Row = max(0, len(z.Rows)-1)
	}
	return z
}

// part is a part of what has the keys, and where the cursor is in it; row is -1 for
// nowhere.
type part struct {
	rank        rank
	least       int
	rows        []string
	row, column int
}

// airyHeight is how many rows a window has in which a blank one stands above the status.
const airyHeight = 30

// typing is what has the keys, in at most limit rows: the panel in view, or a component
// of a hook and the line. A panel that does not take keys yet stands above the line, and
// so does a component that does not cover it.
func (s *screen) typing(columns, limit, height int, p *shownPanel, c *surface) (parts []part) {
	line := func(limit int) part {
		rows, row, column := s.line.render(columns, limit, max(1, height/3), s.lineSign())
		return part{rankLive, len(rows), rows, row, column}
	}
	switch {
	case p != nil && p.hasKeys():
		rows, row, column := p.Render(columns, limit)
		return []part{{rankLive, len(rows), rows, row, column}}
	case p != nil:
		below := line(max(1, limit/3))
		rows, _, _ := p.Render(columns, max(1, limit-len(below.rows)))
		return []part{{rankLive, len(rows), rows, -1, 0}, below}
	case c != nil && c.options.Over && c.hasKeys():
		rows, row, column := c.rows(columns, limit)
		return []part{{rankLive, len(rows), rows, row, column}}
	}
	below := line(limit)
	if c == nil {
		var air []string
		if height >= airyHeight && s.status.model != "" {
			air = []string{""}
		}
		status := part{rankStatus, 0, s.statusRows(columns), -1, 0}
		if s.status.hidden { // what is left of it nobody may miss
			status.rank, status.least = rankLive, len(status.rows)
		}
		return []part{{rankAir, 0, air, -1, 0}, status, below}
	}
	above, row, column := c.rows(columns, max(1, limit-len(below.rows)))
	if row >= 0 && c.hasKeys() {
		below.row = -1
	}
	return []part{{rankLive, len(above), above, row, column}, below}
}

// title is the name of the terminal's window, which is put back at the end.
type title struct {
	mu  sync.Mutex
	set bool
}

// name sets the title. The terminal is asked to remember the one from before; "" puts
// that back.
func (t *title) name(control func(string), text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case text != "":
		if !t.set {
			control(titleSave)
		}
		control("\x1b]2;" + text + "\x07")
	case t.set:
		control(titleBack)
	}
	t.set = text != ""
}
