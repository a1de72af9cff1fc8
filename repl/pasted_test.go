package repl

import (
	"testing"

	"pi/agent/command"
	"pi/internal/edit"
)

// typedAndPasted is a line of parts, of which every second one was pasted.
func typedAndPasted(parts ...string) edit.Draft {
	b := edit.New()
	for i, part := range parts {
		if i%2 == 0 {
			b.Insert(part)
		} else {
			b.Paste(part)
		}
	}
	return b.Save()
}

func TestWhatAPasteIsDependsOnWhatItStandsBehind(t *testing.T) {
	k := New(Options{}).keyboard
	k.attach(nil, command.NewSet([]command.Command{{Name: "review"}, {Name: "new"}}, nil))
	const literal, asks, neither = "text", "asks", "as typed"
	for _, c := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"typed", []string{"/review it"}, neither},
		{"a row behind a typed command", []string{"/review ", "it"}, neither},
		{"rows behind a typed command", []string{"/review ", "a\nb"}, neither},
		{"a large paste behind it", []string{"/review ", "a\nb\nc\nd\ne"}, neither},
		{"rows that begin behind the typed name", []string{"/review", "\na\nb"}, neither},
		{"a paste that goes on with the name", []string{"/re", "view it"}, asks},
		{"rows that go on with it", []string{"/re", "view a\nb"}, literal},
		{"a typed path before a paste", []string{"/tmp/x ", "it"}, neither},
		{"a paste behind a typed !", []string{"!", "rm x"}, asks},
		{"rows behind a typed !", []string{"!", "rm x\nrm y"}, asks},
		{"many rows behind words of a command", []string{"!cat ", "a\nb\nc\nd\ne"}, asks},
		{"a pasted command", []string{"", "/new"}, asks},
		{"one behind pasted blanks", []string{"", " /new"}, asks},
		{"rows that begin with one", []string{"", "/new\nx"}, literal},
		{"no command", []string{"", "/usr/x.py: error"}, literal},
		{"a command that nobody has", []string{"", "/newer"}, literal},
		{"a pasted !", []string{"", "!rm x"}, asks},
		{"rows behind a pasted !", []string{"", "!rm x\nrm y"}, literal},
		{"a paste in a text", []string{"see ", "/new"}, neither},
	} {
		got := neither
		switch isText, isAsked := k.pastedCommand(typedAndPasted(c.parts...)); {
		case isAsked:
			got = asks
		case isText:
			got = literal
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNothingThatWasPastedRunsUnaskedBeforeThereAreCommands(t *testing.T) {
	k := New(Options{}).keyboard
	for text, want := range map[string]bool{"!rm x": true, "/new": true, "rm x": false} {
		if literal, asks := k.pastedCommand(typedAndPasted("", text)); literal != want || asks {
			t.Errorf("%s: literal %v, asks %v", text, literal, asks)
		}
		if literal, asks := k.pastedCommand(typedAndPasted(text)); literal || asks {
			t.Errorf("%s, typed: literal %v, asks %v", text, literal, asks)
		}
	}
}
