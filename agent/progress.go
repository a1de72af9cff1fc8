package agent

import (
	"context"
	"slices"
	"strings"
	"sync"

	"pi/internal/printable"
)

// Progress is what agents tell of their work that somebody waits for: line by line, the newest
// ones. All methods may be called from any goroutine; a nil *Progress drops all.
type Progress struct {
	show Update

	mu      sync.Mutex // guards what follows; not locked while show runs
	lines   []progressLine
	who     []string // told something, each once
	shown   int      // of the lines that were told, how many show has got
	told    int
	showing bool // a goroutine hands on what is told
	taken   bool // nothing more is shown: the tool tells of its progress itself
}

// progressLine is something that an agent has told.
type progressLine struct{ who, text string }

const (
	progressLines = 100 // are kept
	progressWidth = 200 // characters of a line
)

// NewProgress returns a Progress that hands all that it has to show with each new line.
func NewProgress(show Update) *Progress { return &Progress{show: show} }

// ProgressOf returns that of the call of a tool that runs with ctx: what agents tell that work
// for the tool shows as progress of the call, unless the tool tells of its own. nil: no tool
// runs with ctx, or nobody wants to know.
func ProgressOf(ctx context.Context) *Progress {
	if running, _ := ctx.Value(runsKey{}).(*approvedCall); running != nil {
		return running.progress
	}
	return nil
}

// Tell adds a line of the agent with that name. Of a text of several lines it is the first.
func (p *Progress) Tell(who, text string) {
	text = printable.FirstLine(text, progressWidth)
	if p == nil || text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.who, who) {
		p.who = append(p.who, who)
	}
	p.lines = append(p.lines, progressLine{who, text})
	if over := len(p.lines) - progressLines; over > 0 {
		p.lines = slices.Delete(p.lines, 0, over)
	}
	p.told++
	p.handOn()
}

// handOn shows what was told, in the order of that: who comes while another goroutine does it leaves
// it to that one. The caller has the lock, which is released meanwhile.
func (p *Progress) handOn() {
	if p.showing {
		return
	}
	p.showing = true
	defer func() { p.showing = false }()
	for p.shown < p.told && !p.taken {
		p.shown = p.told
		func(text string) {
			p.mu.Unlock()
			defer p.mu.Lock() // also if show crashes
			p.show(TextResult(text))
		}(p.text())
	}
}

// text is what there is to show: the lines, with the names of several agents. The caller has the
// lock.
func (p *Progress) text() string {
	var b strings.Builder
	for i, line := range p.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(p.who) > 1 {
			b.WriteString("[" + line.who + "] ")
		}
		b.WriteString(line.text)
	}
	return b.String()
}

// take shows what the tool itself tells of its progress, and from then on nothing else.
func (p *Progress) take(r Result) {
	p.mu.Lock()
	p.taken = true
	p.mu.Unlock()
	p.show(r)
}

// ChildUpdate tells front ends what an agent does that a hook uses otherwise than in a tool: all
// that there is to show of it, instead of the update before.
type ChildUpdate struct{ Name, Text string }

// Last is the newest line.
func (e *ChildUpdate) Last() string { return e.Text[strings.LastIndexByte(e.Text, '\n')+1:] }

// Kind is KindChildUpdate.
func (*ChildUpdate) Kind() Kind { return KindChildUpdate }
