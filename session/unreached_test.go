package session

import (
	"fmt"
	"strings"
	"testing"
)

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
