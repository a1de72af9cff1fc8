package command

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/session/folder"
)

// The keys of the list of sessions besides Enter.
const (
	keyDelete = "delete"
	keyScope  = "tab"
)

// sessionList is the list of sessions in a terminal with arrows. It is open at once, and
// filled by a goroutine as the sessions are read.
type sessionList struct {
	resumer
	ctx   context.Context // dialogs in it stand above the list
	panel List

	readers sync.WaitGroup
	mu      sync.Mutex      // guards the rest
	told    map[string]bool // warnings
	reading int             // which reading counts; it ends as soon as another begins
	all     bool            // the sessions of all directories
	infos   []folder.Info
	rows    []Row
	ended   bool // all are read
}

// pick shows the list of sessions until the user opens one or leaves the list.
func (r resumer) pick(ctx context.Context) (Outcome, error) {
	p := &sessionList{resumer: r, told: map[string]bool{}}
	p.ctx, p.panel = OpenList(ctx, r.UI, p.view())
	if p.panel == nil {
		return r.pickInLines(ctx)
	}
	defer p.close()
	p.begin(false)
	for {
		switch x, err := p.panel.Next(); {
		case err != nil:
			return Outcome{}, err
		case x.Key == "":
			return p.nothingOpened(), nil
		case x.Key == "enter":
			p.close()
			return r.open(ctx, x.Row)
		case x.Key == keyScope:
			p.begin(!p.all)
		case x.Row != "":
			p.remove(x.Row)
		}
	}
}

// nothingOpened is what the user is told when they leave the list.
func (p *sessionList) nothingOpened() Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended && !p.all && len(p.infos) == 0 {
		return Outcome{Status: nothingToResume}
	}
	return p.stays()
}

// close takes the list away and waits until nothing is read any more.
func (p *sessionList) close() {
	p.panel.Close()
	p.mu.Lock()
	p.reading++
	p.mu.Unlock()
	p.readers.Wait()
}

// begin reads the list anew: the sessions of this directory, or with all of every one.
func (p *sessionList) begin(all bool) {
	p.mu.Lock()
	p.all, p.infos, p.rows, p.ended = all, nil, nil, false
	p.reading++
	reading := p.reading
	p.mu.Unlock()
	p.show()
	p.readers.Go(func() { p.read(reading, all) })
}

// scan yields the other sessions with the words that they are found by.
func (p *sessionList) scan(all bool) iter.Seq2[folder.Info, error] {
	return p.except(func() iter.Seq2[folder.Info, error] {
		if p.store.ScanWords == nil {
			return p.store.Scan(all)
		}
		return p.store.ScanWords(all)
	})
}

// firstShown is after how much reading the list is shown for the first time; then it is
// shown again when it took ten times as long as showing it.
const firstShown = 40 * time.Millisecond

// read fills the list until all sessions are read or another reading has begun.
func (p *sessionList) read(reading int, all bool) {
	due, now := time.Now().Add(firstShown), time.Now()
	for info, err := range p.scan(all) {
		if err != nil {
			p.warn(err)
		} else if !p.add(reading, info, now) {
			return
		}
		if began := time.Now(); began.After(due) {
			p.show()
			due = time.Now().Add(max(2*firstShown, 10*time.Since(began)))
		}
	}
	p.mu.Lock()
	ended := reading == p.reading
	p.ended = p.ended || ended
	p.mu.Unlock()
	if ended {
		p.show()
	}
}

// warn tells of a session that cannot be read, once.
func (p *sessionList) warn(err error) {
	p.mu.Lock()
	again := p.told[err.Error()]
	p.told[err.Error()] = true
	p.mu.Unlock()
	if !again {
		p.UI.Notify(err.Error(), agent.LevelWarning)
	}
}

// add adds a session that was read. It reports false if the reading counts no more.
func (p *sessionList) add(reading int, info folder.Info, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reading != p.reading {
		return false
	}
	p.infos = append(p.infos, info)
	p.rows = append(p.rows, sessionRow(info, now, p.all))
	return true
}

// sessionRow is a session in the list. where adds the directory in which it was started.
func sessionRow(i folder.Info, now time.Time, where bool) Row {
	columns := []string{Title(i), shortAge(i.Modified, now), fmt.Sprintf("%d msg", i.Messages), ShortBranch(i)}
	if where {
		columns = append(columns, i.Cwd)
	}
	last := ""
	if i.Words.Last != "" {
		last = "… last: " + printable.FirstLine(i.Words.Last, 2*titleLength)
	}
	search := strings.Join([]string{i.Name, i.FirstPrompt, i.Words.Prompts, i.Words.Labels, i.Words.Last, i.Branch, i.ID}, "\n")
	return Row{ID: i.Path, Columns: append(columns, last), Search: search}
}

// view is the list as it is now.
func (p *sessionList) view() ListView {
	p.mu.Lock()
	defer p.mu.Unlock()
	scope, other := "this directory", "all directories"
	if p.all {
		scope, other = other, scope
	}
	count := printable.Count(len(p.infos), "session")
	if !p.ended {
		count += " so far"
	}
	return ListView{Title: "Resume · " + scope + " · " + count, Right: "type to filter", Enter: "open",
		Keys: []ListKey{{keyDelete, "delete"}, {keyScope, other}}, Rows: slices.Clip(p.rows)}
}

// show shows the list as it is now.
func (p *sessionList) show() { p.panel.Show(p.view()) }

// remove deletes the session at path after a question. A failure is shown.
func (p *sessionList) remove(path string) {
	p.mu.Lock()
	i := p.find(path)
	if i < 0 {
		p.mu.Unlock()
		return
	}
	info := p.infos[i]
	p.mu.Unlock()
	out, gone, err := p.removeInfo(p.ctx, info)
	switch {
	case p.ctx.Err() != nil:
	case err != nil:
		p.UI.Notify(err.Error(), agent.LevelError)
	default:
		p.UI.Notify(out.Status, agent.LevelInfo)
	}
	if !gone {
		return
	}
	p.mu.Lock()
	if i := p.find(path); i >= 0 {
		p.infos = slices.Concat(p.infos[:i], p.infos[i+1:])
		p.rows = slices.Concat(p.rows[:i], p.rows[i+1:])
	}
	p.mu.Unlock()
	p.show()
}

// find returns the position of the session at path; -1: there is none. The caller has the
// lock.
func (p *sessionList) find(path string) int {
	return slices.IndexFunc(p.infos, func(i folder.Info) bool { return i.Path == path })
}
