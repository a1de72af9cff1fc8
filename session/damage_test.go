package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDamageIsReportedOnceAndNothingElseIsLost(t *testing.T) {
	orphan := strings.Replace(line("u3"), `"parentId":"2"`, `"parentId":"gone"`, 1)
	self := strings.Replace(line("u3"), `"parentId":"2"`, `"parentId":"3"`, 1)
	twice := strings.Replace(line("u3^2"), `"id":"3"`, `"id":"2"`, 1)
	twiceAtRoot := strings.Replace(line("u3^0"), `"id":"3"`, `"id":"2"`, 1)
	afterTwice := strings.Replace(line("u4"), `"parentId":"3"`, `"parentId":"2"`, 1)
	noID := `{"type":"message","message":{"role":"user","content":"3"}}`
	for _, c := range []struct{ name, text, context, problem string }{
		{"torn tail", line("u1") + "\n" + line("u2") + "\n" + line("u3")[:80], "1 2", "line 4: the end"},
		{"torn tail that ends in a brace", line("u1") + "\n" + line("a2")[:strings.Index(line("a2"), "}")+1], "1", "line 3: the end"},
		{"whole line without newline", line("u1") + "\n" + line("u2"), "1 2", ""},
		{"unreadable line", line("u1") + "\n}garbage{\n" + line("u2") + "\n", "1 2", "line 3 cannot be read"},
		{"two unreadable lines", "x\n" + line("u1") + "\n[]\n" + line("u2") + "\n", "1 2", "2 lines cannot be read; they are left where they are: 2, 4"},
		{"binary line", line("u1") + "\n\x00\xff\xfe\n" + line("u2") + "\n", "1 2", "line 3 cannot be read"},
		{"second header", line("u1") + "\n" + headerLine + "\n" + line("u2") + "\n" + headerLine + "\n", "1 2", "line 3: a second header"},
		{"message without content", line("u1") + "\n" + strings.Replace(line("u2"), `"content":"2"`, `"content":null`, 1) + "\n" + line("u3") + "\n", "1  3", ""},
		{"empty lines", "\n" + line("u1") + "\n\n \n" + line("u2") + "\n\n", "1 2", ""},
		{"carriage returns", line("u1") + "\r\n" + line("u2") + "\r\n", "1 2", ""},
		{"dangling parent", line("u1") + "\n" + line("u2") + "\n" + orphan + "\n", "1 2 3", `line 4: parent "gone" is not in the file`},
		{"entry that is its own parent", line("u1") + "\n" + line("u2") + "\n" + self + "\n", "1 2 3", "line 4: parent \"3\" leads around"},
		{"circle of two", line("u1^2") + "\n" + line("u2^1") + "\n", "1 2", "leads around"},
		{"circle of three", line("u1^3") + "\n" + line("u2^1") + "\n" + line("u3^2") + "\n", "1 2 3", "leads around"},
		{"parent further down", line("u1^2") + "\n" + line("u2^0") + "\n" + line("u3^1") + "\n", "2 1 3", ""},
		{"id twice", line("u1") + "\n" + line("u2") + "\n" + twice + "\n" + afterTwice + "\n", "1 2 3 4", `line 4: id "2" stands there a second time`},
		{"id twice, and kept by a compaction", line("u1") + "\n" + line("u2") + "\n" + twiceAtRoot + "\n" + line("c4:2^2") + "\n", "summary4 3", `line 4: id "2"`},
		{"no id and no parent", line("u1") + "\n" + line("u2") + "\n" + noID + "\n", "1 2 3", "line 4: an entry without an id"},
		{"broken body", line("u1") + "\n" + `{"type":"message","id":"2","parentId":"1","timestamp":"","message":{"role":}}` + "\n" + line("u3") + "\n", "1 3", "line 3: the message entry 2 cannot be used"},
	} {
		for _, buffer := range []int{0, 64} {
			t.Run(c.name, func(t *testing.T) {
				path := writeRaw(t, headerLine+"\n"+c.text)
				s := readWith(t, path, buffer)
				if got := gist(s.Context()); got != c.context {
					t.Errorf("context %q, want %q", got, c.context)
				}
				got := strings.Join(s.Problems(), "\n")
				if c.problem == "" && got != "" || !strings.Contains(got, c.problem) {
					t.Errorf("problems %q, want %q", got, c.problem)
				}
				if again := s.Problems(); again != nil {
					t.Errorf("reported a second time: %q", again)
				}
				s.Context()
				if again := s.Problems(); again != nil {
					t.Errorf("reported a second time: %q", again)
				}
				if now, _ := os.ReadFile(path); string(now) != headerLine+"\n"+c.text {
					t.Error("reading changed the file")
				}
			})
		}
	}
}

// readWith reads as if files beyond the buffer were large; 0 is the real size.
func readWith(t testing.TB, path string, buffer int) *Session {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newSession(Options{})
	s.setFile(path)
	s.readOnly, s.loader.testOnlyBuffer = true, buffer
	if err := s.load(f); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAppendAfterATornTailStartsALine(t *testing.T) {
	torn := line("u2")[:70]
	for _, tail := range []string{torn, line("u2")} {
		path := writeRaw(t, headerLine+"\n"+line("u1")+"\n"+tail)
		before, _ := os.ReadFile(path)
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AppendMessage(user("next")); err != nil {
			t.Fatal(err)
		}
		s.AppendMessage(user("last"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(path)
		if !strings.HasPrefix(string(after), string(before)+"\n{") {
			t.Errorf("the torn piece was merged or changed:\n%s", after)
		}
		want := gist(s.Context())
		if got := gist(read(t, path).Context()); got != want {
			t.Errorf("context %q after opening again, %q before", got, want)
		}
	}
}

func TestTreeOfADamagedFileIsTheSameAfterAppending(t *testing.T) {
	twice := strings.Replace(line("u3^2"), `"id":"3"`, `"id":"2"`, 1)
	path := write(t, headerLine, line("u1"), line("u2"), twice)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.AppendMessage(user("4"))
	s.Close()
	if got := gist(read(t, path).Context()); got != "1 2 3 4" {
		t.Errorf("context %q", got)
	}
}

func TestWhatIsNoSessionIsRefusedAndLeftAlone(t *testing.T) {
	for _, text := range []string{
		"hello\n", "\n" + headerLine + "\n", "{}\n", `{"type":"message","id":"x"}` + "\n", `{"type":"session"}` + "\n",
		`{"type":"session","id":"a/b"}` + "\n", `{"type":"session","id":"x"`, "\x00\x01", "[1]\n",
	} {
		path := writeRaw(t, text)
		for name, open := range map[string]func() (*Session, error){
			"Open": func() (*Session, error) { return Open(path, Options{}) },
			"Read": func() (*Session, error) { return Read(path) },
		} {
			var refused *NotSessionError
			if _, err := open(); !errors.As(err, &refused) || refused.Path != path {
				t.Errorf("%s of %q: %v", name, text, err)
			}
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
	var refused *NotSessionError
	if _, err := Open(t.TempDir(), Options{}); !errors.As(err, &refused) {
		t.Errorf("a folder: %v", err)
	}
}

func TestNewerVersionIsForReadingOnly(t *testing.T) {
	for _, v := range []string{"4", "3.5", `"5"`, "1e400", "1e300", "true", `"three"`, "{}", "[4]"} {
		path := write(t, strings.Replace(headerLine, `"version":3`, `"version":`+v, 1), line("u1"))
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.ReadOnly() || len(s.Problems()) != 1 || gist(s.Context()) != "1" {
			t.Errorf("version %s is not open for reading only, with a notice", v)
		}
		if _, err := s.AppendMessage(user("x")); !errors.Is(err, ErrReadOnly) {
			t.Errorf("append to version %s: %v", v, err)
		}
	}
}

func TestHeaderAsOthersWriteIt(t *testing.T) {
	long := strings.Repeat("deep/", 20<<10)
	for _, c := range []struct{ name, header, id string }{
		{"byte order mark", "\ufeff" + headerLine, "test"},
		{"carriage return", headerLine + "\r", "test"},
		{"other id", strings.Replace(headerLine, `"test"`, `"My.own_id-7"`, 1), "My.own_id-7"},
		{"version as a string", strings.Replace(headerLine, `:3`, `:"3"`, 1), "test"},
		{"other order and fields", `{ "cwd":"/w", "x":{"id":"no"}, "id":"test", "version":3.0, "type":"session" }`, "test"},
		{"deep directory", strings.Replace(headerLine, `"/w"`, `"/w","other":"`+long+`"`, 1), "test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeRaw(t, c.header+"\n"+line("u1"))
			h, err := ReadHeader(path)
			if err != nil || h.ID != c.id || h.Cwd != "/w" || h.Version != Version {
				t.Errorf("header %+v, %v", h, err)
			}
			s := open(t, path, Options{})
			say(t, s, "2")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := gist(read(t, path).Context()); got != "1 2" {
				t.Errorf("context %q", got)
			}
			if !strings.HasPrefix(contents(t, path), c.header+"\n") {
				t.Error("the header was changed")
			}
		})
	}
}

func TestAFileWithoutLinesIsRefusedUnread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<33); err != nil {
		t.Skip("no sparse files here")
	}
	var refused *NotSessionError
	if _, err := Read(path); !errors.As(err, &refused) {
		t.Errorf("Read: %v", err)
	}
	if _, err := ReadHeader(path); !errors.As(err, &refused) {
		t.Errorf("ReadHeader: %v", err)
	}
}

func TestBodyThatWasOverwrittenIsNotTakenForTheOldOne(t *testing.T) {
	path := write(t, story("u1 u2 u3 u4")...)
	s := readWith(t, path, 64)
	if got := gist([]Item{{Message: s.Entry("1").Message()}}); got != "1" {
		t.Fatalf("entry 1 says %q", got)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 4000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Entry("2").Raw() != nil || s.Entry("2").Message() != nil {
		t.Error("an overwritten line was believed")
	}
	if got := gist(s.Context()); got != "1" || len(s.Problems()) != 3 {
		t.Errorf("context %q", got)
	}
}
