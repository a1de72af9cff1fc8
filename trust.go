package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Before anything of a project runs, and before a file that tools may have
// changed counts, the person is asked. Where nobody can be asked, nothing runs.

// UntrustedError ends a run that was not to go on without its hooks.
type UntrustedError struct{ Text string }

func (e *UntrustedError) Error() string { return e.Text }

// Hint is the next step.
func (e *UntrustedError) Hint() string {
	return "`pi trust` shows them and asks; `pi trust --yes` approves what it lists"
}

// person is whoever sits at the terminal before there is a front end. One question
// is asked at a time.
type person struct {
	in  io.Reader // read by the byte, so that what follows a line is left alone
	out io.Writer // where what the question is about is shown, too
}

// ask shows a prompt and reads a line, without the blanks around it; an error means
// that nobody answers.
func (p person) ask(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(p.out, prompt)
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // it ends with the line, or with the program
		line, err := readLine(p.in)
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		return strings.TrimSpace(a.line), a.err
	case <-ctx.Done():
		fmt.Fprintln(p.out)
		return "", ctx.Err()
	}
}

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

// askProject asks whether hooks of a project run that are not approved. Where nobody
// answers they do not.
func (p person) askProject(ctx context.Context, q trust.Question) trust.Answer {
	fmt.Fprintln(p.out, "This project brings hooks that you have not approved. Hooks are programs: they see every prompt and may run anything.")
	fmt.Fprint(p.out, listFiles(q.Project, q.Files))
	for {
		line, err := p.ask(ctx, "Run them? view, once, always, never; Enter means No: ")
		if err != nil {
			return trust.AnswerNo
		}
		switch strings.ToLower(line) {
		case "", "n", "no":
			return trust.AnswerNo
		case "o", "once":
			return trust.AnswerOnce
		case "always":
			return trust.AnswerAlways
		case "never":
			return trust.AnswerNever
		case "v", "view":
			fmt.Fprint(p.out, viewFiles(q.Project, q.Files))
		default:
			fmt.Fprintln(p.out, "Please answer view, once, always, never or no.")
		}
	}
}

// listFiles shows the files of a project that approval covers, one line each, with
// what a terminal would take for a command made visible.
func listFiles(project string, files []trust.ProjectFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "  %-32s %7d bytes  %.12s  %-10s  %s\n", printable.VisibleLine(inProject(project, f.Path)), f.Size, f.SHA256, fileState(f), fileDoes(f))
	}
	return b.String()
}

func fileState(f trust.ProjectFile) string {
	if f.Approved {
		return "approved"
	}
	return "new"
}

// fileDoes is what a file registers, as far as its text says so.
func fileDoes(f trust.ProjectFile) string {
	events := append([]string{}, f.Events...)
	if f.More {
		events = append(events, "and maybe more")
	}
	if f.Problem != "" {
		events = append(events, "("+f.Problem+")")
	}
	if len(events) == 0 {
		return "no events"
	}
	return printable.VisibleLine(strings.Join(events, ", "))
}

// viewFiles shows the files themselves.
func viewFiles(project string, files []trust.ProjectFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "--- %s\n%s\n", printable.VisibleLine(inProject(project, f.Path)), strings.TrimRight(printable.Visible(string(f.Code)), "\n"))
	}
	b.WriteString("---\n")
	return b.String()
}

// inProject is a path relative to the project that it lies in; elsewhere it is
// written with ~ where that is shorter.
func inProject(project, path string) string {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return config.Tilde(path)
}

// askPending asks whether to approve one file that tools may have changed, and shows
// the difference. Where nobody answers it is not approved.
func (p person) askPending(ctx context.Context, w trust.Pending) bool {
	fmt.Fprint(p.out, describePending(w))
	for {
		line, err := p.ask(ctx, "Approve this? y, or Enter for No: ")
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

// describePending says what waits for approval, why, and what is in force until then,
// and ends with the difference. No line of it commands a terminal.
func describePending(w trust.Pending) string {
	meanwhile := "Until you approve it, the version before stays in force."
	switch {
	case w.Change == "lost":
		return printable.VisibleLine(config.Tilde(w.Path)) + " is not what pi wrote. Until you approve what follows, no hook runs and no setting counts.\n" + w.Diff
	case w.Change == "added":
		meanwhile = "Until you approve it, it does not count."
	case w.Lost:
		meanwhile = "The version before is lost, so what was made of it does not run."
	}
	return fmt.Sprintf("%s (%s) was %s on %s, when the agent was at work or a process it had started was alive. %s\n%s",
		printable.VisibleLine(config.Tilde(w.Path)), w.Kind, w.Change, w.Since.Local().Format("2006-01-02 15:04"), meanwhile, w.Diff)
}

// settlePending asks about what waits for approval and matters to this run. It
// reports whether settings are among what was approved. Without a person the run
// is refused: which version counts is not for a program to say.
func (r *run) settlePending(ctx context.Context) (settings bool, err error) {
	waiting := r.Waiting()
	if len(waiting) == 0 {
		return false, nil
	}
	if r.PrintMode() {
		var names []string
		for _, w := range waiting {
			names = append(names, printable.VisibleLine(config.Tilde(w.Path))+" was "+w.Change)
		}
		return false, &UntrustedError{Text: "not run: changed while the agent was at work and not approved: " + strings.Join(names, ", ")}
	}
	for _, w := range waiting {
		if !terminal().askPending(ctx, w) {
			continue
		}
		if err := r.Guard.Accept(w.Path); err != nil {
			r.warnings = append(r.warnings, err.Error())
		}
		settings = settings || w.Kind == "settings" || w.Change == "lost"
	}
	if err := r.Guard.Doubt(); err != nil {
		return false, &UntrustedError{Text: "not run: " + err.Error()}
	}
	return settings, ctx.Err()
}

// terminal is the person at standard input and output.
func terminal() person { return person{os.Stdin, os.Stdout} }

// Waiting lists the files that wait for approval and concern a run here with these
// options. In print mode one of them refuses the run.
func (p *Place) Waiting() []trust.Pending { return p.waitingFor(false) }

// AllWaiting lists those too that concern only runs with hooks of the command line.
func (p *Place) AllWaiting() []trust.Pending { return p.waitingFor(true) }

func (p *Place) waitingFor(commandLine bool) []trust.Pending {
	waiting, places := []trust.Pending{}, p.Places()
	for _, w := range p.Guard.Pending() {
		if w.Concerns(places) || commandLine && w.Scope == trust.ScopeCommand {
			waiting = append(waiting, w)
		}
	}
	return waiting
}

// askProject is nil where nobody can be asked.
func (p *Place) askProject() func(context.Context, trust.Question) trust.Answer {
	if p.PrintMode() || p.Hooks.NoApprove {
		return nil
	}
	return terminal().askProject
}

// reportSkipped says which hooks of the project do not run, and ends the run if
// it must not go on without them.
func (r *run) reportSkipped() error {
	if len(r.skipped) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s of this project not run: %s", printable.Count(len(r.skipped), "hook"), printable.VisibleLine(strings.Join(names(r.skipped), ", ")))
	if r.Hooks.Require {
		return &UntrustedError{Text: text}
	}
	if !r.Hooks.NoApprove && !r.Guard.Store().Never(r.Cwd) {
		r.warnings = append(r.warnings, text+"; `pi trust` shows and approves them, --approve runs them this once")
	}
	return nil
}

func trustCommand(o *Options) *cobra.Command {
	var list, yes, revoke, asJSON bool
	c := &cobra.Command{
		Use: "trust", Short: "Show the hooks of this project and what waits for approval, and approve them", Args: exactly(0),
		Long: "Shows every file that approval covers: the Lua files below .pi/hooks, the hooks that .pi/config.toml names,\n" +
			"and their modules; and the files that changed while the agent was at work. Then it asks.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			switch {
			case revoke:
				return revokeTrust(p)
			case asJSON:
				return printJSON(listTrust(p))
			}
			return runTrust(cmd.Context(), p, list, yes)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "only show")
	c.Flags().BoolVar(&yes, "yes", false, "approve what is shown, without asking")
	c.Flags().BoolVar(&revoke, "revoke", false, "take back what was approved or refused for this project")
	c.Flags().BoolVar(&asJSON, "json", false, "only show, as JSON")
	return c
}

type trustListing struct {
	Project  string              `json:"project"`
	Never    bool                `json:"never"`
	TooLarge string              `json:"too_large,omitempty"` // why nothing of it can be approved
	Files    []trust.ProjectFile `json:"files"`
	Pending  []trust.Pending     `json:"pending"`
}

func listTrust(p *Place) trustListing {
	l := trustListing{Project: p.Cwd, Never: p.Guard.Store().Never(p.Cwd), Files: p.Guard.ProjectFiles(p.Places()), Pending: p.AllWaiting()}
	if err := p.Places().TooLarge(); err != nil {
		l.TooLarge = err.Error()
	}
	return l
}

func revokeTrust(p *Place) error {
	if err := p.Guard.Revoke(); err != nil {
		return err
	}
	fmt.Println("nothing of " + printable.VisibleLine(p.Cwd) + " is approved or refused any more")
	return nil
}

// runTrust shows what there is to approve, and asks, unless the answer is given.
func runTrust(ctx context.Context, p *Place, list, yes bool) error {
	files, waiting := p.Guard.ProjectFiles(p.Places()), p.AllWaiting()
	ask := !list && !yes && term.IsTerminal(int(os.Stdin.Fd()))
	fmt.Print(listFiles(p.Cwd, files))
	if p.Guard.Store().Never(p.Cwd) {
		fmt.Println("you said never to run hooks of this project")
	}
	var problems []error
	open := 0
	for _, w := range waiting {
		approve := yes
		if ask {
			approve = terminal().askPending(ctx, w)
		} else {
			fmt.Print(describePending(w))
		}
		if !approve {
			open++
		} else if err := p.Guard.Accept(w.Path); err != nil {
			problems = append(problems, err)
		}
	}
	if len(waiting) > open {
		files = p.Guard.ProjectFiles(p.Places()) // as they are now
	}
	left, err := trustProject(ctx, p, files, ask, yes)
	problems = append(problems, err)
	if open += left; open > 0 && !list && !ask {
		is := "are"
		if open == 1 {
			is = "is"
		}
		problems = append(problems, &UntrustedError{Text: printable.Count(open, "file") + " " + is + " not approved"})
	}
	if err := p.Places().TooLarge(); err != nil {
		problems = append(problems, fmt.Errorf("%w: none of them runs or can be approved", err))
	} else if len(files)+len(waiting) == 0 {
		fmt.Println("this project has no hooks, and nothing waits for approval")
	}
	return errors.Join(problems...)
}

// meanwhile says what becomes of an approval that another program takes for one of its
// tools.
func meanwhile(p *Place) string {
	if !p.Guard.OthersAtWork() {
		return ""
	}
	return "; but tools of another pi are at work, so that one asks about it when they have ended"
}

// trustProject approves the files of the project, or says how many are not.
func trustProject(ctx context.Context, p *Place, files []trust.ProjectFile, ask, yes bool) (open int, err error) {
	for _, f := range files {
		if !f.Approved {
			open++
		}
	}
	never := p.Guard.Store().Never(p.Cwd)
	if open == 0 && !never {
		return 0, nil
	}
	answer := trust.AnswerNo
	if yes {
		answer = trust.AnswerAlways
	} else if ask {
		answer = terminal().askProject(ctx, trust.Question{Project: p.Cwd, Files: files})
	}
	switch answer {
	case trust.AnswerOnce:
		fmt.Println("once is for a run: pi --approve")
	case trust.AnswerAlways:
		if err := p.Guard.ApproveAlways(files); err != nil {
			return open, err
		}
		fmt.Println("approved" + meanwhile(p))
		return 0, nil
	case trust.AnswerNever:
		return 0, p.Guard.Never()
	}
	return open, nil
}
