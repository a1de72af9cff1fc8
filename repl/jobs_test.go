package repl

import (
	"context"
	"strings"
	"testing"

	"pi/agent/command"
)

func lineJob(text string) job { return job{text: text} }

func keyJob() job {
	return job{run: func(context.Context) (command.Outcome, error) { return command.Outcome{}, nil }}
}

func TestJobsComeInTheirOrder(t *testing.T) {
	j := newJobs()
	j.add(lineJob("one"))
	j.add(lineJob("two"))
	j.end()
	x, ok, ended := j.take()
	if !ok || ended || x.text != "one" {
		t.Fatalf("%q, %v, %v", x.text, ok, ended)
	}
	j.putBack(x)
	for _, want := range []string{"one", "two"} {
		select {
		case <-j.ready:
		default:
			t.Errorf("nobody is told of %q", want)
		}
		if x, ok, _ := j.take(); !ok || x.text != want {
			t.Errorf("%q, want %q", x.text, want)
		}
	}
	if _, ok, ended := j.take(); ok || !ended {
		t.Error("the end of the input is not told")
	}
	j.reopen()
	if _, ok, ended := j.take(); ok || ended {
		t.Error("the input has not ended")
	}
}

func TestWhatIsTakenBackIsTheNewestLine(t *testing.T) {
	j := newJobs()
	if _, ok := j.takeLast(); ok {
		t.Error("there is a line")
	}
	for _, x := range []job{lineJob("one"), lineJob("two"), keyJob()} {
		j.add(x)
	}
	if x, ok := j.takeLast(); !ok || x.text != "two" {
		t.Errorf("%q", x.text)
	}
	if rows := j.lines(); len(rows) != 1 || rows[0] != (queuedRow{when: "next", text: "one"}) {
		t.Errorf("%q", rows)
	}
}

func TestLinesForTheWorkGoBackToTheLineWithIt(t *testing.T) {
	j := newJobs()
	for _, x := range []job{lineJob("one"), keyJob(), {text: "/compact", later: true}, lineJob("two")} {
		j.add(x)
	}
	if got := j.takeLines(); len(got) != 2 || got[0].text != "one" || got[1].text != "two" {
		t.Errorf("%+v", got)
	}
	if x, _, _ := j.take(); x.run == nil {
		t.Error("the key is gone")
	}
	if x, _, _ := j.take(); x.text != "/compact" {
		t.Error("the command that the work was interrupted for is gone")
	}
}

func TestALongTextIsShownByItsBeginning(t *testing.T) {
	if text := strings.Repeat("row\n", 19) + "row"; inFewRows(text) != text {
		t.Error("twenty rows are too many")
	}
	got := inFewRows("a\x1b[2J\nb\nc\n" + strings.Repeat("row\n", 100))
	if want := "a\nb\nc\n… 104 lines, 410 bytes in all"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := inFewRows(strings.Repeat("x", 100_000)); len(got) > 1100 || !strings.Contains(got, "1 line, 100000 bytes in all") {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-60):])
	}
}
