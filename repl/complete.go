package repl

import (
	"os"
	"strings"
	"time"

	"pi/internal/cells"
	"pi/repl/completion"
	"pi/repl/terminal"
	"pi/repl/terminal/pick"
)

// Tab asks what the word before the cursor can become. The only thing that it can is
// taken at once; else a menu opens below the line, which what is typed makes shorter.

// completions asks for completions, and shows them. The lock of the screen guards it.
type completions struct {
	runner *completion.Runner // nil until it is first needed
	files  *completion.Files
	text   string // what was asked for
	cursor int
	taking bool // the only thing is to be taken
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

// complete asks for completions, because the person wants them.
func (k *keyboard) complete() { k.askCompletions(true) }

// completeSoon asks anew while the menu is open, because the word has changed. The caller
// has the lock.
func (k *keyboard) completeSoon() after {
	if _, ok := k.screen.line.overlay.(*menu); !ok {
		return nil
	}
	return func() { k.askCompletions(false) }
}

// askCompletions asks what the word before the cursor can become.
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
	if len(result.Items) == 0 {
		l.overlay = nil
		return
	}
	m, ok := l.overlay.(*menu)
	if !ok {
		if l.overlay != nil {
			return
		}
		m = &menu{Menu: pick.NewMenu(s.palette)}
		l.overlay = m
	}
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
// the line's.
func (l *line) menuKey(k terminal.Key) (used bool) {
	m, ok := l.overlay.(*menu)
	if !ok {
		return false
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
