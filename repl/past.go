package repl

import (
	"pi/internal/edit"
	"pi/repl/terminal"
)

// past is what was typed before, and where in it the line is.
type past struct {
	file    *terminal.History
	entries []edit.Draft
	at      int // of the entry that is recalled, counted from the end; 0: none
	typed   edit.Draft
}

// older recalls the entry before the one that is in the line.
func (p *past) older(b *edit.Buffer) {
	if p.at >= len(p.entries) {
		return
	}
	if p.at == 0 {
		p.typed = b.Save()
	}
	p.at++
	b.Recall(p.entries[len(p.entries)-p.at])
}

// newer recalls the entry behind the one that is in the line, or what was typed.
func (p *past) newer(b *edit.Buffer) {
	switch p.at {
	case 0:
		return
	case 1:
		b.Restore(p.typed)
	default:
		b.Recall(p.entries[len(p.entries)-p.at+1])
	}
	p.at--
}

func (p *past) leave() { p.at = 0 }

// record keeps a line.
func (l *line) record(text string) error {
	l.past.entries = append(l.past.entries, edit.Draft{Text: text})
	return l.past.file.Add(text)
}

func (r *REPL) newLine() (*line, []string) {
	l := &line{buffer: edit.New(), keys: r.keys}
	l.past.file = terminal.NewHistory(r.opts.History)
	entries, err := l.past.file.Load()
	var problems []string
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, e := range entries {
		l.past.entries = append(l.past.entries, edit.Draft{Text: e})
	}
	return l, problems
}
