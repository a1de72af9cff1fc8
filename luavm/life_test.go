package luavm

import (
	"errors"
	"testing"
)

// What is needed is freed when its last job has ended, not before, and a dead VM
// takes no job at all.
func TestALifeEndsWithItsLastJob(t *testing.T) {
	freed := 0
	l := newLife(func() { freed++ })
	if err := l.begin(false); err != nil {
		t.Fatal(err)
	}
	l.close()
	if freed != 0 {
		t.Error("freed while a job runs")
	}
	if err := l.begin(false); !errors.Is(err, ErrClosed) {
		t.Errorf("a new job of a closed VM: %v", err)
	}
	if err := l.begin(true); err != nil {
		t.Errorf("a job that continues something: %v", err)
	}
	if l.end(); freed != 0 {
		t.Error("freed before the last job ended")
	}
	if l.end(); freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}

func TestTheJobsThatWaitAreKnownWhenAVMDies(t *testing.T) {
	freed := 0
	l := newLife(func() { freed++ })
	waits, back := new(job), new(job)
	l.setWaiting(waits, true)
	l.setWaiting(back, true)
	l.setWaiting(back, false)
	if got := l.kill(); len(got) != 1 || got[0] != waits || freed != 1 || !l.died {
		t.Errorf("%d jobs wait, freed %d times, dead: %v", len(got), freed, l.died)
	}
	if got := l.kill(); got != nil {
		t.Error("it died twice")
	}
	if err := l.begin(true); !errors.Is(err, ErrDead) {
		t.Errorf("a job of a dead VM: %v", err)
	}
	l.close()
	if freed != 1 {
		t.Error("freed again")
	}
}
