package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"pi/agent"
	"pi/internal/printable"
	"pi/session/export"
	"pi/session/message"
)

func sessionCommand(a *agent.Agent) Command {
	return Command{
		Name: "session", Topic: TopicSession, Help: "show the session: file, entries, model, tokens, cost",
		Run: func(context.Context, string) (Outcome, error) { return Outcome{Status: sessionInfo(a)}, nil },
	}
}

// sessionInfo describes the current session for the user, one property a line.
func sessionInfo(a *agent.Agent) string {
	s := a.Session()
	file := s.File()
	if file == "" {
		file = "not saved"
	}
	t, n := a.Totals(), map[message.Role]int{} // messages of all branches together
	for _, e := range s.Entries() {
		if m := e.Message(); m != nil {
			n[m.Role]++
		}
	}
	lines := []string{
		"file     " + file,
		"id       " + s.ID(),
		fmt.Sprintf("entries  %d (%d on this branch)", len(s.Entries()), len(s.Branch())),
		fmt.Sprintf("messages %d of you, %d of the model, %d tool results", n[message.RoleUser], n[message.RoleAssistant], n[message.RoleToolResult]),
		fmt.Sprintf("model    %s:%s", a.Model().Ref(), a.Thinking()),
		fmt.Sprintf("tokens   %d in, %d out, %d cache read, %d cache write", t.Input, t.Output, t.CacheRead, t.CacheWrite),
		"context  " + fullness(t.ContextUsage),
		"cost     " + cost(t),
	}
	if name := s.Name(); name != "" {
		lines = append([]string{"name     " + name}, lines...)
	}
	if branch := s.GitBranch(); branch != "" {
		lines = append(lines, "branch   "+branch)
	}
	if mark := s.Header().Agent; mark.IsSet() {
		lines = append(lines, fmt.Sprintf("agent    %s, at depth %d", printable.Line(mark.Name), mark.Depth))
	}
	if parent := s.Header().ParentSession; parent != "" {
		lines = append(lines, "parent   "+parent)
	}
	if cwd := s.Cwd(); cwd != "" && cwd != a.Cwd() {
		lines = append(lines, "begun in "+cwd)
	}
	if s.ReadOnly() {
		lines = append(lines, "state    open for reading only")
	} else if err := s.Unsaved(); err != nil {
		lines = append(lines, "state    part of it is only in memory: "+err.Error()+"; /export saves it elsewhere")
	}
	return strings.Join(lines, "\n")
}

func fullness(c agent.ContextUsage) string {
	if c.Window == 0 {
		return fmt.Sprintf("about %d tokens", c.Tokens)
	}
	return fmt.Sprintf("about %d of %d tokens (%.0f%%)", c.Tokens, c.Window, c.Percent)
}

// cost returns the costs of a session for the user. It says "unknown" instead of $0
// where no price is known, and marks a sum that lacks some prices.
func cost(t agent.Totals) string {
	switch {
	case t.Priced:
		return fmt.Sprintf("$%.4f", t.Cost.Total)
	case t.Cost.Total == 0:
		return "unknown"
	}
	return fmt.Sprintf("$%.4f and more: not every price is known", t.Cost.Total)
}

const forceWord = "--force"

func exportCommand(a *agent.Agent) Command {
	return Command{
		Name: "export", Topic: TopicSession, Args: "[jsonl|md|html] [file] [--force]", Help: "write the session to a file: all of it (jsonl), its branch to read (md), or a page for a browser (html)",
		More: "/export              all of it, as session-ID.jsonl in this directory\n" +
			"/export md           its branch to read, as session-ID.md\n" +
			"/export html         all of it as one page for a browser, as session-ID.html\n" +
			"/export notes/it.md  to that file; the ending says the format\n" +
			"A file that is there is not written over without --force, and another session not even then.\n" +
			"What could not be saved is written too.",
		Complete: func(prefix string) []string {
			var names []string
			for _, f := range export.Formats() {
				names = append(names, f.Name)
			}
			return withPrefix(names, prefix)
		},
		Run: func(_ context.Context, args string) (Outcome, error) {
			args, force := cutForce(args)
			r, err := export.Parse(args)
			if err != nil {
				return Outcome{}, err
			}
			s := a.Session()
			path := exportPath(a.Cwd(), r.File, r.Name(s))
			if err := export.ToFile(path, r.Format, s, force); err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: "session " + s.ID() + " is in " + path}, nil
		},
	}
}

// cutForce removes the word --force from the end or the beginning of args, and reports
// whether it was there.
func cutForce(args string) (rest string, force bool) {
	if rest, force = strings.CutSuffix(args, " "+forceWord); force {
		return strings.TrimSpace(rest), true
	}
	if args == forceWord {
		return "", true
	}
	rest, force = strings.CutPrefix(args, forceWord+" ")
	return strings.TrimSpace(rest), force
}

// exportPath returns the file to write a session to. A relative file is in cwd, and if
// file is empty or a directory, the file in it has the usual name.
func exportPath(cwd, file, usual string) string {
	if file == "" {
		return filepath.Join(cwd, usual)
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			file = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(cwd, file)
	}
	if stat, err := os.Stat(file); err == nil && stat.IsDir() {
		file = filepath.Join(file, usual)
	}
	return file
}

func contextCommand(o Options) Command {
	return Command{
		Name: "context", Topic: TopicModel, Help: "show what the model sees, by source, in tokens, and what hooks changed of it",
		Run: withoutArgument("context", func(context.Context) (Outcome, error) {
			ink := ascii
			if o.Blocks {
				ink = blocks
			}
			return Outcome{Status: contextText(o.Agent.Meter().Breakdown(), o.Agent.Model().Ref(), ink)}, nil
		}),
	}
}

// ink is what bars are drawn with.
type ink struct{ full, empty string }

var (
	ascii  = ink{"#", "."}
	blocks = ink{"█", "░"}
)

const (
	barWidth = 40
	maxLabel = 44
)

// contextText describes the context for the user: how full it is, a table of its
// sources, what each hook changed, and what is not sent.
func contextText(b agent.Breakdown, model string, ink ink) string {
	lines := []string{fullness(b.ContextUsage) + " of " + model}
	if b.Window > 0 {
		lines = append(lines, "["+ink.bar(b.Tokens, b.Window, barWidth)+"]")
	}
	lines = append(lines, "")
	lines = append(lines, sourceTable(b)...)
	for _, h := range b.Hooks {
		lines = append(lines, "hook "+label(h.Hook)+" "+effectText(h))
	}
	if b.Break != nil {
		lines = append(lines, "the cache was of no use for the last request: "+label(b.Break.String()))
	}
	for _, s := range b.Unsent {
		lines = append(lines, fmt.Sprintf("not sent: %s (%d)", s.Name, s.Count))
	}
	return strings.Join(lines, "\n")
}

// bar draws n out of whole as a bar of width columns. An n above 0 has at least one
// column.
func (k ink) bar(n, whole, width int) string {
	full := 0
	if whole > 0 {
		full = min((max(n, 0)*width+whole/2)/whole, width)
	}
	if n > 0 {
		full = max(full, 1)
	}
	return strings.Repeat(k.full, full) + strings.Repeat(k.empty, width-full)
}

// row is a line of the table.
type row struct {
	label, note string
	tokens      int
}

// sourceTable returns the lines of a table: each source with its tokens, its parts
// indented below it, and the total.
func sourceTable(b agent.Breakdown) []string {
	var rows []row
	for _, s := range b.Sources {
		if s.Tokens == 0 && s.Count == 0 {
			continue
		}
		rows = append(rows, row{label(s.Name), noteOf(s, s.Name), s.Tokens})
		for _, p := range s.Parts {
			rows = append(rows, row{"  " + label(p.Name), noteOf(p, s.Name), p.Tokens})
		}
	}
	rows = append(rows, row{"total", sumNote(b), b.Tokens})
	names, numbers := 0, 0
	for _, r := range rows {
		names, numbers = max(names, utf8.RuneCountInString(r.label)), max(numbers, len(strconv.Itoa(r.tokens)))
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		pad := strings.Repeat(" ", names-utf8.RuneCountInString(r.label))
		lines[i] = strings.TrimRight(fmt.Sprintf("%s%s  %*d  %s", r.label, pad, numbers, r.tokens, r.note), " ")
	}
	return lines
}

// label returns a name that a hook or a file chose, in one line without control
// characters. Of a long one only the end is shown.
func label(s string) string {
	s = printable.Line(s)
	if n := utf8.RuneCountInString(s); n > maxLabel {
		s = "…" + string([]rune(s)[n-maxLabel+1:])
	}
	return s
}

// noteOf returns the last column of a row: the note of s, or how many messages, calls or
// the like it has. s is the source called of, or a part of that.
func noteOf(s agent.Source, of string) string {
	if s.Note != "" || s.Count == 0 || of == agent.SourceTools && s.Name != of {
		return label(s.Note)
	}
	unit := "message"
	switch {
	case of == agent.SourceTools:
		unit = "tool"
	case of == agent.SourceModel && s.Name == "calls":
		unit = "call"
	case of == agent.SourceModel && s.Name == "thinking":
		unit = "thought"
	case of == agent.SourceModel:
		unit = "answer"
	case of == agent.SourceResults:
		unit = "result"
	case of == agent.SourceCommands:
		unit = "command"
	}
	return printable.Count(s.Count, unit)
}

// sumNote says how much of the total a provider has counted, and how much is an estimate.
func sumNote(b agent.Breakdown) string {
	switch {
	case b.Counted == 0:
		return "estimated"
	case b.Counted == b.Tokens:
		return "counted with the last answer; its parts are estimated"
	}
	return fmt.Sprintf("%d counted with the last answer, %+d estimated since; its parts are estimated", b.Counted, b.Tokens-b.Counted)
}

// effectText says in words what a hook changed in the list of messages.
func effectText(e agent.HookEffect) string {
	var done []string
	if e.Removed.Messages > 0 {
		done = append(done, fmt.Sprintf("removed %s (%d tokens)", printable.Count(e.Removed.Messages, "message"), e.Removed.Tokens))
	}
	if e.Added.Messages > 0 {
		done = append(done, fmt.Sprintf("added %s (%d tokens)", printable.Count(e.Added.Messages, "message"), e.Added.Tokens))
	}
	if e.Changed.Messages > 0 {
		done = append(done, fmt.Sprintf("changed %s (%d tokens, were %d)", printable.Count(e.Changed.Messages, "message"), e.ChangedTo, e.Changed.Tokens))
	}
	if len(done) == 0 {
		return "changed nothing"
	}
	return strings.Join(done, ", ")
}
