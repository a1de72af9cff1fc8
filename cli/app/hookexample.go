package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/examples"
	"pi/luahooks/trust"
)

// Examples are hooks that came with the program: who trusts the program trusts
// them. So one is added without a question; asked is before another file is
// replaced.

// ListedExample is an example, and what there is of it among the hooks of the user.
type ListedExample struct {
	examples.Example
	State examples.State
	Known bool // the program has written it there, now or earlier
}

// ListExamples lists the examples by name.
func ListExamples(p trust.Places) ([]ListedExample, error) {
	all, err := examples.All()
	if err != nil {
		return nil, err
	}
	added, err := examples.ReadAdded(p)
	list := make([]ListedExample, len(all))
	for i, e := range all {
		list[i] = ListedExample{e, added.State(e), added.Known(e)}
	}
	return list, err
}

// TellAdded says that an example is among the hooks of the user, and what it does and needs.
func TellAdded(e examples.Example, d *trust.Draft) string {
	path := printable.VisibleLine(config.Tilde(d.Hook()))
	text := "added: " + path + " and its test; in force, in sessions that run too"
	if d.Diff == "" {
		text = "is there already: " + path
	}
	text += "\n    " + e.About()
	if needs := TellNeeds(e); needs != "" {
		text += "\n    " + needs
	}
	return text
}

// TellNeeds says what an example needs besides itself, and if it is a program that is not there;
// "" where it needs nothing.
func TellNeeds(e examples.Example) string {
	if e.Needs() == "" {
		return ""
	}
	text := "it needs " + strings.ReplaceAll(e.Needs(), "`", "")
	programs := e.Programs()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err == nil {
			return text
		}
	}
	switch len(programs) {
	case 0:
		return text
	case 1:
		return text + " (not found on the PATH)"
	}
	return text + " (none found on the PATH)"
}

// DescribeReplaced says that the example takes the place of another file, and ends with the
// difference. No line of it commands a terminal.
func DescribeReplaced(d *trust.Draft) string {
	return "The example takes the place of " + printable.VisibleLine(config.Tilde(d.Hook())) + ", which is another one, and is in force at once.\n" + d.Diff
}

// ReplaceQuestion asks about what [DescribeReplaced] describes.
func ReplaceQuestion(d *trust.Draft) string { return "Replace " + printable.VisibleLine(d.Name) + "?" }

// AskReplace says what an example would replace, and asks whether it may. It returns false if
// nobody answers.
func (p User) AskReplace(ctx context.Context, d *trust.Draft, description string) bool {
	fmt.Fprint(p.Out, description)
	return p.confirm(ctx, ReplaceQuestion(d))
}

// addExamples adds the examples that are named, and says what came of each.
func (h *hookCommands) addExamples(ctx context.Context, names []string) (string, error) {
	var chosen []examples.Example
	for _, name := range names { // all of them are known before the first is added
		e, err := examples.Find(name)
		if err != nil {
			return "", err
		}
		chosen = append(chosen, e)
	}
	var said []string
	for _, e := range chosen {
		text, err := h.addExample(ctx, e)
		if err != nil {
			return strings.Join(said, "\n"), fmt.Errorf("add %s%s: %w", examples.Prefix, e.Name, err)
		}
		said = append(said, text)
	}
	return strings.Join(said, "\n"), nil
}

// addExample writes an example among the hooks of the user, and loads it. Before it replaces
// another file, the user is asked.
func (h *hookCommands) addExample(ctx context.Context, e examples.Example) (string, error) {
	d, err := h.chain.DraftOf(e.Name, e.Hook, e.Test)
	if err != nil {
		return "", err
	}
	if d.Replaces() {
		if !agent.HasUser(h.ui) {
			return "", fmt.Errorf("another hook is in %s; `pi hooks add --replace %s%s` puts the example in its place", printable.VisibleLine(config.Tilde(d.Hook())), examples.Prefix, e.Name)
		}
		answer, err := h.ui.Confirm(ctx, ReplaceQuestion(d), DescribeReplaced(d), agent.DialogOptions{})
		if err != nil || answer != agent.Yes {
			return e.Name + " stays as it is", err
		}
	}
	if d.Diff != "" {
		if err := h.chain.Adopt(ctx, d); err != nil {
			return "", err
		}
	}
	return TellAdded(e, d), examples.Note(h.places, e)
}

// keyShow shows the text of an example in the list of them.
const keyShow = "ctrl+o"

// exampleView is the list of the examples as it is now.
func (h *hookCommands) exampleView() command.ListView {
	all, _ := ListExamples(h.places) // where nothing is known of a hook, it counts as the user's
	v := command.ListView{Title: fmt.Sprintf("Examples · %d", len(all)), Right: "type to filter", Enter: "add", Keys: []command.ListKey{{Key: keyShow, Label: "show its text"}}}
	for _, e := range all {
		v.Rows = append(v.Rows, command.Row{ID: e.Name, Columns: []string{e.Name, string(e.State)}, Description: e.About(), Search: e.Needs(), Dim: e.State == examples.Current})
	}
	return v
}

// onExample does what the user wants in the list of examples, see [actOnRows].
func (h *hookCommands) onExample(ctx context.Context, x command.Pressed, said string) (status string, ended bool, err error) {
	if x.Row == "" {
		return said, false, nil
	}
	if x.Key == keyShow {
		e, err := examples.Find(x.Row)
		return e.Hook, true, err
	}
	status, err = h.addExamples(ctx, []string{x.Row})
	return status, false, err
}

// describeExamples lists the examples as text.
func (h *hookCommands) describeExamples() (string, error) {
	all, err := ListExamples(h.places)
	if len(all) == 0 {
		return "", err
	}
	return ExampleRows(all) + "/hooks add NAME adds one of them", nil
}

// completeExamples returns what the words behind /hooks add can be completed to: the name of an
// example that is not there, behind others.
func (h *hookCommands) completeExamples(typed string) (lines []string) {
	all, _ := ListExamples(h.places) // what cannot be listed cannot be completed
	before := typed[:strings.LastIndex(typed, " ")+1]
	for _, e := range all {
		if line := before + e.Name; e.State == examples.Absent && strings.HasPrefix(line, typed) {
			lines = append(lines, "add "+line)
		}
	}
	return lines
}

// ExampleRows are examples as text, a line for each.
func ExampleRows(all []ListedExample) string {
	var b strings.Builder
	name, state := 0, 0
	for _, e := range all {
		name, state = max(name, len(e.Name)), max(state, len(e.State))
	}
	if state > 0 { // a column of its own
		state += len("  ")
	}
	for _, e := range all {
		fmt.Fprintf(&b, "%-*s  %-*s%s\n", name, e.Name, state, e.State, e.About())
	}
	return b.String()
}

// add is /hooks add: in a terminal without names a list to choose from.
func (h *hookCommands) add(ctx context.Context, args string) (string, error) {
	names := strings.Fields(args)
	if len(names) > 0 {
		return h.addExamples(ctx, names)
	}
	if status, ok, err := actOnRows(ctx, h.ui, h.exampleView, h.onExample); ok {
		return status, err
	}
	text, err := h.describeExamples()
	if err != nil {
		return "", errors.Join(errors.New("list the examples"), err)
	}
	return text, nil
}
