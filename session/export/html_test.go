package export

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/session"
	"pi/session/message"
)

func TestAProgramGetsAPage(t *testing.T) {
	s := read(t, stored(t, 3, prompt))
	cwd := t.TempDir()
	for _, c := range []struct{ output, want string }{
		{"", filepath.Join(cwd, "pi-session-s.html")},
		{"a b.htm", filepath.Join(cwd, "a b.htm")},
		{filepath.Join(cwd, "abs.html"), filepath.Join(cwd, "abs.html")},
	} {
		for range 2 { // a page of ours is replaced
			path, err := PageToFile(s, cwd, c.output)
			if err != nil || path != c.want {
				t.Fatalf("%q: %q, %v, want %q", c.output, path, err, c.want)
			}
		}
		text, err := os.ReadFile(c.want)
		before := bytes.Replace(text, []byte(`content="pi devel"`), []byte(`content="pi"`), 1) // as pages were that named no version
		if err := errors.Join(err, os.WriteFile(c.want, before, 0o600)); err != nil || bytes.Equal(text, before) {
			t.Fatal(err)
		}
		if _, err := PageToFile(s, cwd, c.output); err != nil {
			t.Errorf("%q, of a page without a version: %v", c.output, err)
		}
		if err != nil || !strings.HasPrefix(string(text), "<!DOCTYPE html>") || !strings.HasSuffix(string(text), "</html>\n") {
			t.Errorf("%q: %.100q, %v", c.output, text, err)
		}
		if stat, err := os.Stat(c.want); err != nil || stat.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v", err)
		}
	}
}

func TestAPageIsRefused(t *testing.T) {
	s := read(t, stored(t, 3, prompt))
	cwd := t.TempDir()
	notes := filepath.Join(cwd, "notes.html")
	if err := os.WriteFile(notes, []byte("<!DOCTYPE html><p>mine</p>"), 0o600); err != nil {
		t.Fatal(err)
	}
	memory := session.New(session.Options{Cwd: cwd})
	if _, err := memory.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	for name, c := range map[string]struct {
		s      *session.Session
		output string
		is     func(error) bool
	}{
		"no file":             {memory, "", func(err error) bool { return errors.Is(err, ErrInMemory) && err.Error() == "in-memory session" }},
		"no entries":          {read(t, stored(t, 3)), "", func(err error) bool { return errors.Is(err, ErrEmpty) && err.Error() == "Nothing to export yet" }},
		"a file of somebody":  {s, "notes.html", func(err error) bool { return errors.As(err, &exists) && strings.Contains(err.Error(), notes) }},
		"the session itself":  {s, s.File(), func(err error) bool { return errors.As(err, &exists) }},
		"a folder":            {s, cwd, func(err error) bool { return errors.As(err, &exists) }},
		"a folder that is no": {s, "no/page.html", func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
	} {
		if path, err := PageToFile(c.s, cwd, c.output); err == nil || !c.is(err) || path != "" {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "<!DOCTYPE html><p>mine</p>" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAPageSaysWhatIsGone(t *testing.T) {
	large := `{"type":"mine","id":"x","parentId":"00000001","fill":"` + strings.Repeat("y", 400<<10) + `"}`
	path := stored(t, 3, prompt, large)
	s, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	var part *PartError
	var page strings.Builder
	err = HTML(&page, s, PageOptions{Now: func() time.Time { return time.Unix(0, 0) }})
	if !errors.As(err, &part) || part.Gone != 2 || part.Of != 2 {
		t.Error(err)
	}
	if n := strings.Count(page.String(), "an entry that cannot be read"); n != 2 || !strings.Contains(page.String(), "1970-01-01 00:00 UTC") {
		t.Errorf("%d lines in\n%s", n, page.String())
	}
}
