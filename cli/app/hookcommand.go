package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/session"
)

// hookCommands are the slash commands about hooks.
type hookCommands struct {
	chain   *luahooks.Chain
	skipped []trust.Source // project hooks that nobody approved
	places  trust.Places
	log     string   // the file of the hook log
	ui      agent.UI // who approves

	session func() *session.Session // the current one, for a replay
	tools   func() []agent.Tool     // of the program
	models  *llm.Models
}

// list returns /hooks and /reload.
func (h *hookCommands) list() []command.Command {
	return []command.Command{
		{
			Name: "hooks", Args: "[add|reload|log|trace|replay|enable|disable|approve|adopt] [name]",
			Help:     "list the hooks with their state, or do something about one",
			Complete: h.complete,
			Run: func(ctx context.Context, args string) (command.Outcome, error) {
				if args == "" {
					if status, ok, err := actOnRows(ctx, h.ui, h.view, h.do); ok {
						return command.Outcome{Status: status}, err
					}
				}
				status, err := h.run(ctx, args)
				return command.Outcome{Status: status}, err
			},
		},
		{Name: "reload", Help: "load all hooks anew", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
			return command.Outcome{Status: h.reload(ctx)}, nil
		}},
	}
}

func hookActions() []string {
	return []string{"add", "reload", "log", "trace", "replay", "enable", "disable", "approve", "adopt"}
}

// complete returns what the words behind /hooks can be completed to: an action, or behind
// one the name of a hook.
func (h *hookCommands) complete(prefix string) []string {
	action, name, second := strings.Cut(prefix, " ")
	var words []string
	switch {
	case !second:
		words = hookActions()
	case action == "add":
		return h.completeExamples(name)
	case action == "adopt":
		for _, draft := range h.chain.Drafts() {
			words = append(words, action+" "+draft)
		}
	default:
		for _, hook := range h.chain.Hooks() {
			words = append(words, action+" "+hook.Name)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, strings.TrimRight(action+" "+name, " "))
	})
}

// run carries out /hooks: args has an action and perhaps a hook. It returns the text for
// the user.
func (h *hookCommands) run(ctx context.Context, args string) (string, error) {
	action, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	if name == "" && slices.Contains([]string{"trace", "replay", "enable", "disable"}, action) {
		return "", fmt.Errorf("/hooks %s wants the name of a hook; /hooks lists them", action)
	}
	if name == "" && action == "adopt" {
		return "", fmt.Errorf("/hooks adopt wants the name of a draft; there are: %s", cmp.Or(strings.Join(h.chain.Drafts(), ", "), "none"))
	}
	switch action {
	case "":
		return h.describe(), nil
	case "add":
		return h.add(ctx, name)
	case "reload":
		return h.reload(ctx), nil
	case "log":
		return h.showLog(name)
	case "trace":
		return h.trace(name)
	case "replay":
		return h.replay(ctx, name)
	case "enable":
		return "hook " + name + " is enabled", h.chain.SetEnabled(ctx, name, true)
	case "disable":
		return "hook " + name + " is disabled until you enable it or pi ends", h.chain.SetEnabled(ctx, name, false)
	case "approve":
		return h.approve(ctx, name)
	case "adopt":
		return h.adopt(ctx, name)
	}
	return "", fmt.Errorf("/hooks %s: the words are %s", action, strings.Join(hookActions(), ", "))
}

func (h *hookCommands) reload(ctx context.Context) string {
	h.chain.Reload(ctx, true)
	return "reloaded: " + h.chain.Summary()
}

// trace turns on, or with "NAME off" turns off, that the user is shown each event that a
// hook handles.
func (h *hookCommands) trace(name string) (string, error) {
	name, off := strings.CutSuffix(name, " off")
	if err := h.chain.Trace(name, !off); err != nil {
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

// showLog returns the last lines of the hook log, or only those of the hook called name if
// that is not empty.
func (h *hookCommands) showLog(name string) (string, error) {
	f, err := safefile.Open(h.log, os.O_RDONLY)
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
	return strings.Join(append(lines, "("+config.Tilde(h.log)+")"), "\n"), nil
}

// logLines returns the last logShown lines of text that are about the hook called name,
// with the indented lines that belong to them; "" means every hook.
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

// approve shows how a changed file differs from the approved one, asks the user, and
// approves it. It refuses without a user, for a program must not approve. name may be
// empty if only one file waits.
func (h *hookCommands) approve(ctx context.Context, name string) (string, error) {
	waiting := h.chain.Pending()
	if len(waiting) == 0 {
		return "nothing waits for approval", nil
	}
	i := 0
	if name != "" || len(waiting) > 1 {
		i = slices.IndexFunc(waiting, func(p trust.Pending) bool { return p.Name == name || p.Path == name })
	}
	if i < 0 {
		var names []string
		for _, p := range waiting {
			names = append(names, printable.VisibleLine(p.Name))
		}
		return "", fmt.Errorf("/hooks approve wants one of: %s", strings.Join(names, ", "))
	}
	if !agent.HasUser(h.ui) {
		return "", errors.New("a person has to approve: run `pi trust` in a terminal, or `pi hooks approve NAME` after looking at it")
	}
	p := waiting[i]
	answer, err := h.ui.Confirm(ctx, "Approve "+printable.VisibleLine(p.Name)+"?", DescribePending(p), agent.DialogOptions{})
	if err != nil || answer != agent.Yes {
		return "not approved", err
	}
	return "approved: " + p.Name, h.chain.Approve(ctx, p)
}

// adopt shows how a draft differs from the hook at its place, asks the user, and makes a hook of it.
func (h *hookCommands) adopt(ctx context.Context, name string) (string, error) {
	if !agent.HasUser(h.ui) {
		return "", fmt.Errorf("a user has to look at it: run `pi hooks adopt %s` in a terminal", printable.VisibleLine(name))
	}
	d, err := h.chain.ReadDraft(name)
	if err != nil {
		return "", err
	}
	answer, err := h.ui.Confirm(ctx, adoptQuestion(d), describeDraft(d), agent.DialogOptions{})
	if err != nil || answer != agent.Yes {
		return "not adopted; the draft stays as it is", err
	}
	if err := h.chain.Adopt(ctx, d); err != nil {
		return "", fmt.Errorf("adopt %s: %w", d.Name, err)
	}
	return "adopted: " + d.Name, nil
}

// describe lists the hooks in the order in which they run, with their state, what they
// register, how long their calls take and the last error; then the files that are not
// approved.
func (h *hookCommands) describe() string {
	var b strings.Builder
	waiting := h.chain.Pending()
	for i, hook := range h.chain.Hooks() {
		name := printable.VisibleLine(config.Tilde(hook.Path))
		if hook.Package != "" {
			name = printable.VisibleLine(hook.Name) + "  " + name
		}
		fmt.Fprintf(&b, "%2d  %-9s %-12s %s\n", i+1, hookState(hook, waiting), hook.Scope, name)
		for _, text := range hookDetails(hook) {
			detail(&b, text)
		}
	}
	for _, s := range append(h.skipped[:len(h.skipped):len(h.skipped)], h.chain.UnapprovedPackages()...) {
		fmt.Fprintf(&b, " -  %-9s %-12s %s\n", "untrusted", s.Scope, printable.VisibleLine(config.Tilde(s.Path)))
		detail(&b, untrustedWay(s))
	}
	for _, p := range waiting {
		fmt.Fprintf(&b, " -  %-9s %-12s %s\n", "pending", p.Kind, printable.VisibleLine(config.Tilde(p.Path)))
		detail(&b, "it was "+p.Change+"; /hooks approve "+printable.VisibleLine(p.Name)+" shows the difference")
	}
	if b.Len() == 0 {
		return "no hooks; a Lua file in " + config.Tilde(h.places.GlobalDir()) + " is one"
	}
	return strings.TrimRight(b.String(), "\n")
}

// untrustedWay is what a user can do about a hook or a package that nobody approved.
func untrustedWay(s trust.Source) string {
	if s.Scope == trust.ScopePackage {
		return UnapprovedWay(s)
	}
	return "`pi trust` shows and approves it"
}

// hookDetails say what a hook registers, how long its calls take, and what is wrong with it.
func hookDetails(hook luahooks.Info) (texts []string) {
	texts = append(texts, strings.Trim(Registered(hook)+" · "+hookTimes(hook), " ·"))
	if hook.Rejected != "" {
		texts = append(texts, "what was saved last did not load, the version before runs: "+printable.VisibleLine(hook.Rejected))
	}
	if hook.LastError != "" {
		times := ""
		if hook.LastErrors > 1 {
			times = fmt.Sprintf(" (%d times)", hook.LastErrors)
		}
		texts = append(texts, "last error"+times+": "+printable.VisibleLine(hook.LastError))
	}
	if hook.Shuts {
		texts = append(texts, "only read, grep, find and ls work until it loads, is removed or is disabled")
	}
	if hook.Dropped > 0 {
		texts = append(texts, printable.Count(hook.Dropped, "event")+" came too fast and were dropped")
	}
	return texts
}

// detail is a line below that of a hook.
func detail(b *strings.Builder, text string) { fmt.Fprintf(b, "    %s\n", text) }

// hookState returns the word for the state of a hook. It is "pending" if a changed version
// waits for approval while the one before runs.
func hookState(h luahooks.Info, waiting []trust.Pending) string {
	for _, p := range waiting {
		if p.Kind == "hook" && p.Name == h.Name && strings.HasSuffix(p.Path, h.Path) {
			return "pending"
		}
	}
	return h.State
}

// hookTimes says how often the handlers of a hook were called, and how long a call took.
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

// short formats a duration with few digits in a fitting unit: 850ns, 4.2µs, 120ms.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			digits := 0
			if d < 10*unit {
				digits = 1
			}
			return fmt.Sprintf("%.*f%s", digits, float64(d)/float64(unit), strings.TrimLeft(unit.String(), "1"))
		}
	}
	return d.String()
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
