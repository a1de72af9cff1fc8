package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestWaitingEndsWhenTheHolderLetsGo(t *testing.T) {
	path, locks := write(t, story("u1")...), filepath.Join(t.TempDir(), "locks")
	holder := open(t, path, Options{LockDir: locks})
	told := 0
	s, err := OpenWait(t.Context(), path, Options{LockDir: locks}, func(busy *BusyError) {
		if told++; busy.PID == 0 || busy.Path != path {
			t.Errorf("told of %+v", busy)
		}
		go holder.Close() // after the caller has gone to sleep, or just before
	})
	if err != nil || told != 1 {
		t.Fatalf("%v, told %d times", err, told)
	}
	defer s.Close()
	say(t, s, "mine now")
}

func TestWaitingCanBeGivenUp(t *testing.T) {
	path := write(t, story("u1")...)
	open(t, path, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s, err := OpenWait(ctx, path, Options{}, func(*BusyError) { cancel(enough) })
	if s != nil || !errors.Is(err, enough) {
		t.Errorf("%v, %v", s, err)
	}
	cancel(nil)
	if _, err := OpenWait(ctx, path, Options{}, nil); !errors.Is(err, enough) {
		t.Errorf("without anybody to tell: %v", err)
	}
}

func TestWhatNeedsNoWaitingIsNotWaitedFor(t *testing.T) {
	never := func(*BusyError) { t.Error("there was a wait") }
	s, err := OpenWait(t.Context(), write(t, story("u1")...), Options{}, never)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	var not *NotSessionError
	if _, err := OpenWait(t.Context(), writeRaw(t, "notes\n"), Options{}, never); !errors.As(err, &not) {
		t.Errorf("of what is no session: %v", err)
	}
}
