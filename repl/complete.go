package repl

import (
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/repl/completion"
	"pi/repl/terminal"
	"pi/repl/terminal/pick"
)

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

// newRunner returns what asks for completions in a project with these files.
func (k *keyboard) newRunner(files *completion.Files) *completion.Runner {
	home, _ := os.UserHomeDir()
	cwd := k.agent.Cwd()
	return completion.NewRunner(&completion.Completer{
		Commands: k.commands.All, Files: files, Programs: completion.NewPrograms(os.Getenv("PATH")),
		Sources: k.opts.Completions, Cwd: cwd, Home: home,
	}, func(result completion.Result) {
		k.screen.key(func() { k.showCompletions(result) })
	})
}

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
// person wants to know.
func (k *keyboard) askCompletions(taking bool) {
	s := k.screen
	s.mu.Lock()
	c := &s.line.completions
	if c.runner == nil {
		if k.agent == nil {
			s.mu.Unlock()
			return
		}
		c.files = completion.NewFiles(k.agent.Cwd())
		c.runner = k.newRunner(c.files)
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
		return // the person typed on
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
		m = &menu{Menu: pick.NewMenu(s.palette)}
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
