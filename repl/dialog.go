package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/pick"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// Confirm asks a question. y or yes is Yes; n, no, an empty line, Esc and no answer are
// No.
func (p *user) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	answer := agent.No
	x := pick.NewConfirm(p.question(title, message, o), o.Always != "")
	words := map[string]agent.Answer{"y": agent.Yes, "yes": agent.Yes, "": agent.No, "n": agent.No, "no": agent.No}
	d := dialog{panel: x, lines: paragraphs(asked(o.From, title), message), prompt: "[y/N] "}
	if o.Always != "" {
		words["a"], words["always"] = agent.Always, agent.Always
		d.prompt = "[y/N/always] "
	}
	d.answer = func(line string) (again []string, done bool) {
		if answer, done = words[strings.ToLower(line)]; !done {
			again = []string{"Please answer y or n."}
		}
		return again, done
	}
	d.read = func() {
		answer = map[pick.Answer]agent.Answer{pick.Yes: agent.Yes, pick.Always: agent.Always}[x.Answer()]
	}
	if err := p.ask(ctx, o, d); err != nil {
		return agent.No, err
	}
	return answer, nil
}

// question is what the panels of all dialogs show.
func (p *user) question(title, message string, o agent.DialogOptions) pick.Question {
	return pick.Question{Title: title, Message: message, Hook: o.From, Palette: inks(p.palette())}
}

// Input asks for a line of text. It reports false for no answer, and for an empty line unless
// that may be one.
func (p *user) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	text, given := "", false
	x := pick.NewInput(pick.InputOptions{Question: p.question(title, "", o), Placeholder: placeholder, Masked: o.Secret})
	lines := paragraphs(asked(o.From, title))
	if placeholder != "" {
		lines = append(lines, "("+printable.Line(placeholder)+")")
	}
	err := p.ask(ctx, o, dialog{
		panel: x, lines: lines, prompt: "? ", secret: o.Secret,
		answer: func(line string) ([]string, bool) { text, given = line, true; return nil, true },
		read:   func() { text, given = x.Text(); text = strings.TrimSpace(text) },
	})
	return text, given && (text != "" || o.Empty) && err == nil, err
}

// Select lets the user choose among choices, by typing a part of one and with the
// arrows; in plain mode by its number, or by a part of it.
func (p *user) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	if len(choices) == 0 {
		return nil, false, nil
	}
	rows := make([]pick.Row, len(choices))
	for i, c := range choices {
		rows[i] = pick.Row{ID: c.Value, Columns: strings.Split(c.Text(), "\t"), Description: c.Description, Further: c.Further,
			Marked: o.Multi && slices.Contains(o.Default, c.Value)}
	}
	options := pick.Options{Title: title, Hook: o.From, Multi: o.Multi, Whole: o.Whole, Palette: inks(p.palette())}
	if len(o.Default) > 0 {
		options.Initial = o.Default[0]
	}
	x := pick.New(options, rows)
	var values []string
	ok := false
	all, prompt := pick.Choose(rows, ""), "number or text? "
	if o.Whole {
		prompt = "which word? "
	}
	err := p.ask(ctx, o, dialog{
		panel: x, lines: append(paragraphs(asked(o.From, title)), pick.Numbered(rows, all)...), prompt: prompt,
		answer: func(line string) (again []string, done bool) {
			var found []int
			if found, again, done = chosenInLine(rows, line, o); done {
				for _, i := range found {
					values = append(values, rows[i].ID)
				}
				ok = line != "" || done && o.Multi && o.Empty
			}
			return again, done
		},
		read: func() { values, ok = x.Chosen() },
	})
	if err != nil {
		return nil, false, err
	}
	return values, ok, nil
}

// chosenInLine reads what a line chooses among rows. If it is not clear, again are the
// lines to show before the next one.
func chosenInLine(rows []pick.Row, line string, o agent.DialogOptions) (found []int, again []string, done bool) {
	if line == "" {
		return nil, nil, true
	}
	if o.Whole {
		if i := pick.ChooseWhole(rows, line); i >= 0 {
			return []int{i}, nil, true
		}
		return nil, append([]string{fmt.Sprintf("Nothing matches %q: type a whole word.", line)}, pick.Numbered(rows, nil)...), false
	}
	if o.Multi {
		found, unclear := pick.ChooseSeveral(rows, line)
		if unclear == "" {
			return found, nil, true
		}
		line = unclear
	}
	found = pick.Choose(rows, line)
	switch {
	case len(found) == 0:
		return nil, append([]string{fmt.Sprintf("Nothing matches %q.", line)}, pick.Numbered(rows, pick.Choose(rows, ""))...), false
	case len(found) == 1 && !o.Multi:
		return found, nil, true
	}
	return nil, pick.Numbered(rows, found), false
}

// asked is the title of a dialog, which names the hook that asks.
func asked(from, title string) string {
	title = strings.Trim(printable.Text(title), "\n")
	if from == "" {
		return title
	}
	return "[" + printable.Line(from) + "] " + title
}

// paragraphs are the lines of texts that are not empty, fit to be shown.
func paragraphs(texts ...string) (lines []string) {
	for _, text := range texts {
		if text = strings.Trim(printable.Text(text), "\n"); text != "" {
			lines = append(lines, strings.Split(text, "\n")...)
		}
	}
	return lines
}

// dialog is a question in its two forms: a panel that has the keys, and lines.
type dialog struct {
	panel terminal.Panel
	read  func() // called when the panel is done

	lines  []string // shown once
	prompt string
	secret bool
	// answer is called with a typed line. It returns the lines to show before asking
	// again, or done if the line was an answer.
	answer func(line string) (again []string, done bool)
}

// ask runs a dialog to its end: an answer, Esc, the timeout (then the default counts,
// without an error) or the end of ctx. Where no user can be asked it returns nil at
// once.
func (p *user) ask(ctx context.Context, o agent.DialogOptions, d dialog) error {
	if err := p.begin(); err != nil {
		return err
	}
	if !p.HasUI() {
		return nil
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.TimeoutMS > 0 {
		limited, cancel = context.WithTimeout(ctx, time.Duration(o.TimeoutMS)*time.Millisecond)
	}
	defer cancel()
	_ = p.attract("a question waits") // where that is off, nobody wants it
	if isOfAgent(ctx) {
		defer p.work.await()()
	}
	err := error(nil)
	if p.term.Plain() {
		err = p.converse(limited, d)
	} else {
		err = p.showPanel(limited, d)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// showPanel shows the panel of a dialog until it is done or ctx ends.
func (p *user) showPanel(ctx context.Context, d dialog) error {
	var x *shownPanel
	p.screen.change(func() { x = p.screen.open(d.panel, initiativeOf(ctx).asksAtOnce(p.screen.now()), listOf(ctx)) })
	if noted, ok := d.panel.(interface{ SetNote(note string) }); ok && remaining(ctx) != "" {
		defer p.countDown(ctx, noted.SetNote)()
	}
	select {
	case <-x.done:
	case <-p.closed:
		return nil
	case <-p.ended:
		p.screen.change(func() { p.screen.closePanel(x) })
		return nil
	case <-ctx.Done():
		p.screen.change(func() { p.screen.closePanel(x) })
		return ctx.Err()
	}
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	d.read()
	return nil
}

// countDown has a panel say how much time is left, until stop is called.
func (p *user) countDown(ctx context.Context, note func(string)) (stop func()) {
	say := func() { p.screen.change(func() { note(strings.TrimSpace(remaining(ctx))) }) }
	say()
	ended := make(chan struct{})
	go func() {
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-second.C:
				say()
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended) }
}

// converse asks in plain mode, until an answer is accepted. It returns nil too if the
// input ends, and the error of ctx if that ends.
func (p *user) converse(ctx context.Context, d dialog) error {
	x := &plainDialog{prompt: remaining(ctx) + d.prompt, lines: make(chan string, 1), turn: make(chan struct{})}
	p.plain.add(x)
	defer p.converseEnds(x)
	select {
	case <-x.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.screen.printNow(d.lines...)
	for {
		p.promptFor(x.prompt)
		select {
		case <-ctx.Done():
			p.term.Unprompt()
			return ctx.Err()
		case line := <-x.lines:
			again, done := d.answer(strings.TrimSpace(line))
			if done {
				return nil
			}
			p.screen.printNow(again...)
		}
	}
}

// remaining is the time that is left for an answer, as it is shown before a prompt;
// "" if there is no limit.
func remaining(ctx context.Context) string {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ""
	}
	left := time.Until(deadline)
	if left > time.Second {
		return fmt.Sprintf("(%v) ", left.Round(time.Second))
	}
	return fmt.Sprintf("(%v) ", max(left, 0).Round(time.Second/10))
}

// list is a picker that a command goes on working with while it is open. Keys that come
// while the command works on the one before wait, and are dropped if it asked something
// meanwhile. The lock of the screen guards it.
type list struct {
	picker *pick.Picker
	user   *user
	ctx    context.Context
	shown  *shownPanel

	pressed []command.Pressed
	signal  chan struct{} // there is something in pressed; a buffer of one
	working bool          // the command works on what was pressed
	waiting []terminal.Key
}

// aboveKey marks a context in which dialogs stand above a list.
type aboveKey struct{}

// OpenList shows a list, see [command.Lister].
func (p *user) OpenList(ctx context.Context, v command.ListView) (context.Context, command.List) {
	if p.begin() != nil || !p.HasUI() || p.term.Plain() {
		return ctx, nil
	}
	l := &list{user: p, signal: make(chan struct{}, 1)}
	l.picker = pick.New(pick.Options{Title: v.Title, Right: v.Right, Enter: v.Enter, Initial: v.Initial, Palette: inks(p.screen.palette),
		Actions: l.actions(v.Keys)}, pickRows(v.Rows))
	l.ctx = context.WithValue(ctx, aboveKey{}, l)
	p.screen.change(func() { l.shown = p.screen.open(l, initiativeOf(ctx).asksAtOnce(p.screen.now()), listOf(ctx)) })
	return l.ctx, l
}

// listOf is the list above which dialogs in a context stand; nil for none.
func listOf(ctx context.Context) *shownPanel {
	if l, ok := ctx.Value(aboveKey{}).(*list); ok {
		return l.shown
	}
	return nil
}

// pickRows are the rows of a list as the picker has them.
func pickRows(rows []command.Row) []pick.Row {
	all := make([]pick.Row, len(rows))
	for i, r := range rows {
		all[i] = pick.Row{ID: r.ID, Columns: r.Columns, Description: r.Description, Search: r.Search, Sought: r.Sought, Dim: r.Dim,
			Depth: r.Depth, Parent: r.Parent, Folded: r.Folded}
	}
	return all
}

// actions are what keys do, Enter among them.
func (l *list) actions(keys []command.ListKey) []pick.Action {
	all := []pick.Action{{Key: "enter", Do: l.press("enter")}}
	for _, k := range keys {
		all = append(all, pick.Action{Key: k.Key, Label: k.Label, Do: l.press(k.Key)})
	}
	return all
}

// press returns what a key does: it hands the selected row to the command. Enter does
// nothing where there is no row.
func (l *list) press(key string) func(pick.Row) {
	return func(row pick.Row) {
		if key != "enter" || row.ID != "" {
			l.note(command.Pressed{Key: key, Row: row.ID})
		}
	}
}

// note hands something to the command.
func (l *list) note(x command.Pressed) {
	l.pressed, l.working = append(l.pressed, x), true
	wake(l.signal)
}

// waitingKeys is how many keys wait at most for the command.
const waitingKeys = 1000

// Key gives the list a key, once the command has done what the one before meant. Esc
// leaves at any time.
func (l *list) Key(k terminal.Key) (used bool) {
	if l.working && k.Name != "esc" && k.Name != "ctrl+c" {
		if len(l.waiting) < waitingKeys {
			l.waiting = append(l.waiting, k)
		}
		return true
	}
	used = l.picker.Key(k)
	if l.Done() {
		l.note(command.Pressed{})
	}
	return used
}

// Render draws the list.
func (l *list) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	return l.picker.Render(width, height)
}

// Done reports whether the user left the list.
func (l *list) Done() bool { return l.picker.Done() }

// Next waits for what the user does. It is the zero value too if the terminal is given
// back.
func (l *list) Next() (command.Pressed, error) {
	s := l.user.screen
	s.change(l.resume)
	for {
		s.mu.Lock()
		if len(l.pressed) > 0 {
			x := l.pressed[0]
			l.pressed = l.pressed[1:]
			s.mu.Unlock()
			return x, nil
		}
		s.mu.Unlock()
		select {
		case <-l.signal:
		case <-l.user.closed:
			return command.Pressed{}, nil
		case <-l.ctx.Done():
			return command.Pressed{}, l.ctx.Err()
		}
	}
}

// resume gives the list the keys that have waited. The caller has the lock.
func (l *list) resume() {
	if len(l.pressed) > 0 {
		return
	}
	l.working = false
	keys := l.waiting
	l.waiting = nil
	for _, k := range keys {
		l.Key(k)
	}
	if l.Done() {
		l.user.screen.closePanel(l.shown)
	}
}

// Show replaces what is shown.
func (l *list) Show(v command.ListView) {
	rows, actions := pickRows(v.Rows), l.actions(v.Keys)
	l.user.screen.change(func() {
		l.picker.SetTitle(v.Title, v.Right)
		l.picker.SetPalette(inks(l.user.screen.palette))
		l.picker.SetActions(actions)
		l.picker.SetRows(rows)
	})
}

// Close takes the list away. Keys that have waited are for the line.
func (l *list) Close() {
	var keys []terminal.Key
	l.user.screen.change(func() {
		l.user.screen.closePanel(l.shown)
		keys, l.waiting = l.waiting, nil
	})
	for _, k := range keys {
		l.user.keys.key(k)
	}
}

// EditText asks for a row of text, of which there is some already.
func (p *user) EditText(ctx context.Context, title, text string) (string, bool, error) {
	ok := false
	x := pick.NewInput(pick.InputOptions{Question: p.question(title, "", agent.DialogOptions{}), Text: text})
	err := p.ask(ctx, agent.DialogOptions{}, dialog{
		panel: x, lines: append(paragraphs(title), "(now "+text+")"), prompt: "? ",
		answer: func(line string) ([]string, bool) { text, ok = line, line != ""; return nil, true },
		read:   func() { text, ok = x.Text() },
	})
	return text, ok && err == nil, err
}

var _ command.Lister = (*user)(nil)
