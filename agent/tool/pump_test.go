package tool

import (
	"strings"
	"testing"
	"time"
)

// watched is a pump whose watcher gets the text.
func watched(t *testing.T) (p *pump, reports *[]string) {
	reports = new([]string)
	p = &pump{out: newOutput(t.TempDir()), watch: watcher{text: func(text string) { *reports = append(*reports, text) }}}
	return p, reports
}

func TestLiveOutputIsHeldBackAfterAReport(t *testing.T) {
	p, reports := watched(t)
	before := time.Now()
	p.add([]byte("at once"), true)
	if len(*reports) != 1 || (*reports)[0] != "at once" {
		t.Fatalf("the first output is reported as %q", *reports)
	}
	if p.last.Before(before) || p.due() != nil {
		t.Fatalf("the report was at %v, of %v; the next is due: %v", p.last, before, p.due() != nil)
	}
	p.last = time.Now().Add(time.Hour) // just now, however slow this machine is
	for range 100 {
		p.add([]byte("x"), true)
	}
	if len(*reports) != 1 || p.due() == nil {
		t.Fatalf("%d reports within the pause; what is held back is due: %v", len(*reports), p.due() != nil)
	}
	p.report()
	if len(*reports) != 2 || (*reports)[1] != strings.Repeat("x", 100) || p.due() != nil {
		t.Errorf("held back and then told: %q", *reports)
	}
}

func TestMuchLiveOutputIsNotHeldBack(t *testing.T) {
	p, reports := watched(t)
	p.last = time.Now().Add(time.Hour)
	p.add(make([]byte, maxUnreported-1), true)
	if len(*reports) != 0 {
		t.Fatalf("reported %d bytes within the pause", len((*reports)[0]))
	}
	p.add([]byte("x"), true)
	if len(*reports) != 1 || len(p.unreported) != 0 {
		t.Errorf("%d bytes are held back after %d reports", len(p.unreported), len(*reports))
	}
}
