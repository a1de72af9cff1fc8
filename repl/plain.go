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
	leave  func()        // called for Ctrl+C; nil: that is an empty line
}

// plainLines decides what a typed line is for: the first dialog that is open, else the
// loop.
type plainLines struct {
	mu      sync.Mutex
	dialogs []*plainDialog
	wanted  bool // the loop waits for a line: its prompt is open, unless a dialog asks
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

// interrupt has Ctrl+C leave the first dialog, and reports whether there is one. A question
// that something running asks ends with that.
func (p *plainLines) interrupt(busy bool) bool {
	p.mu.Lock()
	leave := func() { p.answer("") }
	asks := len(p.dialogs) > 0 && (!busy || p.dialogs[0].leave != nil)
	if asks && p.dialogs[0].leave != nil {
		leave = p.dialogs[0].leave
	}
	p.mu.Unlock()
	if asks {
		leave()
	}
	return asks
}

// want notes that the loop waits for a line. It reports whether its prompt is to be shown:
// it is not open, and no dialog asks.
func (p *plainLines) want() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	return p.openLocked()
}

// again reports whether the prompt of the loop is to be shown, because it is wanted and
// the last dialog has ended.
func (p *plainLines) again() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted && p.openLocked()
}

func (p *plainLines) openLocked() bool {
	if p.open || len(p.dialogs) > 0 {
		return false
	}
	p.open = true
	return true
}

// ended notes that the loop has its line, and returns whether its prompt was open.
func (p *plainLines) ended() (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.open, p.wanted = p.open, false, false
	return was
}

// makeRoom notes that a dialog has the place of the prompt, and returns whether that was
// open.
func (p *plainLines) makeRoom() (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.open = p.open, false
	return was
}

// lineTyped is called for a line in plain mode.
func (k *keyboard) lineTyped(text string) {
	if k.user.plain.answer(text) {
		return
	}
	k.user.plain.ended()
	before, more, given := "", false, ""
	k.screen.change(func() {
		before, more = joinLines(k.screen.line.before, text)
		if k.screen.line.before = ""; more {
			k.screen.line.before = before
		}
		given = k.screen.line.given
	})
	if more {
		k.user.openPrompt()
		return
	}
	if strings.TrimSpace(before) != "" {
		before = k.withoutGiven(before, given)
		k.record(edit.Draft{Text: before})
		k.send(job{text: before})
		return
	}
	k.user.openPrompt()
}

// withoutGiven is a line without the text that the prompt began with, if a command stands
// right behind that: nobody sees there that a slash takes its place.
func (k *keyboard) withoutGiven(text, given string) string {
	rest, isBehind := strings.CutPrefix(text, given)
	_, commands := k.attached()
	if given == "" || !isBehind || !strings.HasPrefix(rest, "/") || commands == nil {
		return text
	}
	if isCommand, err := commands.Reads(rest); isCommand && err == nil {
		return rest
	}
	return text
}

// inputHasEnded is called when nothing more will be typed, and in plain mode for Ctrl+D,
// which is no answer to a dialog.
func (k *keyboard) inputHasEnded() {
	if !k.screen.isPlain() {
		if k.user.hasEnded() {
			return
		}
		k.screen.change(func() {
			for _, x := range k.screen.panels.components {
				x.cancel()
			}
		})
		close(k.user.ended)
		k.jobs.end()
		return
	}
	if !k.user.plain.answer("") {
		k.user.plain.ended()
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
func (p *user) openPrompt() {
	if p.term.Plain() && p.plain.want() {
		p.showPrompt()
	}
}

// showPrompt shows the prompt of the loop, and above it the status line if that has
// changed.
func (p *user) showPrompt() {
	status, sign, text := []string(nil), promptSign, ""
	p.screen.change(func() {
		s := p.screen
		status = s.statusRows(s.columns)
		if s.line.before != "" {
			sign = continueSign
		}
		s.line.given = ""
		if text = s.line.text(); text != "" {
			if s.line.placed {
				s.line.given = text
			}
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
func (p *user) closePrompt() {
	if p.term.Plain() && p.plain.ended() {
		p.keepDraft()
	}
}

// keepDraft closes the open prompt and keeps its text.
func (p *user) keepDraft() {
	if text, ok := p.term.Unprompt(); ok && text != "" {
		p.screen.change(func() { p.screen.line.set(text) })
	}
}

// promptFor shows the prompt of a dialog. If that of the loop was open, its text is
// kept.
func (p *user) promptFor(sign string) {
	if p.plain.makeRoom() {
		p.keepDraft()
	}
	p.term.Prompt(sign, "")
}

// converseEnds ends a dialog, and shows the prompt of the loop again if that is wanted.
func (p *user) converseEnds(x *plainDialog) {
	p.plain.remove(x)
	if p.plain.again() {
		p.showPrompt()
	}
}
