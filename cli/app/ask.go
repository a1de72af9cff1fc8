package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/luahooks/trust"
	"pi/session"
)

// Before anything of a project runs, and before a file that tools may have
// changed counts, the user is asked. Where nobody can be asked, nothing runs.

// User is whoever sits at the terminal before there is a front end. One question
// is asked at a time.
type User struct {
	in  io.Reader // read by the byte, so that what follows a line is left alone
	Out io.Writer // where what the question is about is shown, too

	dialogs agent.UI // in place of lines; nil: there are none
}

// Terminal returns the user at standard input and output.
func Terminal() User { return User{in: os.Stdin, Out: os.Stdout} }

// Ask shows a prompt and returns the line that is typed, without the blanks around it. It
// is an error if the input or ctx ends before.
func (p User) Ask(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(p.Out, prompt)
	return p.line(ctx, func() (string, error) { return readLine(p.in) })
}

// AskSecret is Ask for what a terminal must not show while it is typed.
func (p User) AskSecret(ctx context.Context, prompt string) (string, error) {
	f, ok := p.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p.Ask(ctx, prompt)
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), before) }() // if ctx ends, the terminal is read on
	fmt.Fprint(p.Out, prompt)
	line, err := p.line(ctx, func() (string, error) {
		b, err := term.ReadPassword(int(f.Fd()))
		return string(b), err
	})
	if ctx.Err() == nil {
		fmt.Fprintln(p.Out)
	}
	return line, err
}

// line waits for a line that read returns, or for the end of ctx.
func (p User) line(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // it ends with the line, or with the program
		line, err := read()
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		return strings.TrimSpace(a.line), a.err
	case <-ctx.Done():
		fmt.Fprintln(p.Out)
		return "", ctx.Err()
	}
}

// readLine reads byte by byte, so that what follows the line stays for the next reader.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		switch {
		case n > 0 && b[0] == '\n':
			return string(line), nil
		case n > 0:
			line = append(line, b[0])
		case err != nil:
			return string(line), err
		}
	}
}

// AskProject asks whether the hooks of a project that are not approved may run. The answer
// is No if nobody answers. The user can look at the files first.
func (p User) AskProject(ctx context.Context, q trust.Question) trust.Answer {
	p.begin(whatIsBrought(q.Files) + "\n" + strings.TrimRight(ListFiles(q.Project, q.Files), "\n"))
	question := "Run them?"
	if !slices.ContainsFunc(q.Files, func(f trust.ProjectFile) bool { return !f.Agent }) {
		question = "Use them?"
	}
	for {
		var line string
		var err error
		if p.dialogs == nil {
			line, err = p.Ask(ctx, question+" view, once, always, never; Enter means No: ")
		} else { // what runs programs takes its whole word or the arrows: a y out of habit is none
			line, err = p.choose(ctx, question, agent.DialogOptions{Whole: true}, "no: ask again at the next start", "view: show what is in the files", "once: for this run",
				"always: as long as the files are these", "never: and do not ask again")
		}
		if err != nil {
			return trust.AnswerNo
		}
		switch strings.ToLower(line) {
		case "", "n", "no":
			return trust.AnswerNo
		case "once":
			return trust.AnswerOnce
		case "always":
			return trust.AnswerAlways
		case "never":
			return trust.AnswerNever
		case "v", "view":
			for _, f := range q.Files {
				fmt.Fprintf(p.Out, "--- %s\n%s\n", printable.VisibleLine(config.InProject(q.Project, f.Path)), strings.TrimRight(printable.Visible(string(f.Code)), "\n"))
			}
			fmt.Fprintln(p.Out, "---")
		default:
			fmt.Fprintln(p.Out, "Please answer view, once, always, never or no.")
		}
	}
}

// whatIsBrought says what the files of a project are that are asked about.
func whatIsBrought(files []trust.ProjectFile) string {
	servers, agents, hooks, packages := 0, 0, 0, 0
	for _, f := range files {
		switch {
		case f.Program || len(f.Servers) > 0:
			servers++
		case f.Agent:
			agents++
		case len(f.Packages) > 0:
			packages++
		default:
			hooks++
		}
	}
	const (
		ofHooks    = "This project brings hooks that you have not approved. Hooks are programs: they see every prompt and may run anything."
		ofPackages = "This project names packages of hooks that you have not approved. After a yes they are fetched, with exactly the sums that are listed; their hooks see every prompt and may run anything."
		ofAgents   = "This project brings agents that you have not approved. They say what a model is told that hooks of yours set to work."
		ofServers  = "This project brings MCP servers that you have not approved. They are programs that may run anything, or addresses that get what the model sends them."
	)
	var texts []string
	for _, of := range []struct {
		n    int
		text string
	}{{hooks, ofHooks}, {packages, ofPackages}, {agents, ofAgents}, {servers, ofServers}} {
		if of.n > 0 {
			texts = append(texts, of.text)
		}
	}
	return strings.Join(texts, "\n")
}

// begin shows what a question is about. In a terminal that is wrapped at words, and stands in
// rows of its own, whatever is in the row of the cursor, such as what was typed early: blanks
// over a whole row end in the next one, unless they began where a row does.
func (p User) begin(text string) {
	if f, ok := p.Out.(*os.File); ok && p.dialogs != nil {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			text = strings.Repeat(" ", columns) + "\r" + strings.Join(cells.Wrap(text, columns), "\n")
		}
	}
	fmt.Fprintln(p.Out, text)
}

// notify shows what a hook has to say.
func (p User) notify(text string, level agent.Level) {
	if level != agent.LevelInfo {
		text = string(level) + ": " + text
	}
	p.begin(strings.TrimRight(printable.Text(text), "\n"))
}

// ListFiles shows the files of a project that approval covers, one line each, with
// what a terminal would take for a command made visible.
func ListFiles(project string, files []trust.ProjectFile) string {
	var b strings.Builder
	for _, f := range files {
		state := "new"
		if f.Approved {
			state = "approved"
		}
		fmt.Fprintf(&b, "  %-32s %7d bytes  %.12s  %-10s  %s\n", printable.VisibleLine(config.InProject(project, f.Path)), f.Size, f.SHA256, state, fileDoes(f)+approvedBy(f))
		for _, row := range slices.Concat(f.Servers, f.Packages) {
			fmt.Fprintln(&b, "      "+printable.VisibleLine(row))
		}
	}
	return b.String()
}

// approvedBy says which hook approved a file; "" where a user did, or nobody.
func approvedBy(f trust.ProjectFile) string {
	if !f.Approved || f.By == "" {
		return ""
	}
	return ", by hook " + printable.VisibleLine(f.By)
}

// fileDoes returns which events a hook listens to, as far as its text shows without
// running it.
func fileDoes(f trust.ProjectFile) string {
	events := append([]string{}, f.Events...)
	if f.More {
		events = append(events, "and maybe more")
	}
	if f.Problem != "" {
		events = append(events, "("+f.Problem+")")
	}
	switch {
	case len(events) > 0:
	case len(f.Servers) > 0:
		return "MCP servers"
	case f.Program:
		return "of an MCP server"
	case f.Agent:
		return agentDoes(f)
	case len(f.Packages) > 0:
		return "packages"
	case f.Entries:
		return "what it says of hooks"
	default:
		return "no events"
	}
	return printable.VisibleLine(strings.Join(events, ", "))
}

// AskPending shows how a file that tools may have changed differs from the approved one,
// and asks whether to approve it. It returns false if nobody answers.
func (p User) AskPending(ctx context.Context, w trust.Pending) bool {
	fmt.Fprint(p.Out, DescribePending(w))
	return p.confirm(ctx, "Approve this?")
}

// AskAdopt shows how a draft differs from what is at its place, and asks whether to make a hook of
// it. It returns false if nobody answers.
func (p User) AskAdopt(ctx context.Context, d *trust.Draft) bool {
	fmt.Fprint(p.Out, describeDraft(d))
	return p.confirm(ctx, adoptQuestion(d))
}

// adoptQuestion asks about a draft that was described.
func adoptQuestion(d *trust.Draft) string { return "Adopt " + printable.VisibleLine(d.Name) + "?" }

// describeDraft says what becomes of a draft, and ends with the difference. No line of it commands
// a terminal.
func describeDraft(d *trust.Draft) string {
	return "These bytes become " + printable.VisibleLine(config.Tilde(d.Hook())) + ", which is in force at once. A hook is a program: it sees every prompt and may run anything.\n" + d.Diff
}

// confirm asks a question to which Enter means No, as does the answer of nobody.
func (p User) confirm(ctx context.Context, question string) bool {
	if p.dialogs != nil {
		answer, err := p.dialogs.Confirm(ctx, question, "", agent.DialogOptions{})
		return err == nil && answer == agent.Yes
	}
	for {
		line, err := p.Ask(ctx, question+" y, or Enter for No: ")
		if err != nil {
			return false
		}
		switch strings.ToLower(line) {
		case "y", "yes":
			return true
		case "", "n", "no":
			return false
		}
	}
}

// DescribePending says what waits for approval, why, and what is in force until then,
// and ends with the difference. No line of it commands a terminal.
func DescribePending(w trust.Pending) string {
	meanwhile := "Until you approve it, the version before stays in force."
	switch {
	case w.Unmarked:
		return fmt.Sprintf("%s, %s, is not what was approved. Until it is again, or you approve it as it is, the tools that change something are shut.\n%s",
			printable.VisibleLine(config.Tilde(w.Path)), printable.VisibleLine(w.Name), w.Diff)
	case w.Change == "lost":
		return printable.VisibleLine(config.Tilde(w.Path)) + " is not what pi wrote. Until you approve what follows, no hook runs and no setting counts.\n" + w.Diff
	case w.Change == "added":
		meanwhile = "Until you approve it, it does not count."
	case w.Lost:
		meanwhile = "The version before is lost, so what was made of it does not run."
	}
	return fmt.Sprintf("%s (%s) was %s on %s, when the agent was at work, a process it had started was alive, or pi had not ended in order. %s\n%s",
		printable.VisibleLine(config.Tilde(w.Path)), w.Kind, w.Change, w.Since.Local().Format("2006-01-02 15:04"), meanwhile, w.Diff)
}

// askBusy asks what to do about a session that another process has open: how to open it, or
// anew, whether to begin another one instead. It returns err if the user leaves or nobody
// answers.
func (p User) askBusy(ctx context.Context, busy *session.BusyError, err error) (as session.Access, anew bool, _ error) {
	fmt.Fprintln(p.Out, command.BusyRow(busy, time.Now()))
	for {
		var line string
		var failed error
		if p.dialogs == nil {
			line, failed = p.Ask(ctx, "copy: go on in a copy, read: only look at it, wait: until it is free, new: begin a new one; Enter leaves: ")
		} else {
			line, failed = p.choose(ctx, "What to do with the session?", agent.DialogOptions{}, "leave: end the program", "copy: go on in a copy", "read: only look at it", "wait: until it is free", "new: begin a new one")
		}
		if failed != nil {
			return 0, false, err
		}
		switch strings.ToLower(line) {
		case "", "leave":
			return 0, false, err
		case "c", "copy":
			return session.ToCopy, false, nil
		case "r", "read":
			return session.ToRead, false, nil
		case "w", "wait":
			return session.InTurn, false, nil
		case "n", "new":
			return 0, true, nil
		}
		fmt.Fprintln(p.Out, "Please answer copy, read, wait, new, or nothing.")
	}
}
