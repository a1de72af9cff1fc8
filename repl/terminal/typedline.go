package terminal

import (
	"strings"

	"pi/internal/cells"
)

// typedLine is the line that is typed where no editor has it: in plain mode while something
// works, and at a prompt that cannot be edited. The terminal sends each key at once then, since
// the system itself keeps no more than 4,095 bytes of a line and knows little of characters.
// What is typed can be removed from its end, and is shown only at a prompt.
type typedLine struct {
	decoder decoder
	text    string
	show    func(text string) // nil: nothing of the line is shown
	ended   func(line typedIn)
	over    func() // Ctrl+D in an empty line
	suspend func() // Ctrl+Z
}

// feed takes bytes that were read.
func (l *typedLine) feed(p []byte) { l.decoder.feed(p) }

func (l *typedLine) focus(bool)   {}
func (l *typedLine) reply(string) {}

// key takes a key. Those that do nothing here are dropped.
func (l *typedLine) key(k Key) {
	switch k.Name {
	case "enter", "ctrl+j":
		line := l.text
		l.text = ""
		l.echo("\n")
		l.ended(typedIn{line, l.show != nil})
	case "backspace", "ctrl+h":
		l.cut(lastCluster(l.text))
	case "ctrl+w":
		words := strings.TrimRight(l.text, " \t\n")
		l.cut(strings.LastIndexAny(words, " \t\n") + 1)
	case "ctrl+u":
		l.cut(0)
	case "ctrl+z":
		l.suspend()
	case "ctrl+d":
		if l.text == "" {
			l.over()
		}
	case "paste":
		l.add(pastedText([]byte(k.Text)))
	case "tab":
		l.add("\t")
	default:
		l.add(k.Text)
	}
}

// add adds text to the end of the line.
func (l *typedLine) add(text string) {
	l.text += text
	l.echo(onOneRow(text))
}

// cut removes all of the line from a place on.
func (l *typedLine) cut(from int) {
	width := cells.Width(onOneRow(l.text[from:]))
	l.text = l.text[:from]
	l.echo(strings.Repeat("\b \b", width))
}

func (l *typedLine) echo(text string) {
	if l.show != nil && text != "" {
		l.show(text)
	}
}

// onOneRow is a text as it is shown while it is typed.
func onOneRow(text string) string { return strings.ReplaceAll(toSigns(text), signTab, " ") }

// lastCluster is where the last character of a text begins, with all that combines with it.
func lastCluster(text string) int {
	begin := 0
	for cluster := range cells.Clusters(text) {
		begin = len(text) - len(cluster)
	}
	return begin
}

// take removes and returns what has come of the line, as keys for an editor. pasting says
// that they end within a paste, of which pasted has come.
func (l *typedLine) take() (keys, pasted []byte, pasting bool) {
	d := &l.decoder
	keys, pasted, pasting = append([]byte(toSigns(l.text)), d.pending...), d.pasted, d.pasting
	l.text, l.decoder = "", decoder{handlers: l}
	return keys, pasted, pasting
}

// begin has the line begin with bytes that an editor did not use, in a paste or not.
func (l *typedLine) begin(keys, pasted []byte, pasting bool) {
	l.decoder.pasting, l.decoder.pasted = pasting, pasted
	l.feed(keys)
}
