package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pi/internal/cells"
)

// typedLine is the line that is typed where no editor has it: in plain mode while something
// works, and at a prompt that cannot be edited. The terminal sends each key at once then, since
// the system itself keeps no more than 4,095 bytes of a line and knows little of characters.
// What is typed can be removed from its end, and is shown only at a prompt.
type typedLine struct {
	text  string
	show  func(text string) // nil: nothing of the line is shown
	ended func(line typedIn)
	over  func() // Ctrl+D in an empty line
}

// typedIn is a line that was typed. shown says that it was shown as it was typed.
type typedIn struct {
	text  string
	shown bool
}

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

// take removes and returns what has come of the line, and shows no more of it.
func (l *typedLine) take() string {
	text := l.text
	l.text, l.show = "", nil
	return text
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

// The line editor knows neither line ends nor tabs inside its line. They are
// there as these signs and are put back when the line is sent.
const (
	signNewline = "⏎"
	signTab     = "␉"
)

func toSigns(s string) string {
	return strings.NewReplacer("\r\n", signNewline, "\n", signNewline, "\t", signTab).Replace(s)
}

func fromSigns(s string) string {
	return strings.NewReplacer(signNewline, "\n", signTab, "\t").Replace(s)
}

// A paste of this size or less is put into the line as it is; a larger one as a
// token, for the editor is slow with long lines and nobody reads them there.
const (
	pasteInline      = 400 // bytes
	pasteInlineLines = 4
)

// pastes are the texts that tokens stand for.
type pastes struct{ texts []string }

// paste returns the text for the line of a pasted one: itself, or a token.
func (p *pastes) paste(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if len(text) <= pasteInline && lines <= pasteInlineLines {
		return toSigns(text)
	}
	p.texts = append(p.texts, text)
	return fmt.Sprintf("[paste #%d, %d lines]", len(p.texts), lines)
}

// expand puts the pasted texts back in place of their tokens. A token without a text
// stays.
func (p *pastes) expand(line string) string {
	token := regexp.MustCompile(`\[paste #(\d+), \d+ lines\]`)
	return token.ReplaceAllStringFunc(line, func(found string) string {
		n, err := strconv.Atoi(token.FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(p.texts) {
			return found
		}
		return p.texts[n-1]
	})
}

// pastedText cleans a paste: line ends become one kind, for a terminal
// sends them as if Enter was pressed, and without other control characters.
func pastedText(raw []byte) string {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < 0x20 && r != '\n' && r != '\t', r == 0x7f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(raw), "\uFFFD"))
}
