package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks"
	"pi/luahooks/trust"
)

// hookCommands are the slash commands about hooks. ui is who approves.
func (r *run) hookCommands(ui agent.UI) []command.Command {
	return []command.Command{
		{
			Name: "hooks", Args: "[reload|log|trace|enable|disable|approve] [name]",
			Help:     "list the hooks with their state, or do something about one",
			Complete: r.completeHooks,
			Run: func(ctx context.Context, args string) (command.Outcome, error) {
				status, err := r.hooksCommand(ctx, ui, args)
				return command.Outcome{Status: status}, err
			},
		},
		{Name: "reload", Help: "load all hooks anew", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
			return command.Outcome{Status: r.reloadHooks(ctx)}, nil
		}},
	}
}

func hookActions() []string {
	return []string{"reload", "log", "trace", "enable", "disable", "approve"}
}

// completeHooks completes what follows /hooks: an action, then a hook.
func (r *run) completeHooks(prefix string) []string {
	action, name, second := strings.Cut(prefix, " ")
	var words []string
	if !second {
		words = hookActions()
	} else {
		for _, h := range r.chain.Hooks() {
			words = append(words, action+" "+h.Name)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, strings.TrimRight(action+" "+name, " "))
	})
}

// hooksCommand is /hooks with what follows it.
func (r *run) hooksCommand(ctx context.Context, ui agent.UI, args string) (string, error) {
	action, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	if name == "" && slices.Contains([]string{"trace", "enable", "disable"}, action) {
		return "", fmt.Errorf("/hooks %s wants the name of a hook; /hooks lists them", action)
	}
	switch action {
	case "":
		return r.describeHooks(), nil
	case "reload":
		return r.reloadHooks(ctx), nil
	case "log":
		return r.hookLog(name)
	case "trace":
		return r.traceHook(name)
	case "enable":
		return "hook " + name + " is enabled", r.chain.SetEnabled(ctx, name, true)
	case "disable":
		return "hook " + name + " is disabled until you enable it or pi ends", r.chain.SetEnabled(ctx, name, false)
	case "approve":
		return r.approveHook(ctx, ui, name)
	}
	return "", fmt.Errorf("/hooks %s: the words are %s", action, strings.Join(hookActions(), ", "))
}

func (r *run) reloadHooks(ctx context.Context) string {
	r.chain.Reload(ctx, true)
	return "reloaded: " + r.chain.Summary()
}

// traceHook turns the telling of a hook's events on; "NAME off" turns it off.
func (r *run) traceHook(name string) (string, error) {
	name, off := strings.CutSuffix(name, " off")
	if err := r.chain.Trace(name, !off); err != nil {
		return "", err
	}
	if off {
		return "hook " + name + " is not traced any more", nil
	}
	return "hook " + name + " is traced: each event it handles is told here and in the log; /hooks trace " + name + " off ends it", nil
}

const (
	logShown = 20       // lines of /hooks log
	logRead  = 64 << 10 // bytes of its end that are looked at
)

// hookLog is the end of the hook log; with a name, of the lines of that hook.
func (r *run) hookLog(name string) (string, error) {
	path := r.hookLogPath()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "the hook log is empty", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the hook log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the hook log: %w", err)
	}
	tail := make([]byte, min(info.Size(), logRead))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return "", fmt.Errorf("read the hook log: %w", err)
	}
	lines := logLines(string(tail), name)
	if len(lines) == 0 {
		return "the hook log has nothing of " + name, nil
	}
	return strings.Join(append(lines, "("+config.Tilde(path)+")"), "\n"), nil
}

// logLines are the last lines of the log that are a hook's; "" is any.
func logLines(text, name string) (lines []string) {
	mine := name == ""
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "    ") && name != "" {
			_, rest, _ := strings.Cut(line, " ")
			mine = strings.HasPrefix(rest, name+": ")
		}
		if mine {
			lines = append(lines, printable.VisibleLine(strings.ReplaceAll(line, "\t", "  ")))
		}
	}
	return lines[max(0, len(lines)-logShown):]
}

func (p *Place) hookLogPath() string { return filepath.Join(p.AgentDir, "hooks.log") }

// approveHook shows the difference of what waits and asks a person; a program
// that hands in prompts is none.
func (r *run) approveHook(ctx context.Context, ui agent.UI, name string) (string, error) {
	waiting := r.chain.Pending()
	if len(waiting) == 0 {
		return "nothing waits for approval", nil
	}
	i := 0
	if name != "" || len(waiting) > 1 {
		i = slices.IndexFunc(waiting, func(p trust.Pending) bool { return p.Name == name || p.Path == name })
	}
	if i < 0 {
		return "", fmt.Errorf("/hooks approve wants one of: %s", strings.Join(pendingNames(waiting), ", "))
	}
	if !ui.HasUI() {
		return "", errors.New("a person has to approve: run `pi trust` in a terminal, or `pi hooks approve NAME` after looking at it")
	}
	p := waiting[i]
	yes, err := ui.Confirm(ctx, "Approve "+printable.VisibleLine(p.Name)+"?", DescribePending(p), agent.DialogOptions{})
	if err != nil || !yes {
		return "not approved", err
	}
	return "approved: " + p.Name, r.chain.ApproveShown(ctx, p)
}

func pendingNames(waiting []trust.Pending) (names []string) {
	for _, p := range waiting {
		names = append(names, printable.VisibleLine(p.Name))
	}
	return names
}

// describeHooks is the chain: what each hook is, and below it what it does, how
// long that takes, and what went wrong last.
func (r *run) describeHooks() string {
	var b strings.Builder
	waiting := r.chain.Pending()
	for i, h := range r.chain.Hooks() {
		fmt.Fprintf(&b, "%2d  %-9s %-12s %s\n", i+1, hookState(h, waiting), h.Scope, printable.VisibleLine(config.Tilde(h.Path)))
		detail(&b, strings.Trim(Registered(h)+" · "+hookTimes(h), " ·"))
		if h.Rejected != "" {
			detail(&b, "what was saved last did not load, the version before runs: "+printable.VisibleLine(h.Rejected))
		}
		if h.LastError != "" {
			detail(&b, "last error"+times(h.LastErrors)+": "+printable.VisibleLine(h.LastError))
		}
		if h.Shuts {
			detail(&b, "only read, grep, find and ls work until it loads, is removed or is disabled")
		}
		if h.Dropped > 0 {
			detail(&b, printable.Count(h.Dropped, "event")+" came too fast and were dropped")
		}
	}
	for _, s := range r.skipped {
		fmt.Fprintf(&b, " -  %-9s %-12s %s\n", "untrusted", s.Scope, printable.VisibleLine(config.Tilde(s.Path)))
		detail(&b, "`pi trust` shows and approves it")
	}
	for _, p := range waiting {
		fmt.Fprintf(&b, " -  %-9s %-12s %s\n", "pending", p.Kind, printable.VisibleLine(config.Tilde(p.Path)))
		detail(&b, "it was "+p.Change+"; /hooks approve "+printable.VisibleLine(p.Name)+" shows the difference")
	}
	if b.Len() == 0 {
		return "no hooks; a Lua file in " + config.Tilde(r.Places().GlobalDir()) + " is one"
	}
	return strings.TrimRight(b.String(), "\n")
}

// times says how often, if that is more than once.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// detail is a line below that of a hook.
func detail(b *strings.Builder, text string) { fmt.Fprintf(b, "    %s\n", text) }

// hookState is what a person needs to know first. A hook whose new version waits
// is pending: the one before runs.
func hookState(h luahooks.Info, waiting []trust.Pending) string {
	for _, p := range waiting {
		if p.Kind == "hook" && p.Name == h.Name && strings.HasSuffix(p.Path, h.Path) {
			return "pending"
		}
	}
	return h.State
}

// hookTimes is how often the handlers of a hook were called and how long they
// took.
func hookTimes(h luahooks.Info) string {
	if h.Calls == 0 {
		return "no calls"
	}
	text := fmt.Sprintf("%s, p50 %s, p99 %s", printable.Count(h.Calls, "call"), short(h.P50), short(h.P99))
	if h.Errors > 0 {
		text += ", " + printable.Count(h.Errors, "error")
	}
	return text
}

// short is a duration in a unit that leaves few digits: 850ns, 4.2µs, 120ms.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return fmt.Sprintf("%.*f%s", digits(d, unit), float64(d)/float64(unit), strings.TrimLeft(unit.String(), "1"))
		}
	}
	return d.String()
}

// digits after the point: one below ten units, none above.
func digits(d, unit time.Duration) int {
	if d < 10*unit {
		return 1
	}
	return 0
}

// Registered is what a hook registers, in one line: events, commands, tools, others.
func Registered(h luahooks.Info) string {
	parts := append([]string{}, h.Events...)
	for _, c := range h.Commands {
		parts = append(parts, "/"+c)
	}
	for _, t := range h.Tools {
		parts = append(parts, "tool "+t)
	}
	parts = append(parts, h.Others...)
	return printable.VisibleLine(strings.Join(parts, " "))
}
