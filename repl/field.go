package repl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// fieldOptions is how many options are shown above the line that chooses among
// them.
const fieldOptions = 10

// field is the line of a dialog on a terminal that sends single keys: text is
// typed at its end, and with options the arrows choose. It is used by one
// goroutine.
type field struct {
	terminal.Palette
	q      question
	prompt func() string
	show   func(lines []string) // above the panel
	finish func()

	open bool // it was drawn, and the lines of the question were shown
	text []rune
	at   int // among the options that the text means; -1: none is chosen
	done bool
}

// askKeys asks with single keys, and writes the prompt with the answer, or a dash if
// there was none, into the transcript. shown is false, and nothing was asked, where
// only lines can be read. err is that of ctx, if it ended first.
func (r *REPL) askKeys(ctx context.Context, q question) (shown bool, err error) {
	ended, finish := context.WithCancel(ctx)
	defer finish()
	f := &field{Palette: r.screen.Palette, q: q, at: -1, finish: finish}
	f.prompt = func() string { return remaining(ctx) + q.prompt }
	f.show = func(lines []string) {
		for _, line := range lines {
			r.screen.Print(line)
		}
	}
	again, stop := seconds(ctx)
	defer stop()
	if !r.present(ended, f, again, func() { r.work.interrupt(); finish() }) {
		return false, nil
	}
	if ctx.Err() == nil || f.done {
		answer := "–"
		if f.done {
			answer = printable.Line(string(f.text))
		}
		r.screen.Print(r.screen.Styled(terminal.StyleBold, q.prompt) + answer)
	}
	if f.done {
		return true, nil
	}
	return true, ctx.Err()
}

// seconds returns a channel that is signalled each second, so that the time that ctx
// has left can be shown anew; it is nil if ctx has no deadline. stop ends that.
func seconds(ctx context.Context) (again <-chan struct{}, stop func()) {
	if _, limited := ctx.Deadline(); !limited {
		return nil, func() {}
	}
	signal, done, ended := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			select {
			case signal <- struct{}{}:
			default:
			}
		}
	}()
	return signal, func() { close(done); <-ended }
}

// found lists the options that the typed text means; without a text, all of them.
// matches is false if it means none, and then the further options of the question are
// listed.
func (f *field) found() (options []int, matches bool) {
	if f.q.options == nil {
		return nil, true
	}
	if options = choose(f.q.options, strings.TrimSpace(string(f.text))); len(options) > 0 {
		return options, true
	}
	return f.q.further, false
}

// Render draws the options around the chosen one, and the line below them. The first time
// it shows the lines of the question, so that a person who reads them can answer.
func (f *field) Render(width, _ int) agent.Drawing {
	if !f.open {
		f.open = true
		f.show(f.q.lines)
	}
	var lines []string
	found, matches := f.found()
	from := max(0, min(f.around()-fieldOptions/2, len(found)-fieldOptions))
	for i, option := range found[from:min(from+fieldOptions, len(found))] {
		line := "  " + numbered(f.q.options, option)
		if from+i == f.at {
			line = f.Paint("accent", terminal.Cut(">"+line[1:], width))
		}
		lines = append(lines, line)
	}
	if n := len(found) - fieldOptions; n > 0 {
		lines = append(lines, f.Paint("dim", fmt.Sprintf("     … %d more: type a part of the name, or use the arrows", n)))
	}
	if !matches {
		lines = append(lines, f.Paint("dim", "  nothing matches; Esc leaves"))
	}
	lines = append(lines, f.Paint("bold", f.prompt())+tail(string(f.text), width-utf8.RuneCountInString(f.prompt())))
	return agent.Drawing{Lines: lines}
}

// around is the option that the shown part of the list is centred on.
func (f *field) around() int {
	if f.at < 0 && len(f.text) == 0 {
		return f.q.near
	}
	return f.at
}

// tail cuts off the beginning of a text that is too long for its columns.
func tail(text string, columns int) string {
	for columns > 0 && len(text) > 0 && terminal.Cut(text, columns) != text {
		_, n := utf8.DecodeRuneInString(text)
		text = text[n:]
	}
	return text
}

// HandleInput edits the line, moves among the options, or answers. Esc and Ctrl+D end
// the dialog without an answer.
func (f *field) HandleInput(k agent.Key) bool {
	switch key := k.Name; key {
	case "esc", "ctrl+d":
		f.finish()
	case "enter":
		f.enter()
	case "up", "shift+tab", "ctrl+p":
		f.move(-1)
	case "down", "tab", "ctrl+n":
		f.move(1)
	case "backspace", "ctrl+h":
		f.set(f.text[:max(0, len(f.text)-1)])
	case "ctrl+u":
		f.set(nil)
	case "ctrl+w", "alt+backspace":
		text := strings.TrimRight(string(f.text), " ")
		f.set([]rune(text[:strings.LastIndex(text, " ")+1]))
	case "space", "ctrl+j": // a line end that was pasted
		f.set(append(f.text, ' '))
	default:
		if utf8.RuneCountInString(key) == 1 {
			f.set(append(f.text, []rune(key)...))
		}
	}
	return true
}

// set sets the text, and chooses the first option that it means; none for a blank text.
func (f *field) set(text []rune) {
	f.text, f.at = slices.Clone(text), -1
	if _, matches := f.found(); matches && f.q.options != nil && strings.TrimSpace(string(text)) != "" {
		f.at = 0
	}
}

// move chooses the next option, or with -1 the one before.
func (f *field) move(by int) {
	found, _ := f.found()
	n := len(found)
	switch {
	case n == 0:
	case f.at < 0 && f.around() > 0:
		f.at = f.around()
	case f.at < 0 && by < 0:
		f.at = n - 1
	default:
		f.at = (f.at + by + n) % n
	}
}

// enter answers with the chosen option, or with the text where there are no options. A
// text that no option has is ignored. If the question does not accept the answer, its
// words are shown and the text is emptied.
func (f *field) enter() {
	line := strings.TrimSpace(string(f.text))
	shown := line
	switch {
	case f.q.options == nil:
	case f.at >= 0:
		found, _ := f.found()
		option := found[f.at]
		line, shown = strconv.Itoa(option+1), f.q.options[option]
	case line != "":
		return // nothing matches
	}
	again, done := f.q.answer(line)
	if done {
		f.text, f.done = []rune(shown), true
		f.finish()
		return
	}
	f.show(again)
	f.set(nil)
}
