package repl

import (
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/pick"
)

func question(prompt string) *plainDialog {
	return &plainDialog{prompt: prompt, lines: make(chan string, 1), turn: make(chan struct{})}
}

func (x *plainDialog) hasTurn() bool {
	select {
	case <-x.turn:
		return true
	default:
		return false
	}
}

func TestALineIsForTheFirstQuestionThatIsOpen(t *testing.T) {
	var p plainLines
	if p.answer("y") || p.interrupt(false) {
		t.Error("nobody asks")
	}
	one, two := question("one"), question("two")
	p.add(one)
	p.add(two)
	if !one.hasTurn() || two.hasTurn() {
		t.Error("the second does not wait for the first")
	}
	if !p.answer("1") || !p.answer("typed while the first looks at it") || <-one.lines != "1" {
		t.Error("the first has not got its line")
	}
	p.remove(one)
	p.remove(one)
	if !two.hasTurn() {
		t.Error("the second has no turn")
	}
	if p.interrupt(true) {
		t.Error("what runs is interrupted, not the question")
	}
	if !p.interrupt(false) || <-two.lines != "" {
		t.Error("Ctrl+C at rest is an answer")
	}
	left := false
	p.remove(two)
	component := question("?")
	component.leave = func() { left = true }
	p.add(component)
	if !p.interrupt(true) || !left {
		t.Error("Ctrl+C does not leave a component")
	}
}

func TestThePromptMakesRoomForAQuestionAndComesBack(t *testing.T) {
	var p plainLines
	if !p.want() || p.want() {
		t.Error("the prompt is not shown once")
	}
	x := question("?")
	p.add(x)
	if !p.makeRoom() || p.makeRoom() {
		t.Error("the prompt was not open")
	}
	if p.want() || p.again() {
		t.Error("it is shown over the question")
	}
	p.remove(x)
	if !p.again() || p.again() {
		t.Error("it does not come back")
	}
	if !p.ended() || p.again() {
		t.Error("nobody wants it any more")
	}
	p.add(question("?"))
	if p.want() { // the run ended while a question is open
		t.Error("it is shown over the question")
	}
}

func TestABackslashContinuesAPlainLine(t *testing.T) {
	for _, c := range []struct {
		before, line, want string
		more               bool
	}{
		{"", "one", "one", false},
		{"", `one\`, "one\n", true},
		{"one\n", "two", "one\ntwo", false},
		{"", `one\\`, `one\\`, false},
		{"", `one\\\`, "one\\\\\n", true},
		{"", `\`, "\n", true},
	} {
		if got, more := joinLines(c.before, c.line); got != c.want || more != c.more {
			t.Errorf("%q and %q: %q, %v", c.before, c.line, got, more)
		}
	}
}

func TestACommandBehindWhatTheProgramPutThereTakesItsPlace(t *testing.T) {
	k := New(Options{Plain: true}).keyboard
	k.attach(nil, command.NewSet([]command.Command{{Name: "redo"}}, nil))
	for _, c := range []struct{ given, line, want string }{
		{"list", "list/redo", "/redo"},
		{"list", "list/redo now", "/redo now"},
		{"list", "list", "list"},
		{"list", "list /redo", "list /redo"},
		{"list", "lists/redo", "lists/redo"},
		{"src", "src/main.go", "src/main.go"},
		{"", "/redo", "/redo"},
		{"", "list/redo", "list/redo"},
	} {
		if got := k.withoutGiven(c.line, c.given); got != c.want {
			t.Errorf("%q behind %q: %q, want %q", c.line, c.given, got, c.want)
		}
	}
}

func TestALineChoosesByNumberOrText(t *testing.T) {
	rows := []pick.Row{{ID: "a", Columns: []string{"alpha"}}, {ID: "b", Columns: []string{"beta"}}, {ID: "d", Columns: []string{"delta"}}}
	one, several, whole := agent.DialogOptions{}, agent.DialogOptions{Multi: true}, agent.DialogOptions{Whole: true}
	for _, c := range []struct {
		line  string
		o     agent.DialogOptions
		found string
		says  string // in what is shown before the next question
		done  bool
	}{
		{"", one, "", "", true},
		{"2", one, "b", "", true},
		{"lph", one, "a", "", true},
		{"ta", one, "", "delta", false},
		{"a", one, "a", "", true},
		{"zzz", one, "", `Nothing matches "zzz".`, false},
		{"1 3", several, "ad", "", true},
		{"1,2", several, "ab", "", true},
		{"9", one, "", `Nothing matches "9".`, false},
		{"lph", whole, "", `Nothing matches "lph"`, false},
		{"2", whole, "", "beta", false},
		{"B", whole, "b", "", true},
		{"", whole, "", "", true},
	} {
		found, again, done := chosenInLine(rows, c.line, c.o)
		ids := ""
		for _, i := range found {
			ids += rows[i].ID
		}
		if done != c.done || done && ids != c.found || !strings.Contains(strings.Join(again, "\n"), c.says) {
			t.Errorf("%q: %q, %q, %v", c.line, ids, again, done)
		}
	}
}
