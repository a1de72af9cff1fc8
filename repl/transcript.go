package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/cells"
	"pi/internal/markdown"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// Renderer draws messages and tool calls the way hooks want them. Each method
// reports false if no hook wants to draw, and the usual way is taken. Width is in
// cells; lines may have colours of the [agent.Theme]. Any goroutine may call it.
type Renderer interface {
	Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool)
	ToolCall(c agent.DrawnCall, expanded bool, width int) ([]string, bool)
	ToolResult(c agent.DrawnCall, r agent.Result, expanded bool, width int) ([]string, bool)
	// DrawsTool reports whether a hook draws calls of a tool or their results at all.
	DrawsTool(name string) bool
}

// transcript shows the work of the agent as it happens. It is the last listener, so it
// shows what hooks have decided. Hooks draw before the screen is locked, for they may
// want to show something meanwhile.
type transcript struct {
	screen   *screen
	renderer Renderer // nil: hooks draw nothing
	drawings *drawings
}

// handle shows an event.
func (t *transcript) handle(ctx context.Context, e agent.Event) {
	s := t.screen
	switch e := e.(type) {
	case *agent.MessageUpdate:
		s.change(func() { s.step(e.Delta) })
	case *agent.MessageEnd:
		s.change(func() { s.messageEnd(e) })
	case *agent.ToolExecutionStart:
		d := t.drawings.begin(e.ID, e.Name, e.Input, s.now())
		title := t.title(d.now())
		s.change(func() {
			s.endBlock()
			s.activity.note(waitsForTool, s.now())
			s.calls.start(e.ID, e.Name, title).drawn = d
			if s.plain {
				s.add(kindTool, plainTitle(title[0]))
			}
		})
	case *agent.ToolCall:
		t.rewritten(e)
	case *agent.ToolExecutionUpdate:
		var d *drawnCall
		s.change(func() { s.activity.note(waitsForTool, s.now()); d = s.calls.update(e.ID, e.Partial) })
		t.drawings.update(d, e.Partial)
	case *agent.ToolClock:
		s.change(func() { s.calls.clock(e.ID, e.Runs, s.now()) })
	case *agent.ToolRan:
		s.change(func() { s.calls.ran(e.ID, e.Failed, s.now()) })
	case *agent.ToolExecutionEnd:
		t.toolEnd(e)
	case *agent.CustomShow:
		t.custom(ctx, e)
	}
}

// step follows a step of an answer. The caller has the lock.
func (s *screen) step(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaPing:
		return
	case llm.DeltaToolCall:
		if s.activity.waits != waitsForArguments || d.Name != "" {
			s.activity.name, s.activity.bytes = d.Name, 0
		}
		s.activity.bytes += len(d.Text)
		s.activity.note(waitsForArguments, s.now())
	default:
		s.activity.note(waitsForNothing, s.now())
	}
	s.activity.written += len(d.Text)
	s.delta(d)
}

// messageEnd ends an answer, and tells the user if a hook or a limit ended it, or if
// it is empty. The caller has the lock.
func (s *screen) messageEnd(e *agent.MessageEnd) {
	m := e.Message
	s.answerEnds()
	if m.Role == message.RoleAssistant {
		s.activity.used(m.Usage)
	}
	s.activity.note(waitsForNothing, s.now())
	if e.Abort != nil {
		s.add(kindNotice, s.noticeRows(abortText(e.Abort), agent.LevelInfo)...)
	}
	switch {
	case m.StopReason == message.StopLength:
		s.add(kindNotice, s.noticeRows("the answer was cut off at the token limit", agent.LevelWarning)...)
	case e.Abort == nil && m.Role == message.RoleAssistant && m.StopReason == message.StopEnd &&
		strings.TrimSpace(m.Text()) == "" && len(m.ToolCalls()) == 0:
		s.add(kindNotice, s.palette.Paint("dim", "the answer is empty"))
	}
}

// abortText says that a hook stopped an answer, which hook, and why.
func abortText(a *agent.Abort) string {
	text := "stopped by a hook"
	if by := printable.Line(a.By); by != "" {
		text = "stopped by hook " + by
	}
	if reason := printable.Line(a.Reason); reason != "" {
		text += ": " + reason
	}
	return text
}

// title is how a call is named in few rows: as a hook draws it, else by its tool and
// argument.
func (t *transcript) title(c agent.DrawnCall) []string {
	if rows := t.titleByHook(c, false, t.width(4)); rows != nil {
		return rows
	}
	return titleOf(c.Name, c.Input)
}

// titleByHook is a call as a hook draws it; nil if none does.
func (t *transcript) titleByHook(c agent.DrawnCall, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.ToolCall(c, expanded, width)
	if !ok || len(lines) == 0 {
		return nil
	}
	return t.screen.palette.Painted(lines, width)
}

// width is that of the window, less some columns.
func (t *transcript) width(less int) int {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	return max(1, t.screen.columns-less)
}

// rewritten notes how a hook has rewritten a call; nothing if none has, or if the call
// is blocked.
func (t *transcript) rewritten(e *agent.ToolCall) {
	if e.RewrittenBy == "" || e.Block {
		return
	}
	d := t.drawnCall(e.ID)
	if d == nil {
		return
	}
	title := t.title(d.rewritten(e.Input))
	t.screen.change(func() {
		if c := t.screen.calls.find(e.ID); c != nil {
			c.title, c.note = title, printable.Line(e.RewrittenBy)+" made it so"
		}
	})
}

// drawnCall is a call that is not over; nil if there is none.
func (t *transcript) drawnCall(id string) (d *drawnCall) {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	if c := t.screen.calls.find(id); c != nil {
		d = c.drawn
	}
	return d
}

// toolEnd shows how a call ended.
func (t *transcript) toolEnd(e *agent.ToolExecutionEnd) {
	d := t.drawnCall(e.ID)
	if d == nil {
		d = t.drawings.begin(e.ID, e.Name, e.Input, t.screen.now())
	}
	last := t.drawLast(d.end(e), e.Result)
	s := t.screen
	s.change(func() {
		now := s.now()
		c := s.calls.find(e.ID)
		if c == nil {
			c = s.calls.start(e.ID, e.Name, last.title)
		}
		if last.ofHook {
			c.title = last.title
		}
		end := ended{name: e.Name, input: e.Input, title: c.title, note: c.note, result: e.Result, took: e.Took, drawn: last.result, more: last.more, plain: s.plain}
		end.number = func(whole wholeCall) int {
			return s.folds.add(c.title[0], func(columns int) []string {
				return whole(columns, t.titleByHook(last.call, true, columns-4), t.resultByHook(last.call, e.Result, true, columns-3))
			})
		}
		mark := markDone
		if e.Result.IsError {
			mark = markFailed
		}
		s.endBlock()
		s.add(kindTool, s.calls.end(e.ID, mark, end.rows(s.palette, s.columns), e.Took)...)
		s.tellWaiting()
		s.activity.note(waitsForTool, now)
		if len(s.calls.all) == 0 {
			s.activity.note(waitsForAnswer, now)
		}
	})
}

// lastDrawing is how a call that is over is drawn.
type lastDrawing struct {
	call   agent.DrawnCall
	title  []string
	ofHook bool     // a hook may have drawn the title, otherwise than while the call ran
	result []string // nil: no hook draws it
	more   bool     // a hook draws it otherwise in full
}

// drawLast draws a call that is over.
func (t *transcript) drawLast(c agent.DrawnCall, r agent.Result) lastDrawing {
	x := lastDrawing{call: c, title: titleOf(c.Name, c.Input)}
	if x.ofHook = t.renderer != nil && t.renderer.DrawsTool(c.Name); !x.ofHook {
		return x
	}
	width := t.width(4)
	title := t.titleByHook(c, false, width)
	if title != nil {
		x.title = title
	}
	x.result = t.resultByHook(c, r, false, width+1)
	x.more = !slices.Equal(x.result, t.resultByHook(c, r, true, width+1)) || !slices.Equal(title, t.titleByHook(c, true, width))
	return x
}

// resultByHook is a result as a hook draws it; nil if none does.
func (t *transcript) resultByHook(c agent.DrawnCall, r agent.Result, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.ToolResult(c, r, expanded, width)
	if !ok {
		return nil
	}
	return append([]string{}, t.screen.palette.Painted(lines, width)...)
}

// custom shows a message of a hook. A message in the role of the user looks as if it had
// been typed.
func (t *transcript) custom(ctx context.Context, e *agent.CustomShow) {
	s, m := t.screen, e.Message
	switch {
	case m.Role == message.RoleUser:
		s.change(func() { s.echo(inFewRows(m.Text()), nil, nil) })
	case m.Display:
		rows := t.messageByHook(ctx, m, false, t.width(1))
		whole := t.messageByHook(ctx, m, true, t.width(1))
		s.change(func() {
			if rows == nil {
				text := fmt.Sprintf("[%s] %s", printable.Line(m.CustomType), printable.Text(m.Text()))
				rows = s.noticeRows(text, agent.LevelInfo)
			}
			if whole != nil && !slices.Equal(rows, whole) {
				n := s.folds.add(m.CustomType, func(columns int) []string { return t.messageByHook(context.Background(), m, true, columns-1) })
				rows = append(rows, s.palette.Paint("dim", "  "+strings.Join(wayToWhole(n, s.plain), " · ")))
			}
			s.tell(rows)
		})
	}
}

// messageByHook is a message as a hook draws it; nil if none does.
func (t *transcript) messageByHook(ctx context.Context, m *message.Message, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.Message(ctx, m, expanded, width)
	if !ok {
		return nil
	}
	return append([]string{}, t.screen.palette.Painted(lines, width)...)
}

// An answer comes in pieces. Rows that later text cannot change go into the transcript
// at once; the others are the live block of the zone, until more text or the end of the
// block decides them.

// block writes a text in rows as it comes.
type block interface {
	Write(text string) (rows []string) // those that are decided
	Live() []string                    // those that are not
	End() []string                     // the rest
	IsInside() bool                    // what goes on would be split by a row behind the decided ones
	SetColumns(columns int)
}

// transcriptWriter has the block of the answer that is being written.
type transcriptWriter struct {
	open  block
	shows llm.DeltaKind // the kind of the open block
	index int           // of that in the answer
	words words
	// last is the kind of what was put into the transcript last, so that a blank row
	// stands between what is of different kinds.
	last kind
	// folded is what came of a thought that is not shown, the one with the index foldedAt.
	folded   []byte
	foldedAt int
	// midAnswer is set while a part of an answer is shown that has not ended.
	midAnswer bool
}

// kind is what a row of the transcript belongs to.
type kind uint8

const (
	kindNone kind = iota
	kindPrompt
	kindText
	kindThinking
	kindTool
	kindNotice
	kindRows // what commands print
)

// liveRows are the rows of the open block.
func (f *transcriptWriter) liveRows(int) []string {
	if f.open == nil {
		return nil
	}
	return f.open.Live()
}

// words are the blocks of text that follow each other. They count as one, since
// some models cut their text into blocks in the middle of a sentence.
type words struct{ first, last int }

// index is the index of the block that a step is shown in: for text, that of the first
// of the blocks of text that follow each other.
func (w *words) index(d llm.Delta) int {
	if d.Kind != llm.DeltaText {
		return d.Index
	}
	if d.Index != w.last && d.Index != w.last+1 {
		w.first = d.Index
	}
	w.last = d.Index
	return w.first
}

// delta shows a step of the answer. The caller has the lock.
func (s *screen) delta(d llm.Delta) {
	if d.Kind == llm.DeltaThinking && !s.showThinking {
		d.Text = s.writer.fold(d)
	}
	if d.Kind != llm.DeltaText && d.Kind != llm.DeltaThinking || d.Text == "" {
		return
	}
	f := &s.writer
	d.Index = f.words.index(d)
	if f.open == nil || d.Kind != f.shows || d.Index != f.index {
		s.endBlock()
		f.shows, f.index, f.midAnswer = d.Kind, d.Index, true
		if d.Kind == llm.DeltaThinking {
			f.open = newThought(s.palette.Paint, s.columns, s.plain)
		} else {
			f.open = markdown.NewStream(s.painter())
		}
	}
	s.add(kindOf(d.Kind), f.open.Write(d.Text)...)
	s.tellWaiting()
}

// fold returns what is to be shown of a thought while thoughts are hidden: nothing, until
// the model says that it is for the user, and all of it then.
func (f *transcriptWriter) fold(d llm.Delta) string {
	if d.Index != f.foldedAt {
		f.folded, f.foldedAt = nil, d.Index
	}
	f.folded = append(f.folded, d.Text...)
	if !d.Spoken {
		return ""
	}
	text := string(f.folded)
	f.folded = nil
	return text
}

// answerEnds ends the answer that is shown. The caller has the lock.
func (s *screen) answerEnds() {
	s.endBlock()
	s.writer.midAnswer = false
	s.writer.words = words{}
	s.writer.folded = nil
}

// startOver ends what is shown of an answer that broke off: it is asked for again, and
// written from its beginning. The caller has the lock.
func (s *screen) startOver() {
	if s.writer.midAnswer {
		s.endBlock()
		s.add(kindNotice, s.noticeRows("the answer starts over", agent.LevelInfo)...)
	}
	s.answerEnds()
	s.activity.written = 0
}

func kindOf(k llm.DeltaKind) kind {
	if k == llm.DeltaThinking {
		return kindThinking
	}
	return kindText
}

// painter draws Markdown for the terminal at hand.
func (s *screen) painter() markdown.Painter {
	return markdown.Painter{Columns: s.columns, Paint: s.palette.Paint, Highlight: s.highlight}
}

// endBlock puts the rest of the open block into the transcript, and behind it what waited
// for that. The caller has the lock.
func (s *screen) endBlock() {
	if s.writer.open == nil {
		return
	}
	rows := s.writer.open.End()
	s.add(kindOf(s.writer.shows), rows...)
	s.writer.open = nil
	s.tellWaiting()
}

// thought is a block of thinking: text as it is, wrapped at words and dimmed, with a mark
// at its beginning. Blank rows are shown only between others.
type thought struct {
	paint func(style, text string) string
	clean printable.Cleaner
	rows  *cells.Wrapper
	begun bool // something else than blanks has come
	blank int  // blank rows that came and are not shown yet
}

func newThought(paint func(style, text string) string, columns int, plain bool) *thought {
	sign := "∴ "
	if plain {
		sign = "thinking: "
	}
	return &thought{paint: paint, rows: cells.NewWrapper(columns, sign, strings.Repeat(" ", cells.Width(sign)))}
}

// Write adds a piece of text.
func (t *thought) Write(text string) []string {
	t.add(string(t.clean.Append(nil, text)))
	return t.shown(t.rows.TakeRows())
}

// End returns the rows that are left.
func (t *thought) End() []string {
	t.add(string(t.clean.Finish(nil)))
	if !t.begun {
		return nil
	}
	return t.shown(t.rows.End())
}

// IsInside is false: thinking has no blocks.
func (t *thought) IsInside() bool { return false }

// SetColumns is for rows that are not returned yet.
func (t *thought) SetColumns(columns int) { t.rows.SetColumns(columns) }

// Live returns the row that more text may change.
func (t *thought) Live() []string {
	if !t.begun {
		return nil
	}
	blank := t.blank
	defer func() { t.blank = blank }()
	return t.shown(t.rows.Clone().End())
}

// add adds text, but for blanks before everything else.
func (t *thought) add(text string) {
	if !t.begun {
		text = strings.TrimLeft(text, " \t\n")
		t.begun = text != ""
	}
	t.rows.Write(text)
}

// shown paints rows. Blank ones wait for a row behind them.
func (t *thought) shown(rows []string) (painted []string) {
	for _, row := range rows {
		if strings.TrimSpace(row) == "" {
			t.blank++
			continue
		}
		for ; t.blank > 0; t.blank-- {
			painted = append(painted, "")
		}
		painted = append(painted, t.paint("thinking", row))
	}
	return painted
}

// showLastExchange shows where a session that goes on had ended: the first row of the
// last prompt and the last rows of its answer, together at most a third of the window;
// and what was cut off in it.
func (r *REPL) showLastExchange() {
	branch := r.agent.Session().Branch()
	at := lastPrompt(branch)
	if at < 0 || !r.user.HasUI() {
		return
	}
	x := exchangeOf(branch[at:])
	s := r.screen
	_, height := r.user.term.Size()
	s.change(func() {
		s.endBlock()
		s.add(kindPrompt, s.promptRow(x.prompt))
		rows := s.painter().Rows(x.answer)
		if n := len(rows) - (max(2, height/3) - 2); n > 0 { // without the prompt and the blank row
			rows = append([]string{s.palette.Paint("dim", "…")}, rows[n+1:]...)
		}
		s.add(kindText, rows...)
		for _, text := range x.cutOff() {
			s.add(kindNotice, s.noticeRows("cut off: "+text, agent.LevelWarning)...)
		}
	})
}

// promptRow is the first row of a prompt, as the echo of a prompt begins. The caller has
// the lock.
func (s *screen) promptRow(text string) string {
	sign := promptSign
	if s.plain {
		sign = "you: "
	}
	first, _, more := strings.Cut(strings.TrimSpace(printable.Text(text)), "\n")
	row := sign + strings.ReplaceAll(first, "\t", "    ")
	if more {
		row += " …"
	}
	return s.palette.Paint("user", cells.Cut(row, s.columns))
}

// lastPrompt is the index of the last prompt of a branch, -1 for none.
func lastPrompt(branch []*session.Entry) int {
	for i := len(branch) - 1; i >= 0; i-- {
		if m := messageOf(branch[i]); m != nil && m.Role == message.RoleUser {
			return i
		}
	}
	return -1
}

func messageOf(e *session.Entry) *message.Message {
	if e.Type != session.TypeMessage {
		return nil
	}
	return e.Message()
}

// exchange is a prompt and what came after it.
type exchange struct {
	prompt string
	answer string           // the last text of the model
	open   []string         // titles of calls that have no result
	ended  []string         // of calls that were interrupted, and nothing came after them
	last   *message.Message // of the model; nil: none came
}

// cutOff tells what did not come to its end; nil for nothing.
func (x exchange) cutOff() (texts []string) {
	for _, title := range x.open {
		texts = append(texts, title+" had not ended when the program did; the model is told so")
	}
	for _, title := range x.ended {
		texts = append(texts, title+" was interrupted")
	}
	switch {
	case texts != nil:
	case x.last == nil:
		texts = append(texts, `the prompt has no answer; say "go on" to have one`)
	case x.last.StopReason == message.StopAborted:
		texts = append(texts, "the answer was interrupted")
	case x.last.StopReason == message.StopError:
		texts = append(texts, strings.TrimSuffix("the request failed: "+printable.Line(x.last.ErrorMessage), ": "))
	}
	return texts
}

// exchangeOf reads the entries that begin with a prompt.
func exchangeOf(entries []*session.Entry) (x exchange) {
	x.prompt = entries[0].Message().Typed()
	calls := map[string]string{}
	var order []string
	for _, e := range entries[1:] {
		m := messageOf(e)
		switch {
		case m == nil:
		case m.Role == message.RoleAssistant:
			x.last, x.ended = m, nil
			if text := strings.TrimSpace(m.Text()); text != "" {
				x.answer = text
			}
			for _, c := range m.ToolCalls() {
				calls[c.ID] = titleOf(c.Name, c.Arguments)[0]
				order = append(order, c.ID)
			}
		case m.Role == message.RoleToolResult:
			if m.IsError && strings.HasSuffix(strings.TrimSpace(m.Text()), "interrupted") {
				x.ended = append(x.ended, calls[m.ToolCallID])
			}
			delete(calls, m.ToolCallID)
		}
	}
	for _, id := range order {
		if title, ok := calls[id]; ok {
			x.open = append(x.open, title)
		}
	}
	return x
}
