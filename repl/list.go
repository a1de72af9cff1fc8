package repl

import (
	"context"

	"pi/agent"
	"pi/agent/command"
	"pi/repl/terminal"
	"pi/repl/terminal/pick"
)

// list is a picker that a command goes on working with while it is open. Keys that come
// while the command works on the one before wait, and are dropped if it asked something
// meanwhile. The lock of the screen guards it.
type list struct {
	picker *pick.Picker
	person *person
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
func (p *person) OpenList(ctx context.Context, v command.ListView) (context.Context, command.List) {
	if p.begin() != nil || !p.HasUI() || p.term.Plain() {
		return ctx, nil
	}
	l := &list{person: p, signal: make(chan struct{}, 1)}
	l.picker = pick.New(pick.Options{Title: v.Title, Right: v.Right, Enter: v.Enter, Initial: v.Initial, Palette: p.screen.palette,
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
	select {
	case l.signal <- struct{}{}:
	default:
	}
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

// Done reports whether the person left the list.
func (l *list) Done() bool { return l.picker.Done() }

// Next waits for what the person does. It is the zero value too if the terminal is given
// back.
func (l *list) Next() (command.Pressed, error) {
	s := l.person.screen
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
		case <-l.person.closed:
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
		l.person.screen.closePanel(l.shown)
	}
}

// Show replaces what is shown.
func (l *list) Show(v command.ListView) {
	rows, actions := pickRows(v.Rows), l.actions(v.Keys)
	l.person.screen.change(func() {
		l.picker.SetTitle(v.Title, v.Right)
		l.picker.SetPalette(l.person.screen.palette)
		l.picker.SetActions(actions)
		l.picker.SetRows(rows)
	})
}

// Close takes the list away. Keys that have waited are for the line.
func (l *list) Close() {
	var keys []terminal.Key
	l.person.screen.change(func() {
		l.person.screen.closePanel(l.shown)
		keys, l.waiting = l.waiting, nil
	})
	for _, k := range keys {
		l.person.keys.key(k)
	}
}

// EditText asks for a row of text, of which there is some already.
func (p *person) EditText(ctx context.Context, title, text string) (string, bool, error) {
	ok := false
	x := pick.NewInput(pick.InputOptions{Question: p.question(title, "", agent.DialogOptions{}), Text: text})
	err := p.ask(ctx, agent.DialogOptions{}, dialog{
		panel: x, lines: append(paragraphs(title), "(now "+text+")"), prompt: "? ",
		answer: func(line string) ([]string, bool) { text, ok = line, line != ""; return nil, true },
		read:   func() { text, ok = x.Text() },
	})
	return text, ok && err == nil, err
}

var _ command.Lister = (*person)(nil)
