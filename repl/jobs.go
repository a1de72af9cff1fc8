package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/printable"
)

// job is one thing to do between two prompts, or while the agent works: a line that was
// sent, or the action of a key.
type job struct {
	text     string
	draft    edit.Draft // the text as it was in the line, with what was typed of it; zero for a line of nobody
	followUp bool       // it waits for the end of the work
	later    bool       // what ran was interrupted before it or for it: it is for the time after the work
	at       time.Time  // when it was sent; zero for a line of nobody
	byKey    bool       // a key stands for the command: nothing was typed that could be shown
	inZone   bool       // what its command says is shown in the zone for a moment, not in the transcript
	literal  bool       // it is text, whatever it begins with
	read     *input     // what it was read as; nil: nobody has read it yet
	shown    []string   // its rows as they were typed, with tokens for what was pasted; nil: the text

	run   func(context.Context) (command.Outcome, error) // of a key; nil for a line
	doing string                                         // names what run does
}

// jobs are those that wait, in their order. Any goroutine may use them.
type jobs struct {
	ready chan struct{} // signalled when there is something to take, a buffer of one

	mu    sync.Mutex // guards the rest
	all   []job
	ended bool // no more will come
}

func newJobs() *jobs { return &jobs{ready: make(chan struct{}, 1)} }

// wake signals that there is something to do. It never waits: one signal is enough, so the
// channel has a buffer of one.
func wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// add appends a job.
func (j *jobs) add(x job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, x)
	wake(j.ready)
}

// putBack puts a job before the others.
func (j *jobs) putBack(x job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = slices.Insert(j.all, 0, x)
	wake(j.ready)
}

// end notes that the input has ended.
func (j *jobs) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	wake(j.ready)
}

// reopen takes back that the input has ended: the user wants to go on.
func (j *jobs) reopen() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = false
}

// take removes and returns the oldest job. ended is true when there is none and no more
// will come.
func (j *jobs) take() (x job, ok, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.all) == 0 {
		return job{}, false, j.ended
	}
	x, j.all = j.all[0], j.all[1:]
	if len(j.all) > 0 || j.ended {
		wake(j.ready)
	}
	return x, true, false
}

// takeLast removes and returns the newest line.
func (j *jobs) takeLast() (x job, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, x := range slices.Backward(j.all) {
		if x.run == nil {
			j.all = slices.Delete(j.all, i, i+1)
			return x, true
		}
	}
	return job{}, false
}

// takeLines removes and returns all lines that were for the work.
func (j *jobs) takeLines() (lines []job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = slices.DeleteFunc(j.all, func(x job) bool {
		if x.run != nil || x.later {
			return false
		}
		lines = append(lines, x)
		return true
	})
	return lines
}

// lines are the lines that wait, as rows of the queue.
func (j *jobs) lines() (rows []queuedRow) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, x := range j.all {
		if x.run == nil {
			rows = append(rows, queuedRow{when: "next", text: brief(x.text)})
		}
	}
	return rows
}

// brief is as much of a text as a row can show.
func brief(text string) string {
	const most = 1000 // bytes
	return printable.Line(text[:min(len(text), most)])
}

// inFewRows is a text of which, if it is long, only the beginning is there, with how much
// is not.
func inFewRows(text string) string {
	const most, beginning = 20, 3 // rows
	lines := strings.SplitN(text, "\n", most+1)
	if len(lines) <= most && len(text) <= most*200 {
		return text
	}
	for i, line := range lines[:min(beginning, len(lines))] {
		lines[i] = brief(line)
	}
	return strings.Join(lines[:min(beginning, len(lines))], "\n") +
		fmt.Sprintf("\n… %s, %s in all", printable.Count(1+strings.Count(text, "\n"), "line"), printable.Bytes(len(text)))
}

// queuedRow is a message that waits, and when it will be delivered.
type queuedRow struct {
	when, text string
	key        string // that takes it back; "" if none does
}

// queued are the messages that wait: those that the agent has, and those that nobody
// has looked at yet. The one that would be taken back says by which key.
func (k *keyboard) queued() (rows []queuedRow) {
	last, number := -1, 0
	if a, _ := k.attached(); a != nil {
		for i, w := range a.Inbox().Queued() {
			when := "after this tool"
			if w.Queue == agent.FollowUp {
				when = "at the end"
			}
			if w.Typed && w.Number > number {
				last, number = i, w.Number
			}
			rows = append(rows, queuedRow{when: when, text: brief(w.Text)})
		}
	}
	if lines := k.jobs.lines(); len(lines) > 0 {
		rows = append(rows, lines...)
		last = len(rows) - 1
	}
	if last >= 0 {
		rows[last].key = k.table.table.Label("take_back")
	}
	return rows
}

// showQueue has the rows of the queue drawn as they are now.
func (k *keyboard) showQueue() {
	rows := k.queued()
	k.screen.change(func() { k.screen.queue = rows })
}

// queueRowsShown is how many queued messages have a row of their own.
const queueRowsShown = 3

// queueRows are the rows of the messages that wait, the newest last. While the line has the
// keys, the one that can be taken back says so. The caller has the lock.
func (s *screen) queueRows(columns int) (rows []string) {
	inLine := s.panels.top() == nil && s.panels.component() == nil
	for _, q := range s.queue[max(0, len(s.queue)-queueRowsShown):] {
		row, how := "  ↳ "+q.when+": "+q.text, "  "+q.key+" takes it back"
		room := columns - cells.Width(how)
		if q.key == "" || !inLine || room < 20 {
			room, how = columns, ""
		}
		rows = append(rows, s.palette.Paint("dim", cells.Cut(row, room)+how))
	}
	return rows
}
