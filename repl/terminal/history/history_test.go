package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/internal/edit"
)

func texts(entries []edit.Draft) (texts []string) {
	for _, e := range entries {
		texts = append(texts, e.Text)
	}
	return texts
}

// openNew returns a history in a file that is not there yet, nor its folder.
func openNew(t *testing.T) *History {
	return Open(filepath.Join(t.TempDir(), "dir", "history"), nil)
}

func add(t *testing.T, h *History, entries ...string) {
	t.Helper()
	for _, e := range entries {
		if err := h.Add(edit.Draft{Text: e}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEntriesAreKeptAsTheyWereTyped(t *testing.T) {
	h := openNew(t)
	path := h.file.path
	add(t, h, "one", "two\nlines\t\"quoted\" <&>", "two\nlines\t\"quoted\" <&>", "", "\n\t", " not this", "日本", "one")
	want := []string{"one", "two\nlines\t\"quoted\" <&>", "日本", "one"}
	if got := texts(h.Entries()); !slices.Equal(got, want) {
		t.Errorf("has %q, want %q", got, want)
	}
	if got := texts(Open(path, nil).Entries()); !slices.Equal(got, want) {
		t.Errorf("the file has %q, want %q", got, want)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil || text != want[i] {
			t.Errorf("line %d is %s, want a JSON string of %q", i, line, want[i])
		}
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestTokensAndWhatWasTypedAreKept(t *testing.T) {
	h := openNew(t)
	paste := strings.Repeat("a line\n", 30)
	d := edit.Draft{Text: "see " + paste + "!", Tokens: []edit.Span{{From: 4, To: 4 + len(paste)}}, Typed: []edit.Span{{To: 4}}, Position: 2}
	add(t, h, "before")
	if err := h.Add(d); err != nil {
		t.Fatal(err)
	}
	add(t, h, "after")
	for _, h := range []*History{h, Open(h.file.path, nil)} {
		got := h.Entries()
		if len(got) != 3 || got[1].Text != d.Text || !slices.Equal(got[1].Tokens, d.Tokens) || !slices.Equal(got[1].Typed, d.Typed) || got[1].Position != 0 || got[2].Tokens != nil {
			t.Errorf("got %+v", got)
		}
	}
}

func TestAnEntryWithAKeyIsInNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := Open(path, func(text string) bool { return strings.Contains(text, "sk-") })
	add(t, h, "one", "use sk-123", "two", strings.Repeat("x", maxEntry+1))
	if got := texts(h.Entries()); len(got) != 4 || got[1] != "use sk-123" {
		t.Errorf("has %.80q", got)
	}
	if got, want := texts(Open(path, nil).Entries()), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("the file has %q, want %q", got, want)
	}
}

func TestWithoutAFileEntriesAreInMemory(t *testing.T) {
	h := Open("", nil)
	add(t, h, "one", "two")
	if got := texts(h.Entries()); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("has %q", got)
	}
}

func TestAFileThatCannotBeUsedIsToldOfOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "history"), t.TempDir()} {
		h := Open(path, nil)
		h.Walk().Up(edit.New()) // reads
		if err := h.Add(edit.Draft{Text: "one"}); err == nil || !strings.Contains(err.Error(), "history") {
			t.Errorf("%s: the first entry: %v", path, err)
		}
		add(t, h, "two")
		if got := texts(h.Entries()); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("has %q", got)
		}
	}
}

func TestLinesThatAreNoEntriesAreSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	contents := "{\"tokens\":[]}\n\"a\"\nplain\n\n{}\n\"\"\n\"b\"\r\n\"bad \\x\"\n{\"tokens\":3}\n\"c\"\n\"cut"
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
	h := Open(path, nil)
	if got, want := texts(h.Entries()), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	add(t, h, "d")
	if got, want := texts(Open(path, nil).Entries()), []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("after a line that was cut off: %q, want %q", got, want)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
}

func TestEntriesOfOtherProgramsAreSeen(t *testing.T) {
	a := openNew(t)
	b := Open(a.file.path, func(text string) bool { return text == "secret" })
	add(t, a, "a1")
	add(t, b, "b1", "secret")
	add(t, a, "a2")
	add(t, b, "b2")
	if got, want := texts(a.Entries()), []string{"a1", "b1", "a2", "b2"}; !slices.Equal(got, want) {
		t.Errorf("one has %q, want %q", got, want)
	}
	if got, want := texts(b.Entries()), []string{"a1", "b1", "secret", "a2", "b2"}; !slices.Equal(got, want) {
		t.Errorf("the other has %q, want %q", got, want)
	}
	if err := a.file.shorten(); err != nil { // another file now
		t.Fatal(err)
	}
	add(t, a, "a3")
	if got, want := texts(b.Entries()), []string{"a1", "b1", "a2", "b2", "a3", "secret"}; !slices.Equal(got, want) {
		t.Errorf("of a rewritten file the other has %q, want %q", got, want)
	}
	if err := os.Remove(a.file.path); err != nil {
		t.Fatal(err)
	}
	add(t, a, "a4")
	if got := texts(Open(a.file.path, nil).Entries()); !slices.Equal(got, []string{"a4"}) {
		t.Errorf("of a file that was removed: %q", got)
	}
}

// fill writes a file of n entries, and returns its path.
func fill(t testing.TB, n int, entry func(i int) string) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		b.Write(recordOf(edit.Draft{Text: entry(i)}).lines())
	}
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileThatHasGrownIsShortened(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		entry func(i int) string
		left  int
	}{
		"many entries":      {2 * kept, func(i int) string { return fmt.Sprint("entry ", i) }, kept},
		"not so many":       {2*kept - 2, func(i int) string { return fmt.Sprint("entry ", i) }, 2*kept - 1},
		"very long entries": {40, func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 1<<20) }, 15},
	} {
		t.Run(name, func(t *testing.T) {
			path := fill(t, c.n, c.entry)
			h := Open(path, nil)
			add(t, h, "new")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(b), "\n"); got != c.left+1 && got != c.left || !strings.HasSuffix(string(b), "\n\"new\"\n") {
				t.Errorf("%d lines are left, want %d", got, c.left)
			}
			if first, _, _ := strings.Cut(string(b), "\n"); !json.Valid([]byte(first)) {
				t.Errorf("the first line is %.40q", first)
			}
			got := h.Entries()
			if n := len(got); n > kept || got[n-1].Text != "new" || got[n-2].Text != c.entry(c.n-1) {
				t.Errorf("%d entries, the last %.40q", n, got[n-1].Text)
			}
		})
	}
}

// Several programs add entries, and one of them shortens the file meanwhile: each entry is
// in the file, once.
func TestNothingIsLostWhileTheFileIsRewritten(t *testing.T) {
	path := fill(t, 2*kept-50, func(i int) string { return fmt.Sprint("old ", i) })
	const programs, entries = 4, 60
	var wait sync.WaitGroup
	for p := range programs {
		wait.Go(func() {
			h := Open(path, nil)
			for i := range entries {
				if i%20 == 0 { // another start, which finds out whether the file has grown
					h = Open(path, nil)
				}
				if err := h.Add(edit.Draft{Text: fmt.Sprintf("program %d entry %d", p, i), Tokens: []edit.Span{{From: 0, To: 7}}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	seen := map[string]int{}
	for _, d := range Open(path, nil).Entries() {
		if strings.HasPrefix(d.Text, "program") && len(d.Tokens) == 1 {
			seen[d.Text]++
		}
	}
	for p := range programs {
		for i := range entries {
			if n := seen[fmt.Sprintf("program %d entry %d", p, i)]; n != 1 {
				t.Fatalf("entry %d of program %d is there %d times", i, p, n)
			}
		}
	}
	if b, err := os.ReadFile(path); err != nil || strings.Count(string(b), "\"old ") > kept {
		t.Errorf("the file was not shortened: %v", err)
	}
}

func TestAHistoryIsForSeveralGoroutines(t *testing.T) {
	h := openNew(t)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for j := range 20 {
				err := h.Add(edit.Draft{Text: fmt.Sprint(i, " ", j), Tokens: []edit.Span{{From: 0, To: 1}}})
				w, b := h.Walk(), edit.New()
				if w.Up(b); err != nil || b.Empty() || len(h.Search().Find("")) == 0 {
					t.Errorf("added %d: %v", j, errors.Join(err))
				}
			}
		})
	}
	wait.Wait()
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("\"a\"\n{\"tokens\":[{\"from\":0,\"to\":1}]}\n\"b"), "new\nentry")
	f.Add([]byte("\n\n{}\n\"\\ud800\"\n"), "\xff")
	f.Fuzz(func(t *testing.T, contents []byte, entry string) {
		entry = strings.ToValidUTF8(entry, "?") // what a buffer has is valid
		path := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string // as one would read it without a thought of cost
		lines := strings.Split(string(contents), "\n")
		for i, line := range lines {
			var text string
			if i < len(lines)-1 && json.Unmarshal([]byte(line), &text) == nil && text != "" {
				want = append(want, text)
			}
		}
		h := Open(path, nil)
		if got := texts(h.Entries()); !slices.Equal(got, want) {
			t.Fatalf("%q: read %q, want %q", contents, got, want)
		}
		before := len(want)
		add(t, h, entry)
		if strings.TrimSpace(entry) == "" || entry[0] == ' ' || before > 0 && want[before-1] == entry {
			return
		}
		got := texts(Open(path, nil).Entries())
		if n := len(got); n == 0 || got[n-1] != entry {
			t.Fatalf("%q: added %q, read %q", contents, entry, got)
		}
	})
}
