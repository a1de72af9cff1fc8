package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFaultWhatAnotherProgramWritesAtTheSameMomentIsKept(t *testing.T) {
	for name, other := range map[string][]string{
		"a line":              {line("u7^1") + "\n"},
		"a line in two parts": {line("u7^1")[:30], line("u7^1")[30:] + "\n"},
		"half a line":         {line("u7^1")[:30]},
		"several lines":       {line("u7^1") + "\n" + line("u8^7") + "\n", line("u9^8") + "\n"},
	} {
		for _, step := range []string{"before the write", "written"} {
			path := write(t, story("u1")...)
			s := open(t, path, Options{})
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			parts := other
			s.journal.store.testOnlyStep = func(now string) {
				if now == step && len(parts) > 0 {
					f.WriteString(parts[0])
					parts = parts[1:]
				}
			}
			for i := 2; i <= 5; i++ {
				e, err := s.AppendMessage(user(fmt.Sprint(i)))
				if e == nil || err != nil && !errors.Is(err, errMixed) {
					t.Errorf("%s, %s: %v", name, step, err)
				}
			}
			f.Close()
			if err := s.Close(); err != nil {
				t.Errorf("%s, %s: %v", name, step, err)
			}
			r := read(t, path)
			if got := gist(r.Context()); got != "1 2 3 4 5" {
				t.Errorf("%s, %s: context %q\n%s", name, step, got, contents(t, path))
			}
			if whole := strings.Count(strings.Join(other, ""), "\n"); whole > 0 && name != "a line in two parts" && (r.Entry("7") == nil || s.Entry("7") == nil) {
				t.Errorf("%s, %s: the other's entry is lost", name, step)
			}
			goesOn(t, path)
		}
	}
}

func TestFaultALineThatAnotherProgramIsStillWritingIsReadWhole(t *testing.T) {
	path := write(t, story("u1")...)
	s := open(t, path, Options{})
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := line("u7^1") + "\n"
	f.WriteString(other[:40])
	s.journal.store.testOnlyStep = func(step string) {
		if step == "before the write" && other != "" {
			f.WriteString(other[40:])
			other = ""
		}
	}
	say(t, s, "2")
	say(t, s, "3")
	if e := s.Entry("7"); e == nil || e.Message().Text() != "7" {
		t.Error("the other's entry is not there")
	}
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "added an entry") {
		t.Errorf("problems %q", p)
	}
	r := read(t, path)
	if got := gist(r.Context()); got != "1 2 3" || r.Entry("7") == nil || r.Problems() != nil {
		t.Errorf("context %q\n%s", got, contents(t, path))
	}
}

func TestFaultLinesOfOthersStandWhereTheyStandInTheFile(t *testing.T) {
	path := write(t, story("u1")...)
	s := open(t, path, Options{})
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 4 {
		fmt.Fprintf(f, "%s\n", line(fmt.Sprintf("u%d^1", i+5)))
		say(t, s, fmt.Sprint(i+2))
	}
	var have []string
	for _, e := range s.Entries() {
		have = append(have, e.ID)
	}
	if want := ids(t, path); !slices.Equal(have, want) {
		t.Errorf("in memory %q, in the file %q", have, want)
	}
	if got := gist(s.Context()); got != "1 2 3 4 5" {
		t.Errorf("context %q", got)
	}
}

func TestFaultLinesThatOthersAddDuringAMigrationAreKept(t *testing.T) {
	path := write(t, versionOne...)
	s := open(t, path, Options{})
	other := `{"type":"message","timestamp":"t","message":{"role":"user","content":"other","timestamp":1}}` + "\n"
	s.journal.store.testOnlyStep = func(step string) {
		if step != "new file complete" || other == "" {
			return
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(other)
		f.Close()
		other = ""
	}
	if _, err := s.AppendMessage(user("6")); !errors.Is(err, errMixed) {
		t.Errorf("%v", err)
	}
	say(t, s, "7")
	if got := contents(t, path); !strings.Contains(got, `"content":"other"`) {
		t.Errorf("the other's line is lost:\n%s", got)
	}
	if got := gist(read(t, path).Context()); got != "sum 3 5 6 7" {
		t.Errorf("context %q", got)
	}
	files, _ := filepath.Glob(path + "*")
	if len(files) != 3 { // the session, and a backup of either state
		t.Errorf("%q", files)
	}
}
