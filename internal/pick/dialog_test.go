package pick

import (
	"slices"
	"strings"
	"testing"

	"pi/internal/keys"
)

func TestConfirmAnswers(t *testing.T) {
	tests := []struct {
		keys      []string
		always    bool
		done      bool
		want      Answer
		cancelled bool
	}{
		{[]string{"'y"}, false, true, Yes, false},
		{[]string{"'Y"}, false, true, Yes, false},
		{[]string{"'n"}, false, true, No, false},
		{[]string{"enter"}, false, true, No, false},
		{[]string{"esc"}, false, true, No, true},
		{[]string{"ctrl+c"}, true, true, No, true},
		{[]string{"'a"}, true, true, Always, false},
		{[]string{"'a"}, false, false, No, false},
		{[]string{"'x", "space", "down"}, true, false, No, false},
		{[]string{"esc", "'y"}, false, true, No, true},
	}
	for _, tt := range tests {
		c := NewConfirm(Question{Title: "Sure?"}, tt.always)
		press(c, tt.keys...)
		if c.Done() != tt.done || c.Answer() != tt.want || c.Cancelled() != tt.cancelled {
			t.Errorf("%v: done %v, %v, cancelled %v", tt.keys, c.Done(), c.Answer(), c.Cancelled())
		}
	}
	c := NewConfirm(Question{Title: "Sure?"}, false)
	if used := c.Key(keys.Key{Name: "paste", Text: "y"}); used || c.Done() {
		t.Error("a paste is an answer")
	}
	if used := c.Key(keys.Key{Name: "y", Text: "y", Release: true}); used || c.Done() {
		t.Error("a key that is released is an answer")
	}
}

func TestConfirmLooks(t *testing.T) {
	c := NewConfirm(Question{Title: "Dangerous command", Message: "rm -rf /tmp/x\n" + strings.Repeat("another line\n", 9), Hook: "permission_gate.lua"}, true)
	equal(t, drawn(c, 70, 20), `[permission_gate.lua] Dangerous command
rm -rf /tmp/x
`+strings.Repeat("another line\n", 9)+`[y/N/a]   y yes · n no · a always in this session · Esc no`)
	equal(t, drawn(c, 30, 6), `[permissio…] Dangerous command
rm -rf /tmp/x
another line
another line
… 7 more · PgDn
[y/N/a]   y yes · n no`)
	press(c, "pagedown", "down")
	equal(t, drawn(c, 30, 6), `[permissio…] Dangerous command
another line
another line
another line
… 4 before, 3 more · PgUp/PgDn
[y/N/a]   y yes · n no`)
	press(c, "pagedown")
	if got := drawn(c, 30, 6); !strings.Contains(got, "… 7 before · PgUp") {
		t.Errorf("at the end:\n%s", got)
	}
	c.SetNote("12 s")
	equal(t, drawn(c, 40, 1), "[permissio…] [12 s] Dangerous … [y/N/a]")
}

func TestInputAnswers(t *testing.T) {
	tests := []struct {
		keys []string
		want string
		ok   bool
	}{
		{[]string{"'日本語", "backspace", "enter"}, "日本", true},
		{[]string{"enter"}, "", true},
		{[]string{"'text", "esc"}, "", false},
		{[]string{"'a b", "home", "'x", "enter"}, "xa b", true},
	}
	for _, tt := range tests {
		i := NewInput(InputOptions{Question: Question{Title: "Name?"}})
		press(i, tt.keys...)
		if got, ok := i.Text(); got != tt.want || ok != tt.ok || !i.Done() {
			t.Errorf("%v: %q %v", tt.keys, got, ok)
		}
	}
}

func TestInputLooks(t *testing.T) {
	i := NewInput(InputOptions{Question: Question{Title: "Label", Hook: "notes"}, Placeholder: "a name"})
	equal(t, drawn(i, 40, 10), "[notes] Label\n? a name\nEnter answer · Esc")
	press(i, "'x")
	equal(t, drawn(i, 40, 2), "[notes] Label\n? x")
	secret := NewInput(InputOptions{Question: Question{Title: "Key"}, Masked: true})
	press(secret, "'sk-1")
	if got := drawn(secret, 40, 10); strings.Contains(got, "sk") || !strings.Contains(got, "••••") {
		t.Errorf("a key is shown as\n%s", got)
	}
	if text, _ := secret.Text(); text != "" {
		t.Errorf("before Enter the text is %q", text)
	}
}

func TestMenu(t *testing.T) {
	items := []MenuItem{{"/model", "choose the model"}, {"/mode", "switch the way to work"}, {"/compact", ""}}
	m := NewMenu(Palette{})
	m.SetItems(items, "/mo", 7)
	equal(t, drawn(m, 60, 20), `     ▸ /model    choose the model
       /mode     switch the way to work
       /compact`)
	equal(t, drawn(m, 30, 20), `▸ /model    choose the model
  /mode     switch the way to…
  /compact`)
	press(m, "down")
	m.SetItems(items[1:], "/mod", 7)
	if m.Selected() != 0 {
		t.Errorf("selected is %d, want the one that was", m.Selected())
	}
	if m.Key(keys.Key{Name: "e", Text: "e"}) {
		t.Error("the menu uses what is typed")
	}
	press(m, "up", "tab")
	if at, ok := m.Taken(); at != 1 || !ok || !m.Done() {
		t.Errorf("taken: %d %v", at, ok)
	}
	left := NewMenu(Palette{})
	left.SetItems(items, "", 0)
	press(left, "esc", "enter")
	if _, ok := left.Taken(); ok || !left.Done() {
		t.Error("Esc takes something")
	}
}

func TestMenuHasEightRows(t *testing.T) {
	var items []MenuItem
	for _, row := range many(20) {
		items = append(items, MenuItem{Label: row.Columns[0]})
	}
	m := NewMenu(Palette{})
	m.SetItems(items, "", 0)
	press(m, "up")
	got := drawn(m, 40, 40)
	if strings.Count(got, "\n") != 7 || !strings.HasSuffix(got, "▸ row 19  20 of 20") {
		t.Errorf("the last of 20:\n%s", got)
	}
	press(m, "pagedown", "pageup", "ctrl+p")
	if !strings.Contains(drawn(m, 40, 40), "▸ row 11\n") {
		t.Errorf("a page before:\n%s", drawn(m, 40, 40))
	}
}

// What an idle menu says has room however long the last description is.
func TestAnIdleMenuTellsHowOneChooses(t *testing.T) {
	var items []MenuItem
	for _, row := range many(20) {
		items = append(items, MenuItem{Label: row.Columns[0], Description: strings.Repeat("what it does and ", 5)})
	}
	m := NewMenu(Palette{})
	m.SetIdle(true)
	m.SetItems(items, "", 0)
	for width, want := range map[int]string{
		100: "  row 7  what it does and what it does and what it does and what it does and what…  20 · Tab chooses",
		40:  "  row 7  what it does…  20 · Tab chooses",
		20:  "  row 7  what it do…",
	} {
		if rows := strings.Split(drawn(m, width, 40), "\n"); rows[len(rows)-1] != want {
			t.Errorf("%d columns: %q, want %q", width, rows[len(rows)-1], want)
		}
	}
}

func TestNumberedRows(t *testing.T) {
	rows := append(sessions(), Row{ID: "x", Columns: []string{"2"}})
	equal(t, strings.Join(Numbered(rows[:2], nil), "\n"), `  1  refactor tokenizer     7 h   16 msg  … last: tests pass
  2  flaky test TestResume  22 h  16 msg  … last: add a sleep`)
	equal(t, strings.Join(Numbered(rows, []int{4}), "\n"), "  5  … older ones")
	if lines := Numbered(many(40), nil); len(lines) != 31 || lines[30] != "     … 10 more: type a part of the name" {
		t.Errorf("of 40 rows %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	tests := []struct {
		line string
		want []int
	}{
		{"2", []int{1}}, // numbers choose here
		{"77", nil},
		{"flaky test TestResume", []int{1}},
		{"more", []int{4}}, // by its ID
		{"TEST", []int{0, 1}},
		{"test 16 sleep", []int{1}},
		{"lexer", []int{0}},
		{"", []int{0, 1, 2, 3, 4, 5}},
	}
	for _, tt := range tests {
		if got := Choose(rows, tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%q means %v, want %v", tt.line, got, tt.want)
		}
	}
}

func TestChooseSeveral(t *testing.T) {
	tests := []struct {
		line    string
		want    []int
		unclear string
	}{
		{"", nil, ""},
		{"3, 1 1", []int{0, 2}, ""},
		{"2", []int{1}, ""},
		{"flaky", []int{1}, ""},
		{"1 99", nil, "99"},
		{"1 msg", nil, "msg"},
	}
	for _, tt := range tests {
		if got, unclear := ChooseSeveral(sessions(), tt.line); !slices.Equal(got, tt.want) || unclear != tt.unclear {
			t.Errorf("%q means %v, unclear %q", tt.line, got, unclear)
		}
	}
}
