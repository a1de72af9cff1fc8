package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/session/message"
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

func TestASessionThatIsReplacedWhileItIsOpenedLeavesNoDescriptorBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open descriptors are counted in /proc")
	}
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	path, other := filepath.Join(t.TempDir(), "s.jsonl"), filepath.Join(t.TempDir(), "other")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const tries = 300
	before := descriptors()
	for range tries {
		if _, err := reopen(f, path); !errors.Is(err, errGone) {
			t.Fatalf("the error is %v", err)
		}
	}
	if more := descriptors() - before; more > tries/2 {
		t.Errorf("%d descriptors more are open", more)
	}
}

func TestFolderNames(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/u/my proj:x": "--home-u-my proj-x--", "/": "----", "": "----", `C:\Users\u`: "--C--Users-u--", "/a-b": "--a-b--", "/a/b": "--a-b--",
	} {
		if got := FolderName(cwd); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
}

func TestFolderNamesFitIntoAFileSystem(t *testing.T) {
	fits := "/" + strings.Repeat("a", 251)
	if got := FolderName(fits); got != "--"+fits[1:]+"--" {
		t.Errorf("a name that fits became %q", got)
	}
	deep := strings.Repeat("/ü", 200)
	names := map[string]bool{}
	for _, cwd := range []string{deep, deep + "/x", deep + "/y", fits + "b", fits + "/"} {
		name := FolderName(cwd)
		names[name] = true
		if len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\:") || !strings.HasPrefix(name, "--") || !strings.HasSuffix(name, "--") {
			t.Errorf("%q of %d bytes", name, len(name))
		}
	}
	if len(names) != 5 {
		t.Errorf("five directories have %d names", len(names))
	}
}

func TestAPlaybackIsTheSessionAsItGrew(t *testing.T) {
	s := New(Options{Cwd: "/", Dir: t.TempDir()})
	at := func(s *Session, v *View) string {
		return fmt.Sprintf("%s | %s | %s | %d", idsOf(s.Entries()), idsOf(s.Branch()), s.Leaf(), len(v.Context(s)))
	}
	var was []string // before each entry
	say := func(text string) *Entry {
		t.Helper()
		was = append(was, at(s, new(View)))
		e, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := say("one"), say("two")
	say("three")
	was = append(was, fmt.Sprintf("%s | %s | %s | 1", idsOf(s.Entries()), first.ID, first.ID))
	if _, err := s.MoveTo(first.ID, Draft{Type: TypeCustom, Body: Custom{CustomType: LeafMove}}); err != nil {
		t.Fatal(err)
	}
	say("other two")
	say("other three")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	recorded, err := Read(s.File())
	if err != nil {
		t.Fatal(err)
	}
	p, v := NewPlayback(recorded), new(View)
	defer p.Close()
	for i := 0; p.Next() != nil; i++ {
		if now := at(p.Session(), v); now != was[i] {
			t.Errorf("before entry %d: %s, but it was %s", i, now, was[i])
		}
		if i == 1 && (p.Session().Entry(second.ID) != nil || len(p.Session().Path(second.ID)) > 0) {
			t.Error("an entry is found before it was there")
		}
		p.Add()
	}
	if got, want := at(recorded, v), at(s, new(View)); got != want {
		t.Errorf("at the end: %s, but it was %s", got, want)
	}
}
