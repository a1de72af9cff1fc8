package session

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// reads fails unless a file opens however much of it is read at once, reports
// what is wrong once, and is left as it is.
func reads(t testing.TB, path string) (s *Session, problems []string) {
	t.Helper()
	before := contents(t, path)
	s = read(t, path)
	is := treeOf(s)
	problems = s.Problems()
	if again := s.Problems(); again != nil {
		t.Errorf("reported twice: %q", again)
	}
	if other := treeOf(readWith(t, path, 64)); other != is {
		t.Errorf("read in pieces it is\n%s\nnot\n%s", other, is)
	}
	if contents(t, path) != before {
		t.Error("reading has changed the file")
	}
	return s, problems
}

func TestFaultAFileCutAtAnyByteOfItsEndKeepsAllWholeLines(t *testing.T) {
	lines := story("u1 a2 u3 a4 c5:3 b6:4")
	lines[4] = strings.Replace(lines[4], `"text":"4"`, `"text":"Grüße, 日本 {\"a\":}"`, 1)
	text := strings.Join(lines, "\n") + "\n"
	from := len(text) - len(strings.Join(lines[4:], "\n")) - 1
	for cut := from; cut <= len(text); cut += times(3, 1) {
		path := writeRaw(t, text[:cut])
		want := 0
		for _, l := range strings.Split(text[:cut], "\n")[1:] {
			if json.Valid([]byte(l)) {
				want++
			}
		}
		s, problems := reads(t, path)
		if got := len(s.Entries()); got != want {
			t.Errorf("%d entries, want %d", got, want)
		}
		whole := strings.HasSuffix(text[:cut], "}") && cut+1 <= len(text) && text[cut] == '\n' || text[cut-1] == '\n'
		if whole != (len(problems) == 0) {
			t.Errorf("problems %q", problems)
		}
		goesOn(t, path)
		if got := len(read(t, path).Entries()); got != want+1 {
			t.Errorf("%d entries after one more, want %d", got, want+1)
		}
		if t.Failed() {
			t.Fatalf("cut at byte %d: …%s", cut, text[from:cut])
		}
	}
}

func TestFaultDamageStopsNobody(t *testing.T) {
	nul := strings.Repeat("\x00", 5000)
	u := func(n int) string { return line(fmt.Sprint("u", n)) + "\n" }
	again := strings.Replace(u(2), `"content":"2"`, `"content":"other"`, 1)
	for _, c := range []struct{ name, text, context, problem string }{
		{"NULs at the end", u(1) + u(2) + nul, "1 2 after", "line 4: the end of the file"},
		{"NULs after a piece of a line", u(1) + u(2)[:50] + nul, "1 after", "line 3: the end of the file"},
		{"NULs in the middle", u(1) + nul + "\n" + u(2), "1 2 after", "line 3 cannot be read"},
		{"NULs before a line", u(1) + nul + u(2) + u(3), "1 3 after", "line 3 cannot be read"},
		{"half a rune at the end", u(1) + strings.Replace(u(2), `"content":"2"`, `"content":"日`, 1)[:strings.Index(u(2), `"content"`)+13], "1 after", "line 3: the end of the file"},
		{"half a rune in a text", u(1) + strings.Replace(u(2), `"content":"2"`, "\"content\":\"2\xe6\x97\"", 1), "1 2\uFFFD\uFFFD after", ""},
		{"a newline inside a string", u(1) + strings.Replace(u(2), `"content":"2"`, "\"content\":\"tw\no\"", 1) + u(3), "1 3 after", "lines cannot be read"},
		{"a piece overwritten by the next line", u(1) + u(2)[:40] + u(3) + u(4), "1 4 after", "line 3: the message entry 2 cannot be used"},
		{"the same id, other contents", u(1) + u(2) + again, "1 other after", "a second time"},
		{"the same line twice", u(1) + u(2) + u(2) + u(3), "1 2 3 after", "a second time"},
		{"a dangling parent", u(1) + line("u2^17") + "\n", "1 2 after", `parent "17" is not in the file`},
		{"a circle", line("u1^3") + "\n" + line("u2^1") + "\n" + line("u3^2") + "\n", "1 2 3 after", "in a circle"},
		{"its own parent", u(1) + line("u2^2") + "\n" + u(3), "1 2 3 after", "in a circle"},
		{"a second header", u(1) + headerLine + "\n" + u(2), "1 2 after", ""},
		{"nothing but the header", "", "after", ""},
		{"blank lines", u(1) + "\n\n" + u(2) + "\n \n", "1 2 after", ""},
		{"JSON that is no entry", u(1) + "[1]\n7\nnull\n{}\n" + u(2), "1 2 after", "4 lines cannot be read"},
		{"deep nesting", u(1) + strings.Repeat("[", 100_000) + "\n" + u(2), "1 2 after", "line 3 cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeRaw(t, headerLine+"\n"+c.text)
			s, problems := reads(t, path)
			checkLoaded(t, s)
			if told := strings.Join(problems, "\n"); !strings.Contains(told, c.problem) || c.problem != "" && told == "" {
				t.Errorf("problems %q, want %q", problems, c.problem)
			}
			goesOn(t, path)
			if got := gist(read(t, path).Context()); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
		})
	}
}

func TestFaultAHeaderWithoutALineEndIsASession(t *testing.T) {
	path := writeRaw(t, headerLine)
	goesOn(t, path)
	if got := contents(t, path); !strings.HasPrefix(got, headerLine+"\n{") {
		t.Errorf("the header and the first entry are one line:\n%s", got)
	}
}

func TestFaultAVeryLongLineIsReadAndAppendedTo(t *testing.T) {
	long := strings.Repeat("0123456789", times(3, 50)<<20/10)
	path := write(t, headerLine, line("u1"), strings.Replace(line("u2"), `"content":"2"`, `"content":"`+long+`"`, 1), line("u3"))
	goesOn(t, path)
	s := read(t, path)
	if m := s.Entry("2").Message(); len(m.Text()) != len(long) || len(s.Entries()) != 4 {
		t.Errorf("%d bytes, %d entries", len(m.Text()), len(s.Entries()))
	}
	if err := os.Truncate(path, int64(len(long)/2)); err != nil { // and one that was cut off in it
		t.Fatal(err)
	}
	goesOn(t, path)
	if got := gist(read(t, path).Context()); got != "1 after" {
		t.Errorf("context of %d bytes", len(got))
	}
}
