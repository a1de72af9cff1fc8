package terminal

import "testing"

func TestALineThatARegionHasEndedIsResumedOnlyWhileNothingWasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*Screen)
		want    string
	}{
		"at once":               {func(*Screen) {}, "Hello world"},
		"after a line":          {func(s *Screen) { s.Print("notice") }, "Hello\nnotice\n world"},
		"after a key":           {func(s *Screen) { s.KeyEchoed() }, "Hello\n world"},
		"after the end of one":  {func(s *Screen) { s.LineEnded("") }, "Hello\n world"},
		"after another program": {func(s *Screen) { s.Lend()() }, "Hello\n world"},
	} {
		s, shown := drawn()
		s.prompt("Hello")
		s.OpenRegion()
		s.DrawRegion([]string{"[wait]"})
		s.CloseRegion()
		c.between(s)
		s.Locked(func(p *Page) { p.ResumeLine(5) })
		s.prompt(" world")
		if got := shown(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAPageKnowsWhetherALineIsUnderWay(t *testing.T) {
	s, shown := drawn()
	s.Locked(func(p *Page) {
		if !p.AtLineStart() {
			t.Error("an empty page is in a line")
		}
		p.Write([]byte("half"))
		if p.AtLineStart() {
			t.Error("behind half a line is the start of one")
		}
		p.Print("whole")
	})
	s.Ask([]string{"question"}, "? ")
	s.LineEnded("")
	s.Locked(func(p *Page) {
		if !p.AtLineStart() {
			t.Error("the line that the person has ended goes on")
		}
	})
	if got, want := shown(), "half\nwhole\nquestion\n?"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
}
