package repl

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/pick"
	"pi/internal/printable"
	"pi/repl/completion"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
)

// line is the text being typed, with what is open below it: the menu of completions or
// the search of the history. There is one at all times. The lock of the screen guards
// it.
type line struct {
	buffer      *edit.Buffer
	keys        keyTable
	history     *history.History
	walk        *history.Walk
	overlay     terminal.Panel // nil: none; it has the keys first
	completions completions
	placed      bool      // the text is one that the program put there; a slash that is typed takes its place
	refused     string    // the text, if it was refused as a command: another Enter sends it as a message
	warned      time.Time // when Ctrl+C in an empty line told how to quit

	before      string // plain mode: the lines so far of an input whose last one ended in a backslash
	given       string // plain mode: the text that the prompt began with, if a slash takes its place
	shownStatus string // plain mode: the status line that is shown already
}

// newLine is an empty line with the history of a file.
func newLine(keys keyTable, past *history.History) *line {
	return &line{buffer: edit.New(), keys: keys, history: past, walk: past.Walk()}
}

func (l *line) empty() bool { return l.buffer.Empty() }

func (l *line) text() string { return l.buffer.Text() }

// set replaces the text, which can be undone.
func (l *line) set(text string) {
	l.buffer.Set(text, -1)
	l.overlay, l.refused, l.placed = nil, "", false
}

// setTyped is set for a text that the user wrote elsewhere.
func (l *line) setTyped(text string) {
	l.buffer.SetTyped(text, -1)
	l.overlay, l.refused, l.placed = nil, "", false
}

// clear removes the text, which can be undone.
func (l *line) clear() {
	l.buffer.Clear()
	l.overlay, l.refused, l.placed = nil, "", false
}

// reset begins a new line: nothing of the old one can be undone.
func (l *line) reset() {
	l.buffer.Reset()
	l.overlay, l.refused, l.placed, l.completions.left = nil, "", false, 0
	l.walk = l.history.Walk()
}

// place puts lines that were sent and not done, or such as the program makes, as rows above
// what is typed. Where nothing is, a command may be meant next: a slash that is typed takes
// the place of the text, and undoing that brings it back.
func (l *line) place(lines ...job) {
	placed := l.empty() && len(lines) > 0
	for _, x := range slices.Backward(lines) {
		l.takeBack(x)
	}
	l.placed = placed
}

// placeText has the text be one of a hook, which gives way to a slash as others do, unless it
// ends in a blank: then it is there to be gone on with.
func (l *line) placeText(text string) {
	l.set(text)
	l.placed = text != "" && strings.TrimRight(text, " \t\n") == text
}

// takeBack puts a line that the user wants back as rows above what is typed.
func (l *line) takeBack(x job) {
	l.placed = false
	x.draft.Text = x.text
	l.buffer.Prepend(x.draft)
}

// beginRow makes a new row of a backslash that was typed at the end of the text, and reports
// whether there is one. A backslash before it makes it a character like others.
func (l *line) beginRow() bool {
	text, cursor := l.buffer.Plain()
	if _, more := joinLines("", text); !more || cursor < len(text) {
		return false
	}
	l.buffer.Replace(len(text)-1, len(text), "\n")
	return true
}

// token puts a text at the cursor that is shown under a label.
func (l *line) token(label, text string) { l.buffer.InsertToken("["+label+"]", text) }

// edit gives a key to the text: a paste, the action that it is bound to, or what it types.
func (l *line) edit(k terminal.Key, action string) {
	gives := l.placed && k.Text == "/" && action == "" && k.Name != "paste"
	l.placed = false
	switch {
	case gives:
		l.buffer.Restore(edit.Draft{Text: k.Text, Typed: []edit.Span{{To: len(k.Text)}}, Position: -1})
		l.overlay, l.refused = nil, ""
	case k.Name == "paste":
		l.buffer.Paste(k.Text)
	case action == "up":
		l.walk.Up(l.buffer)
	case action == "down":
		l.walk.Down(l.buffer)
	case action != "":
		l.buffer.Do(action)
	case k.Text != "":
		l.buffer.Insert(k.Text)
	}
	if l.empty() {
		l.refused = ""
	}
}

// overlayKey gives a key to the menu or the search. It reports false if none is open, or
// the key closed it.
func (l *line) overlayKey(k terminal.Key, works bool) bool {
	if _, ok := l.overlay.(*menu); ok || l.overlay == nil {
		return l.menuKey(k, works)
	}
	o := l.overlay
	used := o.Key(k)
	if (!used || o.Done()) && l.overlay == o {
		l.overlay = nil
	}
	return used
}

// render draws the line: at most most rows of the text, and below it the overlay, all in
// at most limit rows. It returns where the cursor is.
func (l *line) render(columns, limit, most int, sign string) (rows []string, row, column int) {
	rest := strings.Repeat(" ", cells.Width(sign))
	v := l.buffer.Window(columns, max(1, min(limit, most)), sign, rest)
	rows = markCut(v.Rows, v.Above > 0, v.Below > 0)
	row, column = v.Row, v.Column
	if l.overlay != nil && limit > len(rows) {
		below, at, cell := l.overlay.Render(columns, limit-len(rows))
		if at >= 0 {
			row, column = len(rows)+at, cell
		}
		rows = append(rows[:len(rows):len(rows)], below...)
	}
	return rows, row, column
}

// markCut marks the rows between which and the ends of the text there are more: what Enter
// sends is not only what is seen.
func markCut(rows []string, above, below bool) []string {
	mark := func(i int, sign string) {
		if rest, ok := strings.CutPrefix(rows[i], " "); ok {
			rows[i] = sign + rest
		}
	}
	last := len(rows) - 1
	switch {
	case above && below && last == 0:
		mark(0, "↕")
	case above:
		mark(0, "↑")
	}
	if below && last > 0 {
		mark(last, "↓")
	}
	return rows
}

// record keeps a line that was sent, so that it can be called up again.
func (l *line) record(d edit.Draft) error { return l.history.Add(d) }

// search is the list below the line in which an entry of the history is looked for.
type search struct {
	palette terminal.Palette
	entries *history.Search
	field   edit.Field
	found   []int
	at      int // the selected one of found
	from    int // the first of found that is drawn
	done    bool
	choose  func(history.Entry)
}

// searchRows is how many entries are shown at once.
const searchRows = 8

func newSearch(l *line, p terminal.Palette) *search {
	s := &search{palette: p, entries: l.history.Search()}
	s.choose = func(e history.Entry) { l.walk.Show(e, l.buffer) }
	s.found = s.entries.Find("")
	return s
}

// Key gives the search a key: it has all of them.
func (s *search) Key(k terminal.Key) (used bool) {
	switch k.Name {
	case "up", "ctrl+p":
		s.at = max(0, s.at-1)
	case "down", "ctrl+n", "ctrl+r":
		s.at = min(max(0, len(s.found)-1), s.at+1)
	case "pageup":
		s.at = max(0, s.at-searchRows)
	case "pagedown":
		s.at = min(max(0, len(s.found)-1), s.at+searchRows)
	default:
		s.typed(k)
	}
	return true
}

// typed gives a key to the text that is searched for.
func (s *search) typed(k terminal.Key) {
	switch s.field.Key(k.Name, k.Text) {
	case edit.Submitted:
		s.done = true
		if s.at < len(s.found) {
			s.choose(s.entries.Entry(s.found[s.at]))
		}
	case edit.Cancelled:
		s.done = true
	case edit.Used:
		s.found, s.at, s.from = s.entries.Find(s.field.Text()), 0, 0
	}
}

// Done reports whether an entry was chosen, or the search given up.
func (s *search) Done() bool { return s.done }

// inRow is an entry as one row: in place of a long text, and of what was pasted, stands
// how much it is.
func inRow(d edit.Draft) string {
	const most = 400 // bytes; no row is longer
	if len(d.Tokens) == 0 && len(d.Text) > most {
		d.Tokens = []edit.Span{{From: 0, To: len(d.Text)}}
	}
	var row strings.Builder
	at := 0
	for _, t := range d.Tokens {
		label := t.Label
		if label == "" {
			text := d.Text[t.From:t.To]
			label = fmt.Sprintf("[paste: %s, %s] %s", printable.Count(1+strings.Count(text, "\n"), "line"), printable.Bytes(len(text)), printable.FirstLine(text, 40))
		}
		row.WriteString(d.Text[at:t.From] + label)
		at = t.To
		if row.Len() > most {
			return printable.Line(row.String()[:most])
		}
	}
	row.WriteString(d.Text[at:min(len(d.Text), at+most)])
	return printable.Line(row.String())
}

// Render draws the text that is searched for, and below it the entries that have it.
func (s *search) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	sign := "search: "
	if width < 2*len(sign) {
		sign = ""
	}
	text, column := s.field.Render(max(1, width-len(sign)))
	count := fmt.Sprintf("  %d of %d", len(s.found), s.entries.Len())
	row := sign + text
	if cells.Width(row)+len(count) <= width {
		row += s.palette.Paint("dim", count)
	}
	rows = []string{row}
	shown := min(searchRows, height-1)
	s.from = min(s.from, s.at)
	s.from = max(s.from, s.at-shown+1)
	for i := s.from; i < len(s.found) && len(rows) <= shown; i++ {
		entry := inRow(s.entries.Entry(s.found[i]).Draft)
		if i == s.at {
			rows = append(rows, s.palette.Paint("accent", cells.Cut("▸ "+entry, width)))
			continue
		}
		rows = append(rows, cells.Cut("  "+entry, width))
	}
	return rows, 0, len(sign) + column
}

// Tab asks what the word before the cursor can become. The only thing that it can is
// taken at once; else a menu opens below the line, which what is typed makes shorter. For a
// word that begins with a slash or @ it opens by itself a moment after a key: it is idle
// then, and all keys do what they did before, but Tab, which goes into it.

// completions asks for completions, and shows them. The lock of the screen guards it.
type completions struct {
	runner *completion.Runner // nil until it is first needed
	files  *completion.Files
	text   string // what was asked for
	cursor int
	taking bool        // Tab wants to choose: the only thing is to be taken
	later  *time.Timer // of the menu that opens by itself; nil: it was never to
	left   int         // 1 + where the word begins whose menu was left; 0: none was
}

// menu is the menu of completions below the line.
type menu struct {
	*pick.Menu
	result completion.Result
}

// completionPatience is how long a key waits for completions. Those that take longer are
// shown when they come.
const completionPatience = 10 * time.Millisecond

// menuWait is how long no key comes before a menu opens by itself.
const menuWait = 150 * time.Millisecond

// completeSoon asks anew while the menu is open, because the word has changed, or has it
// open by itself in a moment, if that was typed. The caller has the lock.
func (k *keyboard) completeSoon(x terminal.Key, m meaning) after {
	l := k.screen.line
	c := &l.completions
	word := l.listedWord()
	if word+1 != c.left {
		c.left = 0
	}
	if open, ok := l.overlay.(*menu); ok {
		if open.IsIdle() && (word < 0 || m.action == "up" || m.action == "down") {
			l.overlay = nil
			return nil
		}
		return func() { k.askCompletions(false) }
	}
	typed := x.Name != "paste" && (m.action == "" || m.action == "backspace")
	if k.screen.menuWith != "tab" && typed && word >= 0 && c.left == 0 && l.overlay == nil {
		text, cursor := l.buffer.Plain()
		c.later = time.AfterFunc(menuWait, func() { k.completeIfStill(text, cursor) })
	}
	return nil
}

// completeIfStill has the menu open by itself, if the line is as it was and has the keys.
func (k *keyboard) completeIfStill(text string, cursor int) {
	s := k.screen
	s.mu.Lock()
	now, at := s.line.buffer.Plain()
	still := now == text && at == cursor && s.line.overlay == nil && s.panels.top() == nil && s.panels.component() == nil && !s.closed
	s.mu.Unlock()
	if still {
		k.askCompletions(false)
	}
}

// listedWord is where the word before the cursor begins, if it is one whose menu opens by
// itself: what may be the name of a command, or a path behind @; else -1.
func (l *line) listedWord() int {
	text, cursor := l.buffer.Plain()
	before := text[:cursor]
	at := strings.LastIndexAny(before, " \t\n"+string(edit.TokenRune)) + 1
	for at < len(before) && !utf8.RuneStart(before[at]) {
		at++ // behind a token
	}
	switch word := before[at:]; {
	case strings.HasPrefix(text, "!"):
	case strings.HasPrefix(word, "@"), at == 0 && strings.HasPrefix(word, "/"):
		return at
	}
	return -1
}

// askCompletions asks what the word before the cursor can become; taking says that the
// user wants to know.
func (k *keyboard) askCompletions(taking bool) {
	s := k.screen
	s.mu.Lock()
	c := &s.line.completions
	if c.runner == nil {
		if k.agent == nil {
			s.mu.Unlock()
			return
		}
		home, _ := os.UserHomeDir()
		cwd := k.agent.Cwd()
		c.files = completion.NewFiles(cwd)
		c.runner = completion.NewRunner(&completion.Completer{
			Commands: k.commands.All, Files: c.files, Programs: completion.NewPrograms(os.Getenv("PATH")),
			Sources: k.opts.Completions, Cwd: cwd, Home: home,
		}, func(result completion.Result) {
			s.key(func() { k.showCompletions(result) })
		})
	}
	c.text, c.cursor = s.line.buffer.Plain()
	c.taking = taking
	runner, text, cursor := c.runner, c.text, c.cursor
	s.mu.Unlock()
	if result, ready := runner.Ask(text, cursor, completionPatience); ready {
		s.key(func() { k.showCompletions(result) })
	}
}

// showCompletions takes the only completion, or shows all in the menu. The caller has the
// lock.
func (k *keyboard) showCompletions(result completion.Result) {
	s, l := k.screen, k.screen.line
	c := &l.completions
	if text, cursor := l.buffer.Plain(); text != c.text || cursor != c.cursor {
		return // the user typed on
	}
	if only, ok := result.Only(); ok && c.taking {
		l.takeCompletion(result, only)
		return
	}
	m, ok := l.overlay.(*menu)
	if !ok && l.overlay != nil {
		return
	}
	idle := !c.taking && (!ok || m.IsIdle())
	only, isOnly := result.Only()
	if len(result.Items) == 0 || idle && isOnly && only.Value == c.text[result.Start:result.End] {
		l.overlay = nil
		return
	}
	if !ok {
		m = &menu{Menu: pick.NewMenu(inks(s.palette))}
		l.overlay = m
	}
	m.SetIdle(idle)
	m.result = result
	items := make([]pick.MenuItem, len(result.Items))
	for i, x := range result.Items {
		items[i] = pick.MenuItem{Label: x.Text(), Description: x.Description}
	}
	before := c.text[:result.Start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	m.SetItems(items, result.Typed, (cells.Width(s.lineSign())+cells.Width(before))%max(1, s.columns))
}

// takeCompletion puts a completion in the place of the word.
func (l *line) takeCompletion(result completion.Result, item completion.Item) {
	text, _ := l.buffer.Plain()
	behind := item.Append
	if strings.HasPrefix(text[result.End:], " ") {
		behind = ""
	}
	l.buffer.Replace(result.Start, result.End, item.Value+behind)
	l.overlay = nil
}

// menuKey gives a key to the menu, if it is open. The menu stays open for keys that are
// the line's. Esc takes an idle one away, and while the agent works interrupts that, too.
func (l *line) menuKey(k terminal.Key, works bool) (used bool) {
	m, ok := l.overlay.(*menu)
	if !ok {
		return false
	}
	if m.IsIdle() && l.keys.table.Action(k.Name) == "interrupt" {
		l.overlay, l.completions.left = nil, l.listedWord()+1
		return !works
	}
	used = m.Key(k)
	if m.Done() {
		l.overlay = nil
	}
	if item, taken := m.Taken(); taken {
		l.takeCompletion(m.result, m.result.Items[item])
	}
	return used
}
