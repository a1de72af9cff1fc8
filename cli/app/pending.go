package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// UntrustedError ends a run that was not to go on without its hooks.
type UntrustedError struct{ Text string }

func (e *UntrustedError) Error() string { return e.Text }

// Hint is the next step.
func (e *UntrustedError) Hint() string {
	return "`pi trust` shows them and asks; `pi trust --yes` approves what it lists"
}

// approvePending asks the user about each changed file that waits for approval and
// concerns this run. settings reports whether the configuration may be another one now.
// Without a user the run is refused, for no program may decide which version counts.
func (r *run) approvePending(ctx context.Context) (settings bool, err error) {
	p, later := r.place, &r.later
	waiting := p.Waiting(false)
	if !p.Attended() { // a package that is not as it was approved shuts the tools
		waiting = slices.DeleteFunc(waiting, func(w trust.Pending) bool { return w.Unmarked })
	}
	if len(waiting) == 0 {
		return false, nil
	}
	if !p.Attended() {
		var names []string
		for _, w := range waiting {
			names = append(names, printable.VisibleLine(config.Tilde(w.Path))+" was "+w.Change)
		}
		return false, &UntrustedError{Text: "not run: changed while the agent was at work and not approved: " + strings.Join(names, ", ")}
	}
	for _, w := range waiting {
		if !r.startUser().AskPending(ctx, w) {
			continue
		}
		if err := p.Accept(ctx, w, r.tellNow); err != nil {
			later.warn(err.Error())
		}
		settings = settings || w.Kind == "settings" || w.Change == "lost"
	}
	if err := p.Guard.Damaged(); err != nil {
		return false, &UntrustedError{Text: "not run: " + err.Error()}
	}
	return settings, ctx.Err()
}

// Waiting lists the files that wait for approval and concern a run here with these
// options; with commandLine, those too that concern only runs with hooks of the command
// line.
func (p *Place) Waiting(commandLine bool) []trust.Pending {
	waiting, places := []trust.Pending{}, p.Places()
	p.Guard.CheckPackages(places)
	for _, w := range p.Guard.ShowPending() {
		if w.Concerns(places) || commandLine && w.Scope == trust.ScopeCommand {
			waiting = append(waiting, w)
		}
	}
	return waiting
}

// reportSkipped leaves a warning about hooks of the project that do not run because they
// are not approved, unless the user has decided so. With --require-hooks it is an error,
// which ends the run.
func (p *Place) reportSkipped(skipped []trust.Source, later *messages) error {
	if len(skipped) == 0 {
		return nil
	}
	var names []string
	for _, s := range skipped {
		names = append(names, s.Name)
	}
	text := fmt.Sprintf("%s of this project not run: %s", printable.Count(len(skipped), "hook"), printable.VisibleLine(strings.Join(names, ", ")))
	if p.Hooks.Require {
		return &UntrustedError{Text: text}
	}
	if !p.Hooks.NoApprove && !p.Guard.Store().IsRefused(p.Cwd) {
		later.warn(text + "; `pi trust` shows and approves them, --approve runs them this once")
	}
	return nil
}
