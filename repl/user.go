package repl

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// user is whoever sits at the terminal: asked and told by hooks, commands and the
// agent. It has the terminal, which it takes over when it is first needed. It may be used
// by any goroutine.
type user struct {
	opts   Options
	screen *screen
	work   *work
	keys   *keyboard
	plain  plainLines
	title  title

	focusing focusing

	start    sync.Once
	startErr error
	stop     sync.Once
	term     *terminal.Terminal
	closed   chan struct{} // the terminal was given back
	ended    chan struct{} // the terminal is gone: nothing more will be typed
}

// hasEnded reports whether nothing more will be typed.
func (p *user) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// begin takes over the terminal on its first call, and returns the error of that on
// each. After Close it fails.
func (p *user) begin() error {
	p.start.Do(func() { p.startErr = p.open() })
	return p.startErr
}

// open takes the terminal over.
func (p *user) open() error {
	if err := p.takeOver(); err != nil {
		return err
	}
	light := p.term.Light()
	p.screen.change(func() { p.screen.setLight(light) })
	for _, problem := range p.keys.problems {
		p.Notify(problem, agent.LevelWarning)
	}
	return nil
}

// palette is that of the terminal, which is taken over for it: only then its background is
// known.
func (p *user) palette() terminal.Palette {
	_ = p.begin() // without a terminal nobody sees the colours
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.palette
}

// takeOver starts the terminal. Keys may come at once: they wait until everything that they
// work on is there.
func (p *user) takeOver() error {
	s := p.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := terminal.Start(terminal.Config{
		In: p.opts.In, Out: p.opts.Out, Palette: p.screen.palette, Background: p.opts.Background,
		Plain: p.screen.plain, Dumb: p.opts.Dumb, Focus: p.wantsFocus(),
		Handler: terminal.Handler{
			Key: p.keys.key, Zone: p.screen.frame, Line: p.keys.lineTyped, Interrupt: p.keys.plainInterrupt, End: p.keys.inputHasEnded, Focus: p.focus,
			UsesAlt: p.keys.usesAlt, Panicked: p.opts.Broke,
		},
	})
	if err != nil {
		return err
	}
	p.term, s.term, s.plain, s.keysWait = t, t, t.Plain(), t.KeysWait
	return nil
}

// lend gives the terminal to a program while run runs. What was said before is above what
// that shows.
func (p *user) lend(run func() error) error {
	p.screen.mu.Lock()
	p.term.Print(p.screen.take()...)
	p.screen.mu.Unlock()
	return p.term.Lend(run)
}

// close gives the terminal back.
func (p *user) close() {
	p.stop.Do(func() {
		p.start.Do(func() { p.startErr = errors.New("the terminal is closed") })
		close(p.closed)
		if p.startErr != nil {
			return
		}
		p.screen.close()
		p.title.name(p.term.Control, "")
		p.term.Close()
	})
}

// HasUI reports whether a user can be asked.
func (p *user) HasUI() bool { return isTerminal(p.opts.In) }

// Notify shows a line that is no part of the conversation, between two blocks of it.
func (p *user) Notify(text string, level agent.Level) { p.screen.notify(text, level) }

// SetStatus sets the words of a hook in the status line; "" removes them.
func (p *user) SetStatus(key, text string) {
	p.screen.change(func() {
		if p.screen.status.set(key, text) {
			p.screen.widgets.redraw()
		}
	})
}

// SetWidget sets lines that a hook shows around the line; nil removes them.
func (p *user) SetWidget(place agent.Place, key string, lines []string) {
	p.screen.change(func() { p.screen.widgets.set(place, key, widget{lines: slices.Clone(lines)}) })
}

// SetPlan shows what is open of a plan above the line; none takes it away.
func (p *user) SetPlan(items []agent.PlanItem) {
	p.screen.change(func() { p.screen.widgets.plan = slices.Clone(items) })
}

// SetTitle names the terminal's window. Close puts the name from before back, where
// the terminal can remember it.
func (p *user) SetTitle(text string) {
	if p.opts.Dumb || !isTerminal(p.opts.Out) || p.begin() != nil {
		return
	}
	p.title.name(p.term.Control, cells.Cut(printable.Line(text), titleColumns))
}

const (
	titleColumns = 200
	titleSave    = "\x1b[22;2t"
	titleBack    = "\x1b[23;2t"
)

// SetWorking sets a text that is shown while the agent works, which may have colours of the
// theme; "" is the usual one.
func (p *user) SetWorking(text string) {
	if printable.Line(text) == "" {
		text = ""
	}
	p.screen.change(func() { p.screen.activity.text = text })
}

// HideWorking has the row that says that the agent works go, or come back.
func (p *user) HideWorking(hidden bool) {
	p.screen.change(func() { p.screen.activity.hidden = hidden })
}

var _ agent.Hider = (*user)(nil)

// SetIndicator sets the signs that turn while something runs, which may have colours of the
// theme; nil is the usual ones.
func (p *user) SetIndicator(frames []string, every time.Duration) {
	p.screen.change(func() { p.screen.activity.frames, p.screen.activity.every = slices.Clone(frames), every })
}

const indicatorColumns = 20

// SetEditorText replaces the text in the line.
func (p *user) SetEditorText(text string) {
	text = strings.Trim(printable.Text(text), "\n")
	p.screen.change(func() { p.screen.line.placeText(text) })
}

// EditorText is the text in the line.
func (p *user) EditorText() string {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.line.text()
}

// Sequence writes a sequence that moves nothing to the terminal. It is an error where
// none is to be written.
func (p *user) Sequence(sequence string) error {
	if err := p.begin(); err != nil {
		return err
	}
	if p.opts.Dumb || !isTerminal(p.opts.Out) {
		return errors.New("the terminal takes no sequences")
	}
	p.term.Control(sequence)
	return nil
}

// Adjusts reports whether a change of a setting holds at once.
func (p *user) Adjusts(key string) bool {
	switch key {
	case "ui.show_thinking", "ui.highlight", "ui.notify", "ui.menu", "ui.background":
		return true
	}
	return false
}

// Adjust makes another value of a setting hold.
func (p *user) Adjust(key, value string) {
	light := false
	if key == "ui.background" { // the screen is not locked while the terminal answers
		light = value == "light" || value == "auto" && p.begin() == nil && p.term.AskLight()
	}
	p.screen.change(func() {
		switch key {
		case "ui.background":
			p.screen.setLight(light)
		case "ui.show_thinking":
			p.screen.showThinking = value == "true"
		case "ui.highlight":
			p.screen.highlight = value == "true"
		case "ui.notify":
			p.screen.notifyWith = value
			p.applyFocus()
		case "ui.menu":
			p.screen.menuWith = value
		}
	})
}

// Theme paints for this terminal.
func (p *user) Theme() agent.Theme { return p.palette() }

var _ agent.UI = (*user)(nil)

// Nothing that is said splits a sentence of an answer: rows of others are put into the
// transcript where no row of the open block can change any more, which is between two
// paragraphs, and behind a block of code, not in it. Until then they wait, and are shown in the zone:
// what the user asked for at once, notices after two seconds.

// noticeWait is how long a notice is not shown at all because a block is open.
const noticeWait = 2 * time.Second

// notice is some rows that wait.
type notice struct {
	kind   kind
	rows   []string
	from   time.Time // when they are shown in the zone
	behind bool      // they stand behind the rows of all calls
}

// notices are those that wait.
type notices struct {
	palette terminal.Palette
	waiting []notice
	mention mention
}

// mention is what a key has done, shown in the zone for a moment.
type mention struct {
	text  string
	until time.Time
}

// mentionTime is how long that is.
const mentionTime = 2 * time.Second

// waitingShown is how many rows that wait are drawn, the newest.
const waitingShown = 30

// waitingRows are the rows of the zone, not wider than it is.
func (n *notices) waitingRows(columns int, now time.Time) (rows []string) {
	for _, x := range slices.Backward(n.waiting) {
		for _, row := range slices.Backward(x.rows) {
			if len(rows) == waitingShown {
				break
			}
			if !now.Before(x.from) {
				rows = append(rows, cells.Cut(row, columns))
			}
		}
	}
	slices.Reverse(rows)
	return rows
}

// tell shows a notice. The caller has the lock.
func (s *screen) tell(rows []string) { s.interject(kindNotice, noticeWait, rows) }

// answerKey shows what a key has done. The caller has the lock.
func (s *screen) answerKey(text string) {
	s.interject(kindNotice, 0, s.noticeRows(text, agent.LevelInfo))
}

// mention shows what a key has done for a moment, in the zone alone: the status says it from
// then on. In plain mode there is no zone. The caller has the lock.
func (s *screen) mention(text string) {
	if s.plain {
		s.answerKey(text)
		return
	}
	s.notices.mention = mention{strings.TrimRight(printable.Text(text), "\n"), s.now().Add(mentionTime)}
	time.AfterFunc(mentionTime+time.Millisecond, func() { s.change(func() {}) })
}

// rows are those of the zone.
func (m mention) rows(p terminal.Palette, columns int, now time.Time) []string {
	if m.text == "" || !now.Before(m.until) {
		return nil
	}
	var rows []string
	for line := range strings.SplitSeq(m.text, "\n") {
		for _, row := range cells.Wrap(line, max(1, columns)) {
			rows = append(rows, p.Paint("dim", row))
		}
	}
	return rows
}

// interject puts rows into the transcript as soon as they split nothing. If that takes
// longer than patience they are shown in the zone meanwhile. The caller has the lock.
func (s *screen) interject(k kind, patience time.Duration, rows []string) {
	s.notices.waiting = append(s.notices.waiting, notice{kind: k, rows: rows, from: s.now().Add(patience)})
	s.tellWaiting()
}

// tellWaiting puts the rows that wait into the transcript, unless they would split
// something. The caller has the lock.
func (s *screen) tellWaiting() {
	f := &s.writer
	if len(s.notices.waiting) == 0 || f.open != nil && (f.open.IsInside() || len(f.open.Live()) > 0) {
		return
	}
	var stay []notice
	for _, n := range s.notices.waiting {
		if n.behind && len(s.calls.all) > 0 {
			stay = append(stay, n)
			continue
		}
		s.add(n.kind, n.rows...)
	}
	s.notices.waiting = stay
	if f.open != nil { // its next rows bring their own blank row
		f.last = kindOf(f.shows)
	}
}

// notify shows a line that is no part of the conversation.
func (s *screen) notify(text string, level agent.Level) {
	s.change(func() { s.tell(s.noticeRows(text, level)) })
}

// noticeRows words a notice. The caller has the lock.
func (s *screen) noticeRows(text string, level agent.Level) (rows []string) {
	text = strings.TrimRight(printable.Text(text), "\n")
	style := "dim"
	switch level {
	case agent.LevelError:
		style, text = "error", "error: "+text
	case agent.LevelWarning:
		style, text = "warning", "warning: "+text
	}
	for _, row := range s.wrapped([]string{text}) {
		rows = append(rows, s.palette.Paint(style, row))
	}
	return rows
}
