package repl

import (
	"slices"
	"strings"
	"sync"

	"pi/internal/edit"
)

// Plain mode has no live zone: what is typed comes in whole lines. A prompt is open at
// rest and while a dialog asks; while the agent works none is, and a line steers.

// plainDialog is a dialog that a line answers.
type plainDialog struct {
	prompt string
	lines  chan string   // a buffer of one
	turn   chan struct{} // closed when it is the first
}

// plainLines decides what a typed line is for: the first dialog that is open, else the
// loop.
type plainLines struct {
	mu      sync.Mutex
	dialogs []*plainDialog
	open    bool // the prompt of the loop is
}

// add has a dialog get the lines, behind those before it.
func (p *plainLines) add(x *plainDialog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs = append(p.dialogs, x)
	if len(p.dialogs) == 1 {
		close(x.turn)
	}
}

// remove ends a dialog, and gives the next one its turn.
func (p *plainLines) remove(x *plainDialog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.dialogs, x)
	if i < 0 {
		return
	}
	p.dialogs = slices.Delete(p.dialogs, i, i+1)
	if i == 0 && len(p.dialogs) > 0 {
		close(p.dialogs[0].turn)
	}
}

// answer gives a line to the first dialog, and reports whether there is one.
func (p *plainLines) answer(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.dialogs) == 0 {
		return false
	}
	select {
	case p.dialogs[0].lines <- line:
	default: // it has one already; people type the next when they are asked again
	}
	return true
}

// setOpen notes whether the prompt of the loop is open, and returns whether it was.
func (p *plainLines) setOpen(open bool) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.open = p.open, open
	return was
}

// lineTyped is called for a line in plain mode.
func (k *keyboard) lineTyped(text string) {
	if k.person.plain.answer(text) {
		return
	}
	k.person.plain.setOpen(false)
	before, more := "", false
	k.screen.change(func() {
		before, more = joinLines(k.screen.line.before, text)
		if k.screen.line.before = ""; more {
			k.screen.line.before = before
		}
	})
	if more {
		k.person.openPrompt()
		return
	}
	if strings.TrimSpace(before) != "" {
		k.record(edit.Draft{Text: before})
		k.send(job{text: before})
		return
	}
	k.person.openPrompt()
}

// inputHasEnded is called when nothing more will be typed, and in plain mode for Ctrl+D,
// which is no answer to a dialog.
func (k *keyboard) inputHasEnded() {
	if !k.person.plain.answer("") {
		k.person.plain.setOpen(false)
		k.jobs.end()
	}
}

// joinLines adds a line to those before it; more reports that it ends in a
// backslash, so that another one follows.
func joinLines(before, line string) (text string, more bool) {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	if n%2 == 1 {
		return before + line[:len(line)-1] + "\n", true
	}
	return before + line, false
}

// openPrompt shows the prompt of the plain mode, if nothing asks at the moment.
func (p *person) openPrompt() {
	if !p.term.Plain() || p.plain.setOpen(true) {
		return
	}
	status, sign, text := []string(nil), promptSign, ""
	p.screen.change(func() {
		s := p.screen
		status = s.statusRows(s.columns)
		if s.line.before != "" {
			sign = continueSign
		}
		if text = s.line.text(); text != "" {
			s.line.set("")
		}
		if len(status) > 0 && status[0] != s.line.shownStatus && p.HasUI() && sign == promptSign {
			s.add(kindRows, status...)
			s.line.shownStatus = status[0]
		}
	})
	p.term.Prompt(sign, text)
}

// continueSign is before a line that goes on with the one before it.
const continueSign = "... "

// closePrompt closes the prompt of the loop, and keeps what was typed for the next one.
func (p *person) closePrompt() {
	if !p.term.Plain() || !p.plain.setOpen(false) {
		return
	}
	p.keepDraft()
}

// keepDraft closes the open prompt and keeps its text.
func (p *person) keepDraft() {
	if text, ok := p.term.Unprompt(); ok && text != "" {
		p.screen.change(func() { p.screen.line.set(text) })
	}
}

// promptFor shows the prompt of a dialog. If that of the loop was open, its text is
// kept.
func (p *person) promptFor(sign, text string) (draft string) {
	if p.plain.setOpen(false) {
		p.keepDraft()
		draft = "reopen"
	}
	p.term.Prompt(sign, text)
	return draft
}

// reopen shows the prompt of the loop again, if a dialog closed it.
func (p *person) reopen(draft string) {
	if draft != "" {
		p.openPrompt()
	}
}
