package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// drawn is a screen of 6 lines of 20 columns and what a terminal makes of it.
func drawn() (*Screen, func() string) {
	var out bytes.Buffer
	return NewScreen(&out, Palette{}), func() string {
		term := vt10x.New(vt10x.WithSize(20, 6))
		_, _ = term.Write(bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte("\r\n")))
		var lines []string
		for _, line := range strings.Split(term.String(), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		return strings.TrimRight(strings.Join(lines, "\n"), "\n")
	}
}

func TestRegionStaysBelowWhatIsWritten(t *testing.T) {
	s, shown := drawn()
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"a line is under way", func() { s.prompt("so") }, "so"},
		{"a region opens", func() { s.OpenRegion(); s.DrawRegion([]string{"[one", "two]"}) }, "so\n[one\ntwo]"},
		{"a part of a line is held", func() { s.prompt("half") }, "so\n[one\ntwo]"},
		{"the line ends", func() { s.prompt(" a line\nand") }, "so\nhalf a line\n[one\ntwo]"},
		{"the region shrinks", func() { s.DrawRegion([]string{"[1]"}) }, "so\nhalf a line\n[1]"},
		{"a line of its own comes", func() { s.Print("notice") }, "so\nhalf a line\nand\nnotice\n[1]"},
		{"the screen scrolls", func() { s.Print("more\nand more") }, "half a line\nand\nnotice\nmore\nand more\n[1]"},
		{"and grows", func() { s.DrawRegion([]string{"[1", "2", "3]"}) }, "notice\nmore\nand more\n[1\n2\n3]"},
		{"part of a line again", func() { s.prompt("end") }, "notice\nmore\nand more\n[1\n2\n3]"},
		{"the region closes", func() { s.CloseRegion() }, "notice\nmore\nand more\nend"},
		{"and the line goes on", func() { s.prompt(" of it\n") }, "notice\nmore\nand more\nend of it"},
	}
	for _, step := range steps {
		step.do()
		if got := shown(); got != step.want {
			t.Fatalf("%s:\n%s\nwant:\n%s", step.what, got, step.want)
		}
	}
}

func TestFooterIsReplacedOnlyWhileItIsLast(t *testing.T) {
	s, shown := drawn()
	s.Print("said")
	s.Footer([]string{"w1", "w2", "status"})
	s.Footer([]string{"status 2"})
	if got, want := shown(), "said\nstatus 2"; got != want {
		t.Fatalf("shows %q, want %q", got, want)
	}
	s.Print("notice")
	s.Footer([]string{"status 3"})
	s.ReleaseFooter()
	s.Footer([]string{"status 4"})
	if got, want := shown(), "said\nstatus 2\nnotice\nstatus 3\nstatus 4"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
}

func TestWhatIsWrittenWhileAnotherProgramHasTheScreenComesAfterIt(t *testing.T) {
	s, shown := drawn()
	s.prompt("under way")
	back := s.Lend()
	s.Print("late")
	s.DrawRegion([]string{"[region]"})
	if got, want := shown(), "under way"; got != want {
		t.Errorf("shows %q while the screen is lent", got)
	}
	back()
	if got, want := shown(), "under way\nlate"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
}
