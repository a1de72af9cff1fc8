package repl

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/repl/terminal"
	"pi/repl/terminal/keymap"
)

// Shortcut is a key of a hook. Run is called between two prompts, or while the agent
// works; the text in the line is kept.
type Shortcut struct {
	Key, Help string
	Hook      string
	Run       func(context.Context) (command.Outcome, error)
}

// after is what a key does once the lock of the screen is free; nil for nothing.
type after func()

// key gives a key to whom it is for: the panel in view, a component of a hook, or the
// line.
func (r *REPL) key(k terminal.Key) {
	s := r.screen
	var then after
	s.key(func() {
		if !k.Release && s.panelKey(k) {
			return
		}
		if n := len(s.panels.components); n > 0 && (!k.Release || s.panels.components[n-1].options.Releases) {
			s.panels.components[n-1].press(k)
			return
		}
		if !k.Release {
			then = r.lineKey(k)
		}
	})
	if then != nil {
		then()
	}
}

// unusedKey is called with a key that a component does not want: Esc and Ctrl+C close
// the component, all else is for the line.
func (r *REPL) unusedKey(k terminal.Key) {
	s := r.screen
	var then after
	s.key(func() {
		n := len(s.panels.components)
		switch {
		case n > 0 && (k.Name == "esc" || k.Name == "ctrl+c"):
			s.panels.components[n-1].cancel()
		case n == 0 || !s.panels.components[n-1].options.Over:
			then = r.lineKey(k)
		}
	})
	if then != nil {
		then()
	}
}

// lineKey gives a key to the line: to its menu or search, to the action that is bound
// to it, or to the text. The caller has the lock.
func (r *REPL) lineKey(k terminal.Key) after {
	s, l := r.screen, r.screen.line
	if l.overlayKey(k) {
		return nil
	}
	m := l.keys.read(k.Name, l.empty() && len(s.busy.works) == 0)
	if m.action != "expand" {
		s.folds.again()
	}
	switch {
	case m.waiting:
		return nil
	case m.shortcut != "":
		return func() { r.runShortcut(m.shortcut) }
	case m.action != "" && !m.edits:
		if do, ok := r.actions()[m.action]; ok {
			return do()
		}
		return nil
	}
	l.edit(k, m.action)
	return r.completeSoon(k)
}

// runShortcut runs the shortcut of a hook.
func (r *REPL) runShortcut(chord string) {
	for _, s := range r.shortcuts() {
		if own, err := keymap.ParseChord(s.Key); err == nil && own == chord {
			r.send(job{run: s.Run})
			return
		}
	}
}

// shortcuts are those of hooks at this moment.
func (r *REPL) shortcuts() []Shortcut {
	if r.opts.Shortcuts == nil {
		return nil
	}
	return r.opts.Shortcuts()
}

// actions are what keys can do besides editing, by their names in [keys]. Each is called
// with the lock, and returns what to do without it.
func (r *REPL) actions() map[string]func() after {
	s, l := r.screen, r.screen.line
	run := func(f func(context.Context) (command.Outcome, error)) func() after {
		return func() after { return func() { r.send(job{run: f}) } }
	}
	return map[string]func() after{
		"send":      func() after { return r.sendLine(false) },
		"follow_up": func() after { return r.sendLine(true) },
		"take_back": func() after { return r.takeBack },
		"interrupt": func() after { return r.escape() },
		"clear":     func() after { return r.ctrlC() },
		"quit":      func() after { return r.ctrlD() },
		"suspend":   func() after { return func() { r.term.Suspend() } },
		"tree":      func() after { return func() { r.send(job{text: "/tree"}) } },
		"cycle_model": run(func(ctx context.Context) (command.Outcome, error) {
			return command.CycleModel(ctx, r.agent, 1)
		}),
		"cycle_model_back": run(func(ctx context.Context) (command.Outcome, error) {
			return command.CycleModel(ctx, r.agent, -1)
		}),
		"pick_model":     func() after { return func() { r.send(job{text: "/model"}) } },
		"cycle_mode":     r.cycleThinking,
		"cycle_thinking": r.cycleThinking,
		"complete":       func() after { return r.complete },
		"show_thinking": func() after {
			s.showThinking = !s.showThinking
			word := "hidden"
			if s.showThinking {
				word = "shown"
			}
			s.tell([]string{s.palette.Paint("dim", "thinking: "+word)})
			return nil
		},
		"editor":         func() after { return r.editLine },
		"expand":         func() after { return r.expandNext() },
		"paste_image":    func() after { return r.pasteImage },
		"history_search": func() after { l.overlay = newSearch(l, s.palette); return nil },
	}
}

// cycleThinking goes on to the next thinking level. The caller has the lock.
func (r *REPL) cycleThinking() after {
	return func() {
		r.send(job{run: func(ctx context.Context) (command.Outcome, error) { return command.CycleThinking(ctx, r.agent) }})
	}
}

// send has a job done: between two prompts, or while the agent works.
func (r *REPL) send(x job) {
	r.jobs.add(x)
	if r.screen.busyNow() {
		r.showQueue()
	}
}

// busyNow reports whether something runs.
func (s *screen) busyNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.busy.works) > 0
}

// sendLine sends what is in the line. A backslash at its end is a new line instead. The
// caller has the lock.
func (r *REPL) sendLine(followUp bool) after {
	l := r.screen.line
	if text, more := joinLines("", l.text()); more && !followUp && l.atEnd() {
		l.set(text)
		return nil
	}
	draft, text, pasted := l.buffer.Save(), l.text(), l.hasPaste()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	l.reset()
	return func() {
		r.record(draft)
		if literal, asks := r.pastedCommand(text, pasted); asks {
			go r.askPasted(job{text: text, pasted: pasted, followUp: followUp})
		} else {
			r.send(job{text: text, pasted: pasted, followUp: followUp, literal: literal})
		}
	}
}

// pastedCommand decides what a text with a paste in it is that begins with ! or a slash:
// text (literal), unless it is one row that names a known command, or a typed ! with
// pasted text behind it: these are asked for.
func (r *REPL) pastedCommand(text string, pasted bool) (literal, asks bool) {
	if !pasted || !strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "/") {
		return false, false
	}
	oneRow := !strings.Contains(text, "\n")
	isCommand, err := r.commands.Reads(text)
	if oneRow && err == nil && (isCommand || strings.HasPrefix(text, "!")) {
		return false, true
	}
	return true, false
}

// askPasted asks whether a pasted text is to be run as a command.
func (r *REPL) askPasted(x job) {
	yes, err := r.Confirm(asPerson(context.Background()), "Run this pasted text as a command?", x.text, agent.DialogOptions{})
	if err != nil || yes == agent.No {
		r.screen.change(func() { r.screen.line.prepend(x.text) })
		return
	}
	r.send(x)
}

// takeBack puts the newest queued message back into the line, above what is typed.
func (r *REPL) takeBack() {
	text, ok := r.jobs.takeLast()
	if !ok {
		text, ok = r.agent.Inbox().TakeLast()
	}
	if !ok {
		return
	}
	r.screen.change(func() { r.screen.line.prepend(text) })
	r.showQueue()
}

// escAgain is how long after an interrupt another Esc does nothing.
const escAgain = 500 * time.Millisecond

// escape interrupts what runs. The caller has the lock.
func (r *REPL) escape() after {
	if r.screen.now().Sub(r.work.interrupted) < escAgain {
		return nil
	}
	r.work.interrupt("Esc")
	return nil
}

// quitAgain is how long the second Ctrl+C may take.
const quitAgain = 2 * time.Second

// ctrlC interrupts what runs; at rest it clears the line, and in an empty one it quits
// when it is pressed twice. The caller has the lock.
func (r *REPL) ctrlC() after {
	s, l := r.screen, r.screen.line
	now := s.now()
	if r.work.interrupt("Ctrl+C") {
		l.warned = time.Time{}
		return nil
	}
	if !l.empty() {
		l.clear()
		l.warned = time.Time{}
		return nil
	}
	if now.Sub(l.warned) < quitAgain {
		return r.quit
	}
	l.warned = now
	s.tell([]string{s.palette.Paint("dim", "Ctrl+C again, or Ctrl+D, quits")})
	return nil
}

// ctrlD quits at rest, if the line is empty; else it removes the character behind the
// cursor. The caller has the lock.
func (r *REPL) ctrlD() after {
	s, l := r.screen, r.screen.line
	switch {
	case !l.empty():
		l.buffer.Do("delete")
		return nil
	case len(s.busy.works) > 0:
		s.tell([]string{s.palette.Paint("dim", "Ctrl+D quits when nothing runs; Esc interrupts")})
		return nil
	}
	return func() {
		r.jobs.end()
	}
}

// plainInterrupt is called for Ctrl+C in plain mode.
func (r *REPL) plainInterrupt() {
	s := r.screen
	var then after
	s.change(func() {
		components := s.panels.components
		for _, x := range components {
			x.cancel()
		}
		if len(components) == 0 {
			then = r.ctrlC()
		}
	})
	if then != nil {
		then()
	}
	r.plain.setOpen(false)
	r.work.signal()
}

// editLine has the person edit the line in their editor.
func (r *REPL) editLine() {
	r.screen.mu.Lock()
	text, busy := r.screen.line.text(), len(r.screen.busy.works) > 0
	r.screen.mu.Unlock()
	if busy {
		r.Notify("the editor can be opened when nothing runs", agent.LevelInfo)
		return
	}
	go func() {
		ctx := asPerson(context.Background())
		text, saved, err := r.Editor(ctx, "", text, agent.DialogOptions{})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			r.Notify(err.Error(), agent.LevelWarning)
		}
		if saved {
			r.screen.change(func() { r.screen.line.set(text) })
		}
	}()
}
