package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestAFormatAndAFileAreReadFromOneLine(t *testing.T) {
	for _, c := range []struct{ line, format, file, fails string }{
		{"", "jsonl", "", ""},
		{"md", "md", "", ""},
		{" jsonl ", "jsonl", "", ""},
		{"md notes.txt", "md", "notes.txt", ""},
		{"md a file with blanks.md", "md", "a file with blanks.md", ""},
		{"notes.md", "md", "notes.md", ""},
		{"my notes.md", "md", "my notes.md", ""},
		{"~/out/all.jsonl", "jsonl", "~/out/all.jsonl", ""},
		{"./out", "jsonl", "./out", ""},
		{"md ./out.jsonl", "md", "./out.jsonl", ""},
		{"html", "html", "", ""},
		{"my page.html", "html", "my page.html", ""},
		{"pdf", "", "", `there is no format "pdf": the formats are jsonl, md and html`},
		{"page.pdf", "", "", `there is no format "pdf"`},
		{"pdf page.pdf", "", "", `there is no format "pdf"`},
	} {
		r, err := Parse(c.line)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v, want %s", c.line, err, c.fails)
			}
			continue
		}
		if err != nil || r.Format.Name != c.format || r.File != c.file {
			t.Errorf("%q: %s to %q, %v", c.line, r.Format.Name, r.File, err)
		}
	}
}

// stored writes lines as a session file behind a header.
func stored(t *testing.T, version int, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := fmt.Sprintf(`{"type":"session","version":%d,"id":"s-1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p","more":[1.0]}`, version)
	if version == 1 {
		text = `{"type":"session","id":"s-1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"}`
	}
	for _, line := range lines {
		text += "\n" + line
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) *session.Session {
	t.Helper()
	s, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func exported(t *testing.T, s *session.Session) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSONL(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const prompt = `{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"hi","timestamp":1,"odd":1e2}}`

func TestAnExportIsTheFileByteForByte(t *testing.T) {
	for _, tail := range [][]string{
		nil,
		{prompt},
		{prompt, `{ "type" : "mine", "n":12345678901234567890, "id":"2","parentId":"00000001" }`},
		{prompt, prompt, `{"type":"label","id":"l","parentId":"nowhere","targetId":"00000001","label":"\u0061"}`},
		{prompt, strings.Repeat(`{"type":"mine","id":"x","parentId":null,"fill":"`+strings.Repeat("y", 3000)+`"}`+"\n", 200) + prompt}, // bodies that are read late
	} {
		path := stored(t, 3, tail...)
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := exported(t, read(t, path)); got != string(want) {
			t.Errorf("of\n%.300s\nit made\n%.300s", want, got)
		}
	}
}

func TestAnExportOfAnOlderVersionIsASessionOfThisOne(t *testing.T) {
	for _, version := range []int{1, 2} {
		s := read(t, stored(t, version, strings.Replace(prompt, `"role":"user"`, `"role":"hookMessage","customType":"a","display":true`, 1), strings.Replace(prompt, "00000001", "00000002", 1)))
		path := filepath.Join(t.TempDir(), "copy.jsonl")
		if err := ToFile(path, Formats()[0], s, false); err != nil {
			t.Fatal(err)
		}
		again := read(t, path)
		if again.Header().Version != session.Version || len(again.Entries()) != 2 {
			t.Errorf("version %d became %d with %d entries", version, again.Header().Version, len(again.Entries()))
		}
		if p := again.Problems(); len(p) > 0 {
			t.Errorf("version %d: %q", version, p)
		}
		a, errA := s.Show()
		b, errB := again.Show()
		if want := bytes.Replace(a, fmt.Appendf(nil, `"version":%d`, version), []byte(`"version":3`), 1); errA != nil || errB != nil || !bytes.Equal(b, want) {
			t.Errorf("version %d: a model sees\n%s, want\n%s", version, b, want)
		}
	}
}

func TestWhatCouldNotBeSavedIsExported(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := session.New(session.Options{Dir: filepath.Join(blocked, "sessions"), Cwd: "/p"})
	var unsaved *session.SaveError
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("only in memory")}}); !errors.As(err, &unsaved) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "saved.jsonl")
	if err := ToFile(path, Formats()[0], s, false); err != nil {
		t.Fatal(err)
	}
	if again := read(t, path); again.ID() != s.ID() || len(again.Entries()) != 1 || again.Entries()[0].Message().Text() != "only in memory" {
		t.Errorf("it holds %d entries", len(again.Entries()))
	}
}

func TestAnExportNeverWritesOverASession(t *testing.T) {
	path := stored(t, 3, prompt)
	s, dir := read(t, path), t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	whole := exported(t, s)
	header, _, _ := strings.Cut(whole, "\n")
	for _, c := range []struct {
		file    string
		format  int
		refused string // with force; "" if it is replaced
	}{
		{path, 0, "it is the session itself"},
		{path, 1, "it is the session itself"},
		{put("older.jsonl", header+"\n"), 0, ""},
		{put("same.jsonl", whole), 0, ""},
		{put("longer.jsonl", whole+prompt+"\n"), 0, "it is a session that has what this one has not"},
		{put("other.jsonl", strings.Replace(whole, "s-1", "s-2", 1)), 0, "it is a session that has"},
		{put("older.md", header+"\n"), 1, "it is a session that has"},
		{put("notes.md", "# notes\n"), 1, ""},
		{put("empty", ""), 0, ""},
		{dir, 0, "it is no regular file"},
	} {
		before, _ := os.ReadFile(c.file)
		var exists *ExistsError
		if err := ToFile(c.file, Formats()[c.format], s, false); !errors.As(err, &exists) || exists.Reason != "" || !strings.Contains(exists.Hint(), "--force") {
			t.Errorf("%s without force: %v", c.file, err)
		}
		err := ToFile(c.file, Formats()[c.format], s, true)
		after, _ := os.ReadFile(c.file)
		switch {
		case c.refused == "":
			if err != nil || len(after) == 0 {
				t.Errorf("%s: %v", c.file, err)
			}
			if stat, err := os.Stat(c.file); err != nil || stat.Mode().Perm() != 0o600 {
				t.Errorf("%s may be read by others: %v", c.file, stat.Mode())
			}
		case !errors.As(err, &exists) || !strings.Contains(err.Error(), c.refused) || !bytes.Equal(before, after):
			t.Errorf("%s: %v", c.file, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".export*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestASessionInUseIsNotWrittenOverByWhatBeginsWithIt(t *testing.T) {
	s := read(t, stored(t, 3, prompt))
	path := filepath.Join(t.TempDir(), "older.jsonl")
	if err := ToFile(path, Formats()[0], s, false); err != nil {
		t.Fatal(err)
	}
	held, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if err := ToFile(path, Formats()[0], s, true); !errors.As(err, &exists) || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ToFile(path, Formats()[0], s, true); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeReadIsNotWrittenOver(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("everything can be read")
	}
	s := read(t, stored(t, 3, prompt))
	path := stored(t, 3, prompt, prompt)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := ToFile(path, Formats()[1], s, true); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := read(t, path); len(again.Entries()) != 2 {
		t.Error("it was written over")
	}
}

func TestWhatIsLeftOfASessionIsExported(t *testing.T) {
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
	var unsaved *session.SaveError
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("only in memory")}}); !errors.As(err, &unsaved) {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "saved.jsonl")
	var part *PartError
	if err := ToFile(to, Formats()[0], s, false); !errors.As(err, &part) || part.Gone != 2 || part.Of != 3 {
		t.Error(err)
	}
	if again := read(t, to); len(again.Entries()) != 1 || again.Entries()[0].Message().Text() != "only in memory" {
		t.Errorf("it holds %d entries", len(again.Entries()))
	}
	if err := ToFile(to, Formats()[0], s, true); !errors.As(err, &part) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), ".export*")); left != nil {
		t.Errorf("there is %q", left)
	}
}

func failHalfway(w io.Writer, _ *session.Session) error {
	if _, err := io.WriteString(w, "half"); err != nil {
		return err
	}
	return errors.New("no more")
}

func TestAnExportThatFailsLeavesNothing(t *testing.T) {
	s, dir := read(t, stored(t, 3, prompt)), t.TempDir()
	path := filepath.Join(dir, "out.md")
	failing := Format{Name: "md", Write: failHalfway}
	if err := ToFile(path, failing, s, false); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ToFile(path, failing, s, true); err == nil {
		t.Error("it says nothing")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "notes" {
		t.Errorf("%q, %v", text, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAnExportHasItsNameWhenItIsFinished(t *testing.T) {
	s, path := read(t, stored(t, 3, prompt)), filepath.Join(t.TempDir(), "out.md")
	slow := Format{Name: "md", Write: func(w io.Writer, _ *session.Session) error {
		if _, err := os.Lstat(path); err == nil {
			t.Error("a program that is killed now leaves half of it under its name")
		}
		_, err := io.WriteString(w, "whole")
		return err
	}}
	if err := ToFile(path, slow, s, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
	if err := ToFile(path, slow, s, false); !errors.As(err, new(*ExistsError)) {
		t.Errorf("it was written over: %v", err)
	}
}
