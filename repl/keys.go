package repl

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/edit"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
	"pi/repl/terminal/keymap"
)

// Shortcut is a key of a hook. Run is called between two prompts, or while the agent
// works; the text in the line is kept.
type Shortcut struct {
	Key, Help string
	Hook      string
	Run       func(context.Context) (command.Outcome, error)
}

// keyboard is what the user types, and where it goes.
type keyboard struct {
	opts     Options
	screen   *screen
	work     *work
	jobs     *jobs
	user     *user
	table    keyTable
	problems []string // of [keys], told when the terminal is there
	scratch  scratch

	agent    *agent.Agent // nil until there is one
	commands *command.Set // nil until there are any
}

func newKeyboard(o Options, p *user, j *jobs) *keyboard {
	k := &keyboard{opts: o, screen: p.screen, work: p.work, jobs: j, user: p}
	table, problems := keymap.Parse(o.Keys)
	k.problems = problems
	k.table = keyTable{table, keymap.NewReader(table, func() (chords []string) {
		for _, s := range k.shortcuts() {
			chords = append(chords, s.Key)
		}
		return chords
	})}
	k.screen.line = newLine(k.table, history.Open(o.History, o.Secret)) // hooks may fill it before the terminal is used
	p.keys = k
	return k
}

// attach gives the keys what they work on.
func (k *keyboard) attach(a *agent.Agent, commands *command.Set) {
	k.screen.mu.Lock()
	defer k.screen.mu.Unlock()
	k.agent, k.commands = a, commands
}

// attached returns what the keys work on; nil before there is any.
func (k *keyboard) attached() (*agent.Agent, *command.Set) {
	k.screen.mu.Lock()
	defer k.screen.mu.Unlock()
	return k.agent, k.commands
}

// close ends what runs in the background, and removes what was stored for the session.
func (k *keyboard) close() {
	k.scratch.remove()
	k.screen.mu.Lock()
	c := k.screen.line.completions
	k.screen.mu.Unlock()
	if c.runner != nil {
		c.runner.Close()
		c.files.Close()
	}
}

// after is what a key does once the lock of the screen is free; nil for nothing.
type after func()

// key gives a key to whom it is for: the panel in view, a component of a hook, or the
// line.
func (k *keyboard) key(x terminal.Key) {
	s := k.screen
	var then after
	s.key(func() {
		switch {
		case !x.Release && x.Name == "ctrl+\\":
			then = askForReport
			return
		case !x.Release && k.table.table.Action(x.Name) == "suspend":
			then = k.user.term.Suspend
			return
		case !x.Release && s.panelKey(x):
			return
		}
		if s.componentKey(x) {
			return
		}
		if !x.Release {
			then = k.lineKey(x)
		}
	})
	if then != nil {
		then()
	}
}

// askForReport does what the system does for Ctrl+\ where keys are signals: the program
// ends with a report of where it is.
func askForReport() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(syscall.SIGQUIT) // where there is no such signal there is no such key
	}
}

// unusedKey is called with a key that a component does not want: Esc closes the
// component, all else is for the line.
func (k *keyboard) unusedKey(x terminal.Key) {
	s := k.screen
	var then after
	s.key(func() {
		n := len(s.panels.components)
		switch {
		case n > 0 && x.Name == "esc":
			s.panels.components[n-1].cancel()
		case n == 0 || !s.panels.components[n-1].options.Over:
			then = k.lineKey(x)
		}
	})
	if then != nil {
		then()
	}
}

// lineKey gives a key to the line: to its menu or search, to the action that is bound
// to it, or to the text. The caller has the lock.
func (k *keyboard) lineKey(x terminal.Key) after {
	s, l := k.screen, k.screen.line
	if menu := l.completions.later; menu != nil {
		menu.Stop() // none opens by itself, since another key came
	}
	if l.overlayKey(x, len(s.activity.tasks) > 0) {
		return nil
	}
	if k.table.table.Action(x.Name) != "clear" {
		l.warned = time.Time{}
	}
	m := l.keys.read(x.Name, l.empty() && len(s.activity.tasks) == 0)
	if m.action != "expand" {
		s.folds.again()
	}
	switch {
	case m.waiting:
		return nil
	case m.shortcut != "":
		return func() { k.runShortcut(m.shortcut) }
	case m.action != "" && !m.edits:
		if open, ok := l.overlay.(*menu); ok && open.IsIdle() && m.action != "complete" {
			l.overlay = nil
		}
		if do, ok := k.actions()[m.action]; ok {
			return do()
		}
		return nil
	}
	if x.Name == "paste" {
		return func() { k.paste(x) }
	}
	l.edit(x, m.action)
	return k.completeSoon(x, m)
}

// runShortcut runs the shortcut of a hook.
func (k *keyboard) runShortcut(chord string) {
	for _, s := range k.shortcuts() {
		if own, err := keymap.ParseChord(s.Key); err == nil && own == chord {
			k.send(job{doing: s.Key, run: s.Run})
			return
		}
	}
}

// shortcuts are those of hooks at this moment.
func (k *keyboard) shortcuts() []Shortcut {
	if k.opts.Shortcuts == nil {
		return nil
	}
	return k.opts.Shortcuts()
}

// actions are what keys can do besides editing, by their names in [keys]. Each is called
// with the lock, and returns what to do without it.
func (k *keyboard) actions() map[string]func() after {
	s, l := k.screen, k.screen.line
	change := func(what string, to func(context.Context, *agent.Agent) (command.Outcome, error)) func() after {
		run := func(ctx context.Context) (command.Outcome, error) { return to(ctx, k.agent) }
		return func() after { return func() { k.send(job{doing: "changing the " + what, run: run, inZone: true}) } }
	}
	model := func(by int) func() after {
		return change("model", func(ctx context.Context, a *agent.Agent) (command.Outcome, error) {
			return command.CycleModel(ctx, a, by)
		})
	}
	return map[string]func() after{
		"send":             func() after { return k.sendLine(false) },
		"follow_up":        func() after { return k.sendLine(true) },
		"take_back":        func() after { return k.takeBack },
		"interrupt":        func() after { return k.escape() },
		"clear":            func() after { return k.ctrlC() },
		"quit":             func() after { return k.ctrlD() },
		"tree":             func() after { return func() { k.send(job{text: "/tree", byKey: true}) } },
		"cycle_model":      model(1),
		"cycle_model_back": model(-1),
		"redraw":           func() after { return k.user.term.Redraw },
		"pick_model":       func() after { return func() { k.send(job{text: "/model", byKey: true, inZone: true}) } },
		"cycle_mode":       change("mode", command.CycleMode), // where there are none, the thinking level
		"cycle_thinking":   change("thinking level", command.CycleThinking),
		"complete":         func() after { return func() { k.askCompletions(true) } },
		"show_thinking": func() after {
			s.showThinking = !s.showThinking
			word := "hidden"
			if s.showThinking {
				word = "shown"
			}
			s.mention("thinking: " + word)
			return nil
		},
		"editor":         func() after { return k.editLine },
		"expand":         func() after { return k.expandNext() },
		"paste_image":    func() after { return func() { go k.pasteImage() } },
		"history_search": func() after { l.overlay = newSearch(l, s.palette); return nil },
	}
}

// send has a job done: between two prompts, or while the agent works.
func (k *keyboard) send(x job) {
	x.at = k.screen.now()
	k.jobs.add(x)
	if k.screen.busyNow() {
		k.showQueue()
	}
}

// busyNow reports whether something runs.
func (s *screen) busyNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.activity.tasks) > 0
}

// sendLine sends what is in the line. A backslash at its end is a new line instead. The
// caller has the lock.
func (k *keyboard) sendLine(followUp bool) after {
	s, l := k.screen, k.screen.line
	if !followUp && l.beginRow() {
		return nil
	}
	draft := l.buffer.Save()
	shown, _, _ := l.buffer.Layout(max(1, s.columns), promptSign, "  ")
	if strings.TrimSpace(draft.Text) == "" {
		return nil
	}
	wasRefused := draft.Text == l.refused
	l.reset()
	later := s.activity.isCancelled()
	return func() {
		k.record(draft)
		x := job{text: draft.Text, draft: draft, followUp: followUp, shown: shown, later: later}
		asks := false
		if x.literal, asks = k.pastedCommand(draft); asks && !wasRefused {
			go k.askPasted(x)
			return
		}
		x.literal = x.literal || wasRefused
		k.send(x)
	}
}

// pastedCommand decides what a line with a paste in it is that begins with ! or a slash.
// Behind the typed name of a command a paste is its argument, and behind a typed ! it is
// asked about (asks). Where the first word was pasted the line is text (literal), unless it
// is one row that names a known command: that is asked about, too.
func (k *keyboard) pastedCommand(d edit.Draft) (literal, asks bool) {
	text := strings.TrimLeft(d.Text, " \t\n")
	isShell := strings.HasPrefix(d.Text, "!")
	if !d.IsPasted(0, len(d.Text)) || !isShell && !strings.HasPrefix(text, "/") {
		return false, false
	}
	_, commands := k.attached()
	first := len(d.Text) - len(text)
	word := strings.IndexAny(text+" ", " \t\n")
	switch oneRow := !strings.Contains(text, "\n"); {
	case !isShell && !d.IsPasted(first, first+word):
		return false, false
	case commands == nil: // nobody can say yet what a command is, and nothing is to run unasked
		return true, false
	case isShell:
		asks = oneRow || !d.IsPasted(0, 1)
	case oneRow:
		isCommand, err := commands.Reads(text)
		asks = isCommand && err == nil
	}
	return !asks, asks
}

// askPasted asks whether a pasted text is to be run as a command.
func (k *keyboard) askPasted(x job) {
	yes, err := k.user.Confirm(context.Background(), "Run this pasted text as a command?", x.text, agent.DialogOptions{})
	if err != nil || yes == agent.No {
		k.screen.change(func() { k.screen.line.takeBack(x) })
		return
	}
	k.send(x)
}

// takeBack puts the newest queued message back into the line, above what is typed.
func (k *keyboard) takeBack() {
	last, ok := k.jobs.takeLast()
	if a, _ := k.attached(); !ok && a != nil {
		last.text, ok = a.Inbox().TakeLast()
	}
	if !ok {
		return
	}
	k.screen.change(func() { k.screen.line.takeBack(last) })
	k.showQueue()
}

// escAgain is how long after an interrupt another Esc does nothing.
const escAgain = 500 * time.Millisecond

// escape interrupts what runs, and at rest hooks that go on until an interrupt. The caller has
// the lock.
func (k *keyboard) escape() after {
	if k.screen.now().Sub(k.work.interrupted) < escAgain {
		return nil
	}
	k.work.interrupt("Esc")
	if k.agent == nil {
		return nil
	}
	return k.agent.Inbox().EndAllowed
}

// quitAgain is how long the second Ctrl+C may take.
const quitAgain = 2 * time.Second

// ctrlC interrupts what runs; at rest it clears the line, and in an empty one it quits
// when it is pressed twice. The caller has the lock.
func (k *keyboard) ctrlC() after {
	s, l := k.screen, k.screen.line
	now := s.now()
	if !k.seemsAtRest(now) && k.work.interrupt("Ctrl+C") {
		l.warned = time.Time{}
		return nil
	}
	if !l.empty() {
		l.clear()
		l.warned = time.Time{}
		return nil
	}
	if now.Sub(l.warned) < quitAgain {
		return k.quit
	}
	l.warned = now
	s.answerKey("Ctrl+C again, or Ctrl+D, quits")
	return nil
}

// seemsAtRest reports whether a user takes what runs for ended: a command that Esc has
// just stopped, or that is not shown as running (yet, or any more), while there is a text
// in the line. The caller has the lock.
func (k *keyboard) seemsAtRest(now time.Time) bool {
	s := k.screen
	if s.activity.steers() || s.line.empty() {
		return false
	}
	asks := s.panels.top() != nil || s.panels.component() != nil
	return now.Sub(k.work.interrupted) < escAgain || s.activity.inView(now, asks) == nil
}

// ctrlD quits at rest, if the line is empty; else it removes the character behind the
// cursor. The caller has the lock.
func (k *keyboard) ctrlD() after {
	s, l := k.screen, k.screen.line
	switch {
	case !l.empty():
		l.buffer.Do("delete")
		return nil
	case len(s.activity.tasks) > 0:
		s.answerKey("Ctrl+D quits when nothing runs; Esc interrupts")
		return nil
	}
	return func() {
		k.jobs.end()
	}
}

// plainInterrupt is called for Ctrl+C in plain mode. At rest it is no answer to a dialog.
func (k *keyboard) plainInterrupt() {
	s := k.screen
	if k.user.plain.interrupt(s.busyNow()) {
		return
	}
	var then after
	s.change(func() {
		components := s.panels.components
		for _, x := range components {
			x.cancel()
		}
		if len(components) == 0 {
			then = k.ctrlC()
		}
	})
	if then != nil {
		then()
	}
	k.user.plain.ended()
	k.work.signal()
}

// editLine has the user edit the line in their editor.
func (k *keyboard) editLine() {
	k.screen.mu.Lock()
	text, busy := k.screen.line.text(), len(k.screen.activity.tasks) > 0
	k.screen.mu.Unlock()
	if busy {
		k.user.Notify("the editor can be opened when nothing runs", agent.LevelInfo)
		return
	}
	go func() {
		ctx := asUser(context.Background(), k.screen.now())
		text, saved, err := k.user.Editor(ctx, "", text, agent.DialogOptions{})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			k.user.Notify(err.Error(), agent.LevelWarning)
		}
		if saved {
			k.screen.change(func() { k.screen.line.setTyped(text) })
		}
	}()
}

// keyTable says what the keys of the line do.
type keyTable struct {
	table  *keymap.Map
	reader *keymap.Reader
}

// meaning is what a key means to the line: an action of the program or of the text, or
// the shortcut of a hook. waiting is set for the first key of a chord, and for one that
// ended a chord that means nothing.
type meaning struct {
	action   string
	edits    bool
	shortcut string
	waiting  bool
}

// read understands a key. rests says that the line is empty and nothing runs.
func (t *keyTable) read(name string, rests bool) meaning {
	switch x := t.reader.Next(name, rests); x.State {
	case keymap.Waiting, keymap.Refused:
		return meaning{waiting: true}
	case keymap.Bound:
		return meaning{action: x.Action, edits: t.table.Edits(x.Action), shortcut: x.Shortcut}
	}
	return meaning{}
}

// usesAlt reports whether a key with Alt does something.
func (k *keyboard) usesAlt(name string) bool {
	k.screen.mu.Lock()
	component := len(k.screen.panels.components) > 0
	k.screen.mu.Unlock()
	const marks = "alt+space" // in a list
	return component || name == marks || k.table.reader.Uses(name)
}

// Commands returns the commands that only this front end has.
func (r *REPL) Commands() []command.Command {
	return []command.Command{{
		Name: "quit", Aliases: []string{"exit"}, Help: "leave; Ctrl+D on an empty line does the same",
		Run: func(context.Context, string) (command.Outcome, error) { return command.Outcome{Quit: true}, nil },
	}, {
		Name: "hotkeys", Help: "list what the keys do, those of hooks too",
		Run: func(context.Context, string) (command.Outcome, error) {
			return command.Outcome{Status: r.keyboard.hotkeys()}, nil
		},
	}, {
		Name: "expand", Args: "[NUMBER]", Help: "show a folded result whole, by its number; Ctrl+O shows the newest",
		Run: r.keyboard.expandCommand,
	}}
}

// hotkeys is the table of the keys that is in force, with the names of actions in [keys];
// those of hooks are at the end.
func (k *keyboard) hotkeys() string {
	var own []keymap.Shortcut
	for _, s := range k.shortcuts() {
		own = append(own, keymap.Shortcut{Key: s.Key, Meaning: s.Help, Hook: s.Hook})
	}
	var rows []command.HelpRow
	for _, row := range k.table.table.Rows(own) {
		meaning := row.Meaning
		if row.Hook != "" {
			meaning += " (hook " + row.Hook + ")"
		} else {
			meaning += " (" + row.Action + ")" // the name that [keys] has for it
		}
		if row.Keys != "" {
			rows = append(rows, command.HelpRow{Typed: row.Keys, Meaning: meaning})
		}
	}
	k.screen.mu.Lock()
	defer k.screen.mu.Unlock()
	return command.HelpTable(rows, k.screen.columns)
}

// helpFront is what /help says first: the ten things one needs, with the keys as they are
// bound now.
func (k *keyboard) helpFront() command.Front {
	k.screen.mu.Lock()
	columns, plain := k.screen.columns, k.screen.plain
	k.screen.mu.Unlock()
	rows := []command.HelpRow{
		{Typed: "!command", Meaning: "runs in the shell; the model sees what it printed"},
		{Typed: "!!command", Meaning: "the same, and the model does not see it"},
		{Typed: "@file", Meaning: "sends a file along; also @file:10-40, a folder, an image"},
		{Typed: "/name", Meaning: "a command; /help NAME tells about one"},
	}
	if plain {
		rows = append(rows, // [keys] does not bind these
			command.HelpRow{Typed: "Enter", Meaning: "sends the line; while the agent works: after the running tools"},
			command.HelpRow{Typed: `\ Enter`, Meaning: "goes on with the line in a new row"},
			command.HelpRow{Typed: "Ctrl+C", Meaning: "stops the work"},
			command.HelpRow{Typed: "Ctrl+D", Meaning: "leaves, in an empty line"})
		return command.Front{Rows: rows, Columns: columns}
	}
	for _, r := range []struct{ actions, meaning string }{
		{"complete", "completes commands, arguments, files"},
		{"interrupt", "stops the work, or leaves a menu, a list, a question"},
		{"expand", "shows the newest folded output whole; again: the one before"},
		{"history_search", "searches what was typed before"},
		{"follow_up take_back", "queues the line for the end of the work; takes the last queued one back"},
		{"editor", "edits the line in $VISUAL, $EDITOR or vi"},
	} {
		if keys := k.labels(r.actions); keys != "" {
			rows = append(rows, command.HelpRow{Typed: keys, Meaning: r.meaning})
		}
	}
	return command.Front{Rows: rows, More: "/hotkeys lists all keys.", Columns: columns}
}

// labels are the first keys of some actions; "" if one of them has none.
func (k *keyboard) labels(actions string) string {
	var keys []string
	for action := range strings.FieldsSeq(actions) {
		label := k.table.table.Label(action)
		if label == "" {
			return ""
		}
		keys = append(keys, label)
	}
	return strings.Join(keys, ", ")
}
