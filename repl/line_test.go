package repl

import (
	"testing"

	"pi/repl/terminal"
)

func TestASlashTakesThePlaceOfWhatTheProgramPutThere(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*line)
		want string
	}{
		{"of a command", func(l *line) { l.place(job{text: "list"}) }, "/"},
		{"what waited", func(l *line) { l.place(job{text: "one"}, job{text: "two"}) }, "/"},
		{"of a hook", func(l *line) { l.placeText("list") }, "/"},
		{"of a hook, to be gone on with", func(l *line) { l.placeText("see ") }, "see /"},
		{"a paste that begins with one", func(l *line) {
			l.buffer.Paste("/new one")
			sent := job{text: l.text()}
			l.reset()
			l.place(sent)
		}, "/"},
		{"an image", func(l *line) {
			l.token("shot.png", "/tmp/shot.png")
			sent := job{text: l.text()}
			l.reset()
			l.place(sent)
		}, "/"},
		{"above what is typed", func(l *line) { l.setTyped("mine"); l.place(job{text: "list"}) }, "list\nmine/"},
		{"one that is edited", func(l *line) { l.place(job{text: "list"}); l.edit(terminal.Key{Text: "s"}, "") }, "lists/"},
		{"one that the person wants back", func(l *line) { l.place(job{text: "list"}); l.clear(); l.takeBack(job{text: "two"}) }, "two/"},
		{"nothing", func(l *line) { l.place() }, "/"},
	} {
		l := newStage(80).line
		c.do(l)
		l.edit(terminal.Key{Text: "/"}, "")
		if l.text() != c.want {
			t.Errorf("%s: %q, want %q", c.name, l.text(), c.want)
		}
		if d := l.buffer.Save(); !d.IsTyped(len(d.Text)-1, len(d.Text)) {
			t.Errorf("%s: the slash counts as not typed", c.name)
		}
	}
}
