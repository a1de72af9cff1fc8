package session

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pi/session/message"
)

// loadOnly reads a file with nothing but a loader.
func loadOnly(t *testing.T, path string) (*tree, *loader, fileEnd, []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, p, end := newTree(), problems{}, fileEnd{}
	l := &loader{tree: &tr, problems: &p}
	if err := l.load(f, path, &end); err != nil {
		t.Fatal(err)
	}
	return &tr, l, end, p.take()
}

func TestALoaderPutsTheEntriesOfAFileIntoATree(t *testing.T) {
	text := strings.Join(story("u1 a2 u3^1"), "\n") + "\n"
	tr, l, end, p := loadOnly(t, writeRaw(t, text))
	if idsOf(tr.entries) != "1 2 3" || idsOf(tr.path()) != "1 3" || l.lines != 4 || l.header.ID == "" || p != nil {
		t.Errorf("%s, branch %s, %d lines, problems %q", idsOf(tr.entries), idsOf(tr.path()), l.lines, p)
	}
	if end.size != int64(len(text)) || end.torn || !strings.HasSuffix(text, string(end.tail)) {
		t.Errorf("the file ends in %+v", end)
	}
	l.addForeign([]byte(line("u4^2") + "\n"))
	if idsOf(tr.entries) != "1 2 3 4" || idsOf(tr.path()) != "1 3" || tr.byID["4"].ParentID != "2" {
		t.Errorf("with a foreign entry %s, branch %s", idsOf(tr.entries), idsOf(tr.path()))
	}
}

func TestALoaderKnowsATornEnd(t *testing.T) {
	for _, c := range []struct {
		tail, entries string
		seemsWhole    bool
	}{
		{line("u2")[:40], "1", false},
		{`{"type":"message","id":"2","parentId":"1","timestamp":"t","message":{"role":"user"}`, "1", true},
		{line("u2"), "1 2", false},
	} {
		tr, _, end, p := loadOnly(t, writeRaw(t, headerLine+"\n"+line("u1")+"\n"+c.tail))
		if idsOf(tr.entries) != c.entries || end.seemsWhole != c.seemsWhole || !end.torn || (c.entries == "1") != (len(p) == 1) {
			t.Errorf("%s: %s, %+v, problems %q", c.tail, idsOf(tr.entries), end, p)
		}
	}
}

func TestEntriesThatARootByMistakeHidesAreToldOf(t *testing.T) {
	line := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,%s"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":%q,"timestamp":1}}`, id, parent, id)
	}
	under := func(id string) string { return fmt.Sprintf(`"parentId":%q,`, id) }
	const none = `"parentId":null,`
	for _, c := range []struct {
		name      string
		lines     []string
		says      string
		unreached string
	}{
		{"in order", []string{line("a", none), line("b", under("a"))}, "", ""},
		{"a second beginning", []string{line("a", none), line("b", none)}, "", ""},
		{"misspelt", []string{line("a", none), line("b", under("a")), line("c", `"parentIe":"b",`), line("d", under("c"))},
			"line 4: the message entry c has no usable parentId, so the conversation begins there: 2 entries cannot be reached, from line 2 on; /tree shows them", "a b"},
		{"missing, behind the head of another", []string{line("a", none), line("b", ""), line("c", under("b"))},
			"line 3: the message entry b has no usable parentId, so the conversation begins there: 1 entry cannot be reached, from line 2 on; /tree shows them", "a"},
		{"a number", []string{line("a", none), line("b", `"parentId":7,`)}, "1 entry cannot be reached", "a"},
		{"empty", []string{line("a", none), line("b", `"parentId":"",`)}, "1 entry cannot be reached", "a"},
		{"twice", []string{line("a", none), line("b", ""), line("c", under("b")), line("d", ""), line("e", under("d"))}, "line 5: the message entry d has no usable parentId, so the conversation begins there: 3 entries cannot be reached, from line 2 on", "a b c"},
		{"of a branch that was left", []string{line("a", none), line("b", ""), line("c", under("a"))}, "", ""},
		{"what hangs on a later entry", []string{line("a", under("c")), line("b", none), line("c", "")}, "1 entry cannot be reached, from line 3 on", "b"},
		{"at the very beginning", []string{line("a", `"parentIe":"x",`), line("b", under("a"))}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, write(t, append([]string{headerLine}, c.lines...)...))
			said := strings.Join(s.Problems(), "\n")
			if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
				t.Errorf("said %q, want %q", said, c.says)
			}
			if got := idsOf(s.Unreached()); got != c.unreached {
				t.Errorf("unreached %q, want %q", got, c.unreached)
			}
		})
	}
}

var versionOne = []string{
	`{"type":"session","id":"old","timestamp":"2024-01-02T03:04:05.006Z","cwd":"/w","provider":"p"}`,
	`{"type":"message","timestamp":"t","message":{"role":"user","content":"1","timestamp":1}}`,
	`{"type":"message","timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":"2"}],"provider":"p","model":"m","timestamp":1}}`,
	`{"type":"message","timestamp":"t","message":{"role":"user","content":"3","timestamp":1}}`,
	`{"type":"compaction","timestamp":"t","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":5}`,
	`{"type":"message","timestamp":"t","message":{"role":"hookMessage","content":"5","customType":"h","display":true,"timestamp":1}}`,
}

func TestVersionOneIsReadAndMigratedOnlyBesideABackup(t *testing.T) {
	path := write(t, versionOne...)
	before := contents(t, path)
	if got := gist(read(t, path).Context()); got != "sum 3 5" {
		t.Errorf("context %q", got)
	}
	s := open(t, path, Options{})
	if contents(t, path) != before {
		t.Error("opening changed the file")
	}
	say(t, s, "6")
	say(t, s, "7")
	if got := contents(t, path+".v1.bak"); got != before {
		t.Errorf("backup:\n%s", got)
	}
	r := read(t, path)
	if got := gist(r.Context()); got != "sum 3 5 6 7" || r.Header().Version != Version || r.ID() != "old" || r.Problems() != nil {
		t.Errorf("context %q of version %d", got, r.Header().Version)
	}
	if !strings.Contains(contents(t, path), `"provider":"p"`) || strings.Contains(contents(t, path), "firstKeptEntryIndex") {
		t.Errorf("migrated:\n%s", contents(t, path))
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("the new file is not locked")
	}
}

func TestVersionTwoIsReadAndAppendedTo(t *testing.T) {
	hook := strings.Replace(line("u2"), `"role":"user"`, `"role":"hookMessage"`, 1)
	path := write(t, strings.Replace(headerLine, `"version":3`, `"version":2`, 1), line("u1"), hook)
	before := contents(t, path)
	s := open(t, path, Options{})
	if m := s.Context()[1].Message; m.Role != message.RoleCustom || m.Text() != "2" {
		t.Errorf("role %q", m.Role)
	}
	say(t, s, "3")
	if !strings.HasPrefix(contents(t, path), before) {
		t.Error("what was there has changed")
	}
	if got := gist(read(t, path).Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}

func TestVersionOneIsALineWhateverParentsItNames(t *testing.T) {
	text := strings.Replace(headerLine, `"version":3,`, "", 1) + "\n" + line("u1") + "\n" + line("u2^0") + "\n" + line("u3^1") + "\n"
	if got := gist(read(t, writeRaw(t, text)).Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}
