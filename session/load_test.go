package session

import (
	"os"
	"strings"
	"testing"
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
