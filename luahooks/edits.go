package luahooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// edits are the changes of hooks' files that a user has to approve. It opens and
// closes the window in which a change may be that of a tool, tells what waits, and
// asks. All methods may be called from any goroutine.
type edits struct {
	guard    *trust.Guard
	dir      workdir
	audience *audience
	behind   *background
	reload   func(ctx context.Context, force, sure bool)                // brings the chain in line with the files
	fetch    func(ctx context.Context, wants []trust.TeamPackage) error // nil: nobody can

	waiting atomic.Bool // somebody waits for the processes of tools
}

// open opens the window: from now until it is closed, tools are at work, and changes of the
// files of hooks count as theirs. parts are the files that the hooks of the chain consist
// of. If the window cannot be written to the store, that is told once: a program that starts
// after this one was killed would not know of it. With idle it is for processes that are started
// while no tool runs.
func (e *edits) open(ctx context.Context, places trust.Places, parts map[string]trust.Scope, idle bool) {
	err := e.guard.OpenWindow(places, parts, idle)
	e.tellNotices(ctx)
	if err != nil {
		e.audience.notifyOnce(ctx, "window", agent.LevelWarning, err.Error()+"; a change of a hook is noticed only while this program runs")
	}
}

// start opens the window that never closes, where every change is asked about, and
// continues one whose processes outlived the program before.
func (e *edits) start(ctx context.Context, places trust.Places, parts map[string]trust.Scope) {
	if e.guard.NeedsWindowAtStart() {
		e.open(ctx, places, parts, false)
		if !e.guard.EndRun() {
			e.waitForProcesses()
		}
	}
	e.guard.RemoveAbandonedWindows()
}

// close judges the changes of the window and closes it, until the next batch of tools.
func (e *edits) close(ctx context.Context) { e.tellClosed(ctx, e.guard.CloseWindow()) }

// endRun closes the window at the end of a run, and asks the user about changes that
// wait, because their notices are easily missed.
func (e *edits) endRun(ctx context.Context) {
	e.tellClosed(ctx, e.guard.EndRun())
	e.askUnasked(ctx)
}

// tellClosed says what closing a window showed. One that processes keep open is closed when
// they have ended.
func (e *edits) tellClosed(ctx context.Context, closed bool) {
	e.tellNotices(ctx)
	if !closed {
		e.waitForProcesses()
	}
}

// askUnasked asks the user, if there is one, about changes that began to wait in this
// run and still do.
func (e *edits) askUnasked(ctx context.Context) {
	if e.audience.user() == nil {
		return
	}
	if list := e.guard.TakeUnasked(); len(list) > 0 {
		e.ask(ctx, list)
	}
}

const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// waitForProcesses closes the window when the last process has ended. Nothing tells
// when a group is empty, so it is asked, at growing intervals.
func (e *edits) waitForProcesses() {
	if e.waiting.Swap(true) {
		return
	}
	began := e.behind.observe(func() {
		defer e.waiting.Store(false)
		timer := time.NewTimer(firstLook)
		defer timer.Stop()
		for pause := firstLook; ; pause = min(2*pause, lastLook) {
			looked, waits := e.guard.CloseIdleWindow()
			if looked {
				e.tellNotices(e.behind.life)
				e.askUnasked(e.behind.life)
			}
			if !waits {
				return
			}
			timer.Reset(pause)
			select {
			case <-e.behind.ending:
				return
			case <-timer.C:
			}
		}
	})
	if !began {
		e.waiting.Store(false)
	}
}

// tellNotices says what waits for the user, and if it cannot be written down; once of
// each folder that it has too much in it to be judged.
func (e *edits) tellNotices(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	n := e.guard.TakeNotices()
	if n.Unmarked != nil {
		e.audience.notifyOnce(ctx, "marks", agent.LevelWarning, n.Unmarked.Error()+"; what waits for approval is held back, but not marked")
	}
	for _, line := range n.Lines {
		e.audience.notify(ctx, agent.LevelWarning, line)
	}
	for _, p := range n.Began {
		e.audience.notify(ctx, agent.LevelWarning, fmt.Sprintf("%s was %s while the agent was at work: %s; %s shows the difference",
			printable.VisibleLine(e.dir.shown(p.Path)), p.Change, p.Effect(), e.approving(p)))
	}
	for _, dir := range n.Large {
		e.audience.notifyOnce(ctx, "large "+dir, agent.LevelWarning, fmt.Sprintf("%s has more than %d entries, too many to be watched: modules in it count only where a hook names them in its text",
			printable.VisibleLine(e.dir.shown(dir)), trust.MaxEntries))
	}
}

// elsewhere is where a user approves a change if the front end has none.
const elsewhere = "`pi trust` in a terminal"

// approving is what shows a change and approves it: a command, but where a program answers.
func (e *edits) approving(p *trust.Pending) string {
	if ui := e.audience.uiNow(); ui != nil && ui.HasUI() && !agent.HasUser(ui) {
		return elsewhere
	}
	return "/hooks approve " + printable.VisibleLine(p.Name)
}

// ask asks the user about changes that wait, all of them at once, and
// does not wait for the answer.
func (e *edits) ask(ctx context.Context, list []*trust.Pending) {
	ui := e.audience.user()
	if ui == nil {
		for _, p := range list {
			e.audience.notify(ctx, agent.LevelWarning, fmt.Sprintf("%s was %s and is not approved: %s; %s shows the difference",
				printable.VisibleLine(e.dir.shown(p.Path)), p.Change, p.Effect(), elsewhere))
		}
		return
	}
	var names []string
	var diffs strings.Builder
	verb := "Use"
	for _, p := range list {
		names = append(names, printable.VisibleLine(e.dir.shown(p.Path))+" was "+p.Change)
		diffs.WriteString(p.Diff)
		if !p.IsAgent() {
			verb = "Run"
		}
	}
	e.guard.NoteAsking(list, true)
	began := e.behind.run(func() {
		ctx, cancel := e.behind.detach(ctx)
		defer cancel()
		answer, err := ui.Confirm(ctx, strings.Join(names, ", ")+". "+verb+" it like this from now on?", diffs.String(), agent.DialogOptions{})
		e.guard.NoteAsking(list, false)
		if err == nil {
			e.apply(ctx, list, answer == agent.Yes)
		}
	})
	if !began {
		e.guard.NoteAsking(list, false)
	}
}

// accept puts in force what p describes. Packages that it names come first: until all of them are
// here, the version before stays in force.
func (e *edits) accept(ctx context.Context, p *trust.Pending) error {
	_, wants, err := e.guard.TeamIn(p)
	if err == nil {
		err = fetchAll(ctx, e.fetch, wants)
	}
	if err != nil {
		return fmt.Errorf("%s is not approved: %w", printable.VisibleLine(e.dir.shown(p.Path)), err)
	}
	return e.guard.AcceptExactly(p)
}

// apply carries out what the user answered about list.
func (e *edits) apply(ctx context.Context, list []*trust.Pending, yes bool) {
	for _, p := range list {
		if !yes {
			e.audience.notify(ctx, agent.LevelInfo, fmt.Sprintf("%s: %s; /hooks approve %s asks again", printable.VisibleLine(e.dir.shown(p.Path)), p.Effect(), printable.VisibleLine(p.Name)))
			continue
		}
		if err := e.accept(ctx, p); err != nil && !errors.Is(err, trust.ErrChangedAgain) {
			e.audience.notify(ctx, agent.LevelError, err.Error())
		}
	}
	// This asks again about what changed meanwhile. A file that is being saved at
	// this moment may be empty; only one that was shown so is sure to be.
	e.reload(ctx, false, slices.ContainsFunc(list, (*trust.Pending).TakesAway))
}
