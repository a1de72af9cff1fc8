package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// selectShown is how many options are listed at once.
const selectShown = 30

// question is a dialog: the lines that are shown, and the meaning of a typed line.
type question struct {
	lines   []string // shown once
	prompt  string
	options []string // to choose from; nil: none
	near    int      // the option that is in view at first
	further []int    // the options to show for a text that matches none
	// answer is called with a line. It returns the lines to show before asking
	// again, or done if the line was an answer.
	answer func(line string) (again []string, done bool)
}

// Confirm asks a question: y or yes is Yes, a or always is Always where o wants that; n,
// no, an empty line and no answer are No. After anything else the person is asked again.
func (r *REPL) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	answer := agent.No
	q := question{lines: paragraphs(asker(o), title, message), prompt: "[y/N] "}
	if o.Always != "" {
		q.prompt = "[y/a(lways in this session)/N] "
	}
	q.answer = func(line string) ([]string, bool) {
		switch line = strings.ToLower(line); {
		case line == "y" || line == "yes":
			answer = agent.Yes
		case o.Always != "" && (line == "a" || line == "always"):
			answer = agent.Always
		case line != "" && line != "n" && line != "no":
			return []string{"Please answer y or n."}, false
		}
		return nil, true
	}
	if err := r.ask(ctx, o, q); err != nil {
		return agent.No, err
	}
	return answer, nil
}

// asker names the hook that asks; "" if it is the program.
func asker(o agent.DialogOptions) string {
	if o.From == "" {
		return ""
	}
	return "hook " + printable.Line(o.From) + " asks:"
}

// Input asks for a line of text. It reports false for an empty line and for no answer.
func (r *REPL) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	text := ""
	q := question{lines: paragraphs(asker(o), title), prompt: "? "}
	if placeholder != "" {
		q.lines = append(q.lines, r.screen.Styled(terminal.StyleDim, "("+printable.Line(placeholder)+")"))
	}
	q.answer = func(line string) ([]string, bool) {
		text = line
		return nil, true
	}
	err := r.ask(ctx, o, q)
	return text, text != "" && err == nil, err
}

// Select lets the person choose one of options with the arrows, by its number, or
// by a part of it; a part that several have narrows the list. An empty line
// chooses none.
func (r *REPL) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	if len(choices) == 0 {
		return nil, false, nil
	}
	chosen := -1
	q := question{lines: paragraphs(asker(o), title), prompt: "number or text? "}
	for i, c := range choices {
		q.options = append(q.options, strings.TrimRight(c.Text()+"  "+c.Description, " "))
		if c.Further {
			q.further = append(q.further, i)
		}
		if slices.Contains(o.Default, c.Value) && q.near == 0 {
			q.near = i
		}
	}
	options := q.options
	q.answer = func(line string) ([]string, bool) {
		if line == "" {
			return nil, true
		}
		found := choose(options, line)
		switch len(found) {
		case 0:
			return append([]string{"Nothing matches " + strconv.Quote(line) + "."}, r.listed(options, q.further)...), false
		case 1:
			chosen = found[0]
			return nil, true
		}
		return r.listed(options, found), false
	}
	err := r.ask(ctx, o, q)
	if err != nil || chosen < 0 {
		return nil, false, err
	}
	return []string{choices[chosen].Value}, true, nil
}

// choose finds the options that a typed line means: a number, the whole text,
// or a part of it. An empty line means all.
func choose(options []string, line string) (found []int) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(options) {
		return []int{n - 1}
	}
	if i := slices.Index(options, line); i >= 0 {
		return []int{i}
	}
	part := strings.ToLower(line)
	for i, option := range options {
		if strings.Contains(strings.ToLower(printable.Text(option)), part) {
			found = append(found, i)
		}
	}
	return found
}

// listed is the lines of some of the options, each under its number among all.
func (r *REPL) listed(options []string, which []int) (lines []string) {
	for _, i := range which[:min(len(which), selectShown)] {
		lines = append(lines, numbered(options, i))
	}
	if n := len(which) - selectShown; n > 0 {
		lines = append(lines, fmt.Sprintf("     … %d more: type a part of the name", n))
	}
	return lines
}

// numbered is an option under its number, on one line. The spaces that make its columns
// stay.
func numbered(options []string, i int) string {
	row := strings.NewReplacer("\n", " ", "\t", " ").Replace(printable.Text(options[i]))
	return fmt.Sprintf("%3d  %s", i+1, strings.TrimRight(row, " "))
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

// ask runs a dialog to its end: an answer, Ctrl+D, the timeout (then the default
// counts, without an error) or the end of ctx. Where no person can be asked it returns
// nil at once, and q.answer is not called.
func (r *REPL) ask(ctx context.Context, o agent.DialogOptions, q question) error {
	if err := r.begin(); err != nil {
		return err
	}
	if !r.HasUI() || r.keyboard == nil {
		return nil
	}
	if err := r.floor.acquireDialog(ctx); err != nil {
		return err
	}
	defer r.floor.releaseDialog()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.TimeoutMS > 0 {
		limited, cancel = context.WithTimeout(ctx, time.Duration(o.TimeoutMS)*time.Millisecond)
	}
	defer cancel()
	shown, err := r.askKeys(limited, q)
	if !shown {
		r.prompter.Rest()
		err = r.converse(limited, q)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
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

// converse asks where only whole lines can be read, until q.answer accepts one. It
// returns nil too if the input ends, and the error of ctx if that ends.
func (r *REPL) converse(ctx context.Context, q question) error {
	answers, back := r.inbox.Lend()
	defer back()
	q.prompt = remaining(ctx) + q.prompt
	r.screen.Ask(append(q.lines, r.listed(q.options, choose(q.options, ""))...), q.prompt)
	for {
		select {
		case <-ctx.Done():
			r.screen.EndLine()
			return ctx.Err()
		case a := <-answers:
			if a.EOF {
				r.screen.EndLine()
				return nil
			}
			r.screen.LineEnded("")
			again, done := q.answer(strings.TrimSpace(a.Text))
			if done {
				return nil
			}
			r.screen.Ask(again, q.prompt)
		}
	}
}
