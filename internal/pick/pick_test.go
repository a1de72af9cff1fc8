package pick

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pi/internal/cells"
	"pi/internal/keys"
)

func sessions() []Row {
	return []Row{
		{ID: "1", Columns: []string{"refactor tokenizer", "7 h", "16 msg", "… last: tests pass"}, Search: "why is the lexer slow\nfeature/lexer"},
		{ID: "2", Columns: []string{"flaky test TestResume", "22 h", "16 msg", "… last: add a sleep"}, Dim: true},
		{ID: "3", Columns: []string{"a very long name of a session that goes on and on", "3 d", "1 msg", "… last: ok"}},
		{ID: "4", Columns: []string{"日本語のセッション", "10 d", "160 msg", "… last: はい"}},
		{ID: "more", Columns: []string{"… older ones"}, Further: true},
	}
}

func tree() []Row {
	return []Row{
		{ID: "a", Columns: []string{"user: first"}, Description: "long enough to be cut where it does not fit, and then to be shown below the list"},
		{ID: "b", Columns: []string{"assistant: answer"}},
		{ID: "c", Columns: []string{"user: another way"}, Depth: 1, Folded: true},
		{ID: "d", Columns: []string{"assistant: which was left"}, Depth: 1, Parent: "c"}, // a branch is at one depth
		{ID: "e", Columns: []string{"user: deeper"}, Depth: 2, Parent: "d"},
		{ID: "f", Columns: []string{"user: this way"}},
	}
}

// panel is what a front end takes.
type panel interface {
	Key(k keys.Key) bool
	Render(width, height int) (rows []string, cursorRow, cursorColumn int)
	Done() bool
}

// press gives a panel keys by their names; what is in quotes is typed.
func press(p panel, names ...string) {
	for _, name := range names {
		if text, quoted := strings.CutPrefix(name, "'"); quoted {
			for _, r := range text {
				p.Key(keys.Key{Name: strings.Replace(string(r), " ", "space", 1), Text: string(r)})
			}
			continue
		}
		k := keys.Key{Name: name}
		if name == "space" {
			k.Text = " "
		}
		p.Key(k)
	}
}

// drawn is what a panel draws, as one text.
func drawn(p panel, width, height int) string {
	rows, _, _ := p.Render(width, height)
	return strings.Join(rows, "\n")
}

func selected(p *Picker) string {
	row, _ := p.Selected()
	return row.ID
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestPickerLooks(t *testing.T) {
	p := New(Options{Title: "Resume · this directory · 200 sessions", Right: "type to filter", Enter: "open",
		Actions: []Action{{Key: "delete", Label: "delete"}, {Key: "tab", Label: "all directories"}}}, sessions())
	equal(t, drawn(p, 80, 20), `Resume · this directory · 200 sessions  type to filter
  filter:
▸ refactor tokenizer                               7 h   16 msg  … last: tests …
  flaky test TestResume                           22 h   16 msg  … last: add a …
  a very long name of a session that goes on an…   3 d    1 msg  … last: ok
  日本語のセッション                              10 d  160 msg  … last: はい
  … older ones
  Enter open · Del delete · Tab all directories · Esc`)
	equal(t, drawn(p, 40, 8), `Resume · this directory · 200 sessions
  filter:
▸ refactor tokenizer        7 h   16 msg
  flaky test TestResume    22 h   16 msg
  a very long name of a …   3 d    1 msg
  日本語のセッション       10 d  160 msg
  … older ones
  Enter open · Del delete · Esc`)
	press(p, "down")
	equal(t, drawn(p, 20, 8), `Resume · this
directory · 200
sessions
  filter:
  refactor to…   7 h
▸ flaky test …  22 h
  a very long…   3 d
  Enter open · Esc`)
	press(p, "'16 te")
	equal(t, drawn(p, 60, 20), `Resume · this directory · 200 sessions  type to filter
  filter: 16 te   2 of 4
  refactor tokenizer               7 h   16 msg  … last: te…
▸ flaky test TestResume           22 h   16 msg  … last: ad…
  … older ones
  Enter open · Del delete · Tab all directories · Esc`)
	press(p, "'zz")
	equal(t, drawn(p, 60, 20), `Resume · this directory · 200 sessions  type to filter
  filter: 16 tezz   0 of 4
  nothing matches; Esc leaves
  … older ones
  Enter open · Del delete · Tab all directories · Esc`)
}

func TestTreeLooks(t *testing.T) {
	p := New(Options{Title: "Tree", Hook: "gate.lua", Initial: "b"}, tree())
	equal(t, drawn(p, 60, 20), `[gate.lua] Tree
  filter:
    user: first                  long enough to be cut wher…
▸   assistant: answer
    + user: another way  2 more
    user: this way
  Enter choose · ←/→ fold · Esc`)
	press(p, "down", "right", "up", "up")
	equal(t, drawn(p, 60, 20), `[gate.lua] Tree
  filter:
▸   user: first                  long enough to be cut wher…
    assistant: answer
    - user: another way
    - assistant: which was left
        user: deeper
    user: this way
  long enough to be cut where it does not fit, and then to
  be shown below the list
  Enter choose · ←/→ fold · Esc`)
	press(p, "end", "up", "left")
	equal(t, selected(p), "d")
	press(p, "left", "left")
	equal(t, selected(p), "c")
	press(p, "'deeper")
	equal(t, selected(p), "e") // also what is folded away
}

func TestSeveralChoices(t *testing.T) {
	rows := []Row{{ID: "a", Columns: []string{"one"}}, {ID: "b", Columns: []string{"two"}, Marked: true}, {ID: "c", Columns: []string{"three"}}}
	p := New(Options{Title: "Which?", Multi: true}, rows)
	press(p, "space", "down", "space", "space", "up")
	equal(t, drawn(p, 40, 20), `Which?
  filter:
▸ [x] one
  [x] two
  [ ] three
  Enter choose · Space mark · Esc`)
	p.options.Palette = Palette{On: true, With: func(_, text string) string { return text }}
	if got := drawn(p, 40, 20); !strings.Contains(got, "☑ two") || !strings.Contains(got, "☐ three") {
		t.Errorf("with colours:\n%s", got)
	}
	press(p, "'z", "enter")
	if ids, ok := p.Chosen(); !ok || !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("chosen: %v %v, want a and b although the filter hides them", ids, ok)
	}
	none := New(Options{Multi: true}, rows[:1])
	press(none, "enter")
	if ids, ok := none.Chosen(); !ok || len(ids) != 0 {
		t.Errorf("none marked: %v %v, want an empty answer", ids, ok)
	}
}

func TestPickerEnds(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		done bool
		want string // "" if nothing was chosen
	}{
		{"enter", []string{"enter"}, true, "1"},
		{"down", []string{"down", "down", "enter"}, true, "3"},
		{"up from the first", []string{"up", "enter"}, true, "more"},
		{"typed", []string{"'flaky", "enter"}, true, "2"},
		{"digits filter", []string{"'3", "enter"}, true, "3"},
		{"words in any order", []string{"'resume flaky", "enter"}, true, "2"},
		{"what is not shown", []string{"'lexer", "enter"}, true, "1"},
		{"nothing matches", []string{"'zzz", "enter"}, false, ""},
		{"a further row is meant", []string{"'zzz", "down", "enter"}, true, "more"},
		{"then a match", []string{"'zzz", "down", "backspace", "backspace", "backspace", "enter"}, true, "1"},
		{"esc", []string{"'x", "esc"}, true, ""},
		{"ctrl+c", []string{"ctrl+c"}, true, ""},
		{"ctrl+d", []string{"ctrl+d"}, true, ""},
		{"ctrl+d in a filter", []string{"'flaky", "ctrl+d", "enter"}, true, "2"},
		{"keys after the end", []string{"esc", "enter"}, true, ""},
		{"end and home", []string{"end", "home", "enter"}, true, "1"},
		{"ctrl+n", []string{"ctrl+n", "ctrl+n", "ctrl+p", "enter"}, true, "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := New(Options{Title: "?"}, sessions())
			press(p, tt.keys...)
			ids, ok := p.Chosen()
			if p.Done() != tt.done || ok != (tt.want != "") || strings.Join(ids, " ") != tt.want {
				t.Errorf("done %v, chosen %v %v", p.Done(), ids, ok)
			}
		})
	}
}

func TestPagesMoveByWhatIsSeen(t *testing.T) {
	p := New(Options{Title: "?"}, many(100))
	p.Render(40, 13) // title, filter, ten rows, legend
	press(p, "pagedown", "pagedown")
	equal(t, selected(p), "18")
	if got := drawn(p, 40, 13); !strings.Contains(got, "▸ row 18") || !strings.Contains(got, "filter:    100") || !strings.Contains(got, "PgUp/PgDn") {
		t.Errorf("after two pages:\n%s", got)
	}
	press(p, "pageup", "pageup", "pageup")
	equal(t, selected(p), "0")
	press(p, "pagedown", "end", "pagedown")
	equal(t, selected(p), "99")
}

func many(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{ID: fmt.Sprint(i), Columns: []string{fmt.Sprintf("row %d", i)}}
	}
	return rows
}

func TestNewRowsKeepFilterAndSelection(t *testing.T) {
	p := New(Options{Title: "?", Initial: "7"}, many(3))
	equal(t, selected(p), "0")
	p.SetRows(many(10))
	equal(t, selected(p), "7") // it was asked for and has come
	press(p, "down", "'row")
	p.SetRows(append([]Row{{ID: "new", Columns: []string{"row new"}}}, many(20)...))
	equal(t, selected(p), "8")
	equal(t, p.Filter(), "row")
	p.SetRows(append([]Row{{ID: "new", Columns: []string{"row new"}}}, slices.Concat(many(8), many(20)[9:])...))
	equal(t, selected(p), "9") // the one that took its place
	p.SetRows(nil)
	equal(t, selected(p), "")
	if got := drawn(p, 40, 10); !strings.Contains(got, "nothing matches") {
		t.Errorf("without rows:\n%s", got)
	}
}

func TestARowThatBeginsWithWhatIsTypedIsMeantBeforeOthers(t *testing.T) {
	rows := []Row{
		{ID: "rules", Columns: []string{"rules", "the model follows them"}},
		{ID: "modes", Columns: []string{"modes", "three ways to work"}},
		{ID: "models", Columns: []string{"models", "what there is"}},
	}
	for keys, want := range map[string]string{"'mod": "modes", "'models": "models", "'model f": "rules", "'x": "", "'ways": "modes"} {
		p := New(Options{Title: "?"}, rows)
		press(p, keys)
		equal(t, selected(p), want)
	}
	p := New(Options{Title: "?", Initial: "models"}, rows)
	press(p, "'mo")
	equal(t, selected(p), "models") // it begins so as well
	p = New(Options{Title: "?"}, rows)
	press(p, "'m", "up", "'o")
	equal(t, selected(p), "rules") // to which the user went
}

func TestActionsMayReplaceRows(t *testing.T) {
	rows := many(5)
	var p *Picker
	p = New(Options{Title: "?", Actions: []Action{{Key: "delete", Label: "delete", Do: func(row Row) {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.ID == row.ID })
		p.SetRows(rows)
	}}}}, rows)
	press(p, "'row", "down", "down", "delete", "delete")
	equal(t, selected(p), "4")
	equal(t, p.Filter(), "row")
	press(p, "delete", "delete", "delete", "delete")
	equal(t, selected(p), "")
}

func TestForeignTextIsHarmless(t *testing.T) {
	evil := "\x1b[2Jname\x07\u202e\nsecond\tline"
	p := New(Options{Title: "title " + evil, Right: evil, Hook: evil}, []Row{{ID: "1", Columns: []string{evil, evil}, Description: evil}})
	m := NewMenu(Palette{})
	m.SetItems([]MenuItem{{evil, evil}}, "n", 0)
	q := Question{Title: evil, Message: evil, Hook: evil}
	for _, one := range []panel{p, m, NewConfirm(q, true), NewInput(InputOptions{Question: q, Placeholder: evil, Text: evil})} {
		if got := drawn(one, 200, 40); strings.ContainsAny(got, "\x1b\x07\t\u202e") {
			t.Errorf("%T draws %q", one, got)
		}
	}
	if got := strings.Join(Numbered([]Row{{Columns: []string{evil}}}, nil), ""); strings.ContainsAny(got, "\x1b\x07\t\n\u202e") {
		t.Errorf("the list is %q", got)
	}
}

func TestNamesLoseTheirMiddle(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"anthropic/claude-opus-4-8", 16, "anthr…e-opus-4-8"},
		{"anthropic/claude-opus-4-8", 25, "anthropic/claude-opus-4-8"},
		{"the first prompt of a session", 16, "the first promp…"},
		{"anthropic/claude-opus-4-8", 7, "anthro…"},
		{"日本語日本語日本語", 9, "日…日本語"},
		{"日本語日本語日本語", 10, "日…日本語"},
		{"x", 0, "x"},
	}
	for _, tt := range tests {
		if got := shortened(tt.text, tt.width); got != tt.want || cells.Width(got) > max(tt.width, 1) {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestLayout(t *testing.T) {
	tests := []struct {
		needed []int
		width  int
		want   []int
	}{
		{[]int{20, 4, 6}, 80, []int{20, 4, 6}},
		{[]int{100, 4, 6, 18}, 80, []int{48, 4, 6, 16}},
		{[]int{100, 4, 6}, 30, []int{16, 4, 6}},
		{[]int{100, 4, 6}, 20, []int{14, 4}},
		{[]int{100, 40}, 10, []int{10}},
		{[]int{5, 0, 9}, 16, []int{5, 0, 9}},
		{[]int{5, 40}, 30, []int{5, 23}},
		{[]int{5}, 0, []int{1}},
		{[]int{0}, 10, []int{0}},
	}
	for _, tt := range tests {
		if got := layout(tt.needed, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%v in %d: %v, want %v", tt.needed, tt.width, got, tt.want)
		}
	}
}

// fits checks what holds for every panel in every window.
func fits(t *testing.T, p panel, width, height int) []string {
	t.Helper()
	rows, cursorRow, cursorColumn := p.Render(width, height)
	if len(rows) > height {
		t.Fatalf("%T has %d rows in %d×%d", p, len(rows), width, height)
	}
	if cursorRow >= len(rows) || cursorRow >= 0 && (cursorColumn < 0 || cursorColumn >= width) {
		t.Fatalf("%T: the cursor is at %d, %d in %d×%d of %d rows", p, cursorRow, cursorColumn, width, height, len(rows))
	}
	for _, row := range rows {
		if w := cells.Width(row); w > width {
			t.Fatalf("%T has a row of %d cells in %d×%d: %q", p, w, width, height, row)
		}
		if strings.ContainsAny(row, "\n\x1b\t") {
			t.Fatalf("%T without colours has the row %q", p, row)
		}
	}
	return rows
}

func TestEveryWindowHasQuestionAndSelectedRow(t *testing.T) {
	for width := 1; width <= 200; width++ {
		for height := 1 + width%4; height <= 40; height += 4 + width/20 {
			p := New(Options{Title: "Quo vadis, and why?", Right: "type to filter", Hook: "h", Multi: width%3 == 0}, append(tree(), sessions()...))
			press(p, "pagedown", "down")
			for _, filter := range []string{"", "e", "zzzz"} {
				p.SetFilter(filter)
				rows := fits(t, p, width, height)
				marks := 0
				for _, row := range rows {
					marks += strings.Count(row, "▸")
				}
				if want := 1; filter != "zzzz" && marks != want {
					t.Fatalf("%d selected rows in %d×%d:\n%s", marks, width, height, strings.Join(rows, "\n"))
				}
				if width >= 20 && height >= 2 && !strings.Contains(rows[0], "Quo") {
					t.Fatalf("no question in %d×%d:\n%s", width, height, strings.Join(rows, "\n"))
				}
				if i := slices.IndexFunc(rows, func(row string) bool { return strings.HasSuffix(row, " ") }); i >= 0 && len(rows[i]) >= width {
					t.Fatalf("row %d is padded in %d×%d: %q", i, width, height, rows[i])
				}
			}
		}
	}
}

func TestDialogsFitEveryWindow(t *testing.T) {
	q := Question{Title: "May it run 日本語?", Message: strings.Repeat("rm -rf /a/long/path and 日本語のテキスト\n", 7), Hook: "gate.lua"}
	for width := 1; width <= 200; width++ {
		for height := 1 + width%4; height <= 40; height += 4 + width/20 {
			c, i, m := NewConfirm(q, width%2 == 0), NewInput(InputOptions{Question: q, Placeholder: "a name", Text: "日本語 text"}), NewMenu(Palette{})
			m.SetItems([]MenuItem{{"日本語", "what it is"}, {"b", ""}, {"a very long label of an item", "d"}}, "b", width/2)
			for _, one := range []panel{c, i, m} {
				for _, key := range []string{"", "down", "pagedown", "down", "pageup"} {
					press(one, key)
					fits(t, one, width, height)
				}
			}
		}
	}
}

func FuzzPicker(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(8), []byte("abc\x01\x02"))
	f.Add(uint64(9), uint8(3), uint8(2), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	names := []string{"up", "down", "pageup", "pagedown", "home", "end", "left", "right", "backspace", "space", "tab", "ctrl+u", "rows", "fewer"}
	f.Fuzz(func(t *testing.T, seed uint64, width, height uint8, keys []byte) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := New(Options{Title: "Which?", Multi: seed%2 == 0, Initial: "3"}, randomRows(random))
		w, h := int(width)%200+1, int(height)%40+1
		for _, key := range keys {
			switch name := names[int(key)%len(names)]; {
			case key >= 'a' && key <= 'z':
				press(p, "'"+string(rune(key)))
			case name == "rows":
				p.SetRows(randomRows(random))
			case name == "fewer":
				p.SetRows(p.table.rows[:len(p.table.rows)/2])
			default:
				press(p, name)
			}
			fits(t, p, w, h)
			if row, ok := p.Selected(); ok && p.query != "" && !row.Further {
				i := slices.IndexFunc(p.table.rows, func(r Row) bool { return r.ID == row.ID })
				for _, word := range strings.Fields(strings.ToLower(p.query)) {
					if !strings.Contains(strings.ToLower(p.table.searched(i)), word) {
						t.Fatalf("%q is selected for %q", p.table.searched(i), p.query)
					}
				}
			}
		}
	})
}

func randomRows(random *rand.Rand) (rows []Row) {
	words := []string{"a", "session", "日本語", "👨‍👩‍👧‍👦", "e\u0301te\u0301", "x\x1b[31m", "", "12 kB", strings.Repeat("long ", 30)}
	for i := range random.IntN(30) {
		row := Row{ID: fmt.Sprint(i), Further: random.IntN(9) == 0, Dim: random.IntN(4) == 0}
		for range random.IntN(4) {
			row.Columns = append(row.Columns, words[random.IntN(len(words))])
		}
		if row.Description = words[random.IntN(len(words))]; i > 0 && random.IntN(3) == 0 {
			row.Depth, row.Parent = random.IntN(20), fmt.Sprint(random.IntN(i))
		}
		rows = append(rows, row)
	}
	return rows
}

func BenchmarkKeyIn10000Rows(b *testing.B) {
	rows := make([]Row, 10_000)
	for i := range rows {
		rows[i] = Row{ID: fmt.Sprint(i), Columns: []string{fmt.Sprintf("session %d about the tokenizer", i), "7 h", "16 msg", "… last: tests pass"},
			Search: strings.Repeat("what was asked before ", 10)}
	}
	p := New(Options{Title: "Resume"}, rows)
	p.Render(80, 24)
	keys := []string{"'t", "'o", "'k", "space", "'1", "backspace", "backspace", "ctrl+u"}
	for i := 0; b.Loop(); i++ {
		press(p, keys[i%len(keys)])
		p.Render(80, 24)
	}
}

func BenchmarkFirstDrawOf10000Rows(b *testing.B) {
	rows := many(10_000)
	for b.Loop() {
		New(Options{Title: "?"}, rows).Render(80, 24)
	}
}

func TestAPartOfAWordChoosesNothingWhereItHasToBeWhole(t *testing.T) {
	rows := []Row{{ID: "no", Columns: []string{"no"}}, {ID: "once", Columns: []string{"once"}}, {ID: "always", Columns: []string{"always"}}}
	for _, c := range []struct {
		keys []string
		want string // "": nothing is chosen
	}{
		{[]string{"enter"}, "no"},
		{[]string{"'y", "enter"}, ""},
		{[]string{"'a", "enter"}, ""},
		{[]string{"'alway", "enter"}, ""},
		{[]string{"'2", "enter"}, ""},
		{[]string{"space", "enter"}, ""},
		{[]string{"'always", "enter"}, "always"},
		{[]string{"'Once ", "enter"}, "once"},
		{[]string{"'y", "backspace", "enter"}, "no"},
		{[]string{"down", "enter"}, "once"},
		{[]string{"down", "'y", "enter"}, ""},
		{[]string{"'y", "down", "enter"}, "no"},
		{[]string{"'always", "up", "enter"}, "once"},
	} {
		p := New(Options{Title: "Run them?", Whole: true}, rows)
		press(p, c.keys...)
		ids, ok := p.Chosen()
		if got := strings.Join(ids, " "); got != c.want || ok != (c.want != "") {
			t.Errorf("%q chooses %q", c.keys, got)
		}
		if shown := drawn(p, 40, 10); strings.Count(shown, "once") != 1 && !strings.Contains(shown, "answer: once") {
			t.Errorf("%q filters:\n%s", c.keys, shown)
		}
	}
	p := New(Options{Title: "Run them?", Whole: true}, rows)
	press(p, "'y")
	equal(t, drawn(p, 70, 10), `Run them?
  answer: y
  nothing matches: a whole word, or the arrows; Esc leaves
  no
  once
  always
  Enter choose · Esc`)
}
