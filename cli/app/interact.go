package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/instructions"
	"pi/cli/config"
	"pi/internal/clipboard"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/luahooks"
	"pi/repl"
	"pi/session"
	"pi/stdlib"

	"golang.org/x/term"
)

// interact runs the interactive front end on the terminal until the user leaves it.
func (r *run) interact(ctx context.Context) error {
	p := r.place
	o := p.look()
	o.History = filepath.Join(p.AgentDir, "history", session.FolderName(p.Cwd))
	o.Pager = os.Getenv("PAGER")
	o.Banner, o.First = func() []string { return p.banner(r.agent, r.chain.Summary(), r.prompt.Files) }, p.firstLines()
	o.Editor = cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if _, err := exec.LookPath("vi"); o.Editor == "" && err == nil { // as git has it
		o.Editor = "vi"
	}
	o.Completions = r.completedByHooks
	o.Shell = r.shellInTerminal()
	o.Renderer = drawnByHooks{func() *luahooks.Chain { return r.chain }}
	o.Changed = hasChanges
	o.Alerts = func() []string { return r.chain.Alerts() }
	o.Asked = func() string { return r.chain.Asked() }
	o.Secret = stdlib.NewSecretFinder()
	o.Shortcuts = func() (all []repl.Shortcut) {
		for _, s := range r.chain.Shortcuts() {
			all = append(all, repl.Shortcut{Key: s.Key, Help: s.Description, Hook: s.Hook, Run: s.Run})
		}
		return all
	}
	// While the user has the terminal they see what the end waits for.
	o.End = func() { _ = r.close(context.WithoutCancel(ctx)) } // with returns the error
	f := repl.New(o)
	defer f.Close()
	defer func() {
		if p.Left != nil && r.agent != nil {
			p.Left(p.resumeCommand(r.agent.Session().File(), r.agent.Session().ID()))
		}
	}()
	return r.with(ctx, front{f, f.UI()}, "interactive", f.Commands(), func() error {
		f.Type(r.typed)
		return f.Run(ctx, r.agent, r.commands)
	})
}

// isPlain reports whether nothing but lines is to be written to a terminal.
func (p *Place) isPlain() bool {
	return p.Plain || p.Config.UI.Plain || os.Getenv("TERM") == "dumb"
}

// Colours reports whether a list that is written to out has colours: as the flags say, else the
// variables, else the settings and what out is.
func (p *Place) Colours(out *os.File) bool {
	force := p.Env.getenv("FORCE_COLOR")
	switch {
	case p.Plain || p.Color == "never":
		return false
	case p.Color == "always":
		return true
	case p.Env.getenv("NO_COLOR") != "":
		return false
	case force != "":
		return force != "0"
	}
	return !p.isPlain() && term.IsTerminal(int(out.Fd()))
}

// look is how the terminal is used, whoever asks in it.
func (p *Place) look() repl.Options {
	colours, background := os.Getenv("COLORTERM"), p.Config.UI.Background
	if background == "auto" {
		background = "" // the terminal is asked
	}
	return repl.Options{
		NoColor: p.Color == "never" || p.Color != "always" && os.Getenv("NO_COLOR") != "",
		Plain:   p.Plain || p.Config.UI.Plain, Dumb: os.Getenv("TERM") == "dumb", ShowThinking: p.Config.UI.ShowThinking,
		Highlight: p.Config.UI.Highlight, NotifyWith: p.Config.UI.Notify, MenuWith: p.Config.UI.Menu, Background: background, Keys: p.Config.Bindings(),
		TrueColor: colours == "truecolor" || colours == "24bit",
		Broke:     p.Broke,
		Rich:      strings.Contains(os.Getenv("TERM"), "256color") || colours != "",
	}
}

// banner returns the lines that the interactive front end begins with: version, model, a
// summary of the hooks, the instruction files, and which session goes on.
func (p *Place) banner(a *agent.Agent, hooks string, files []instructions.File) []string {
	m := a.Model()
	first := fmt.Sprintf("pi %s · %s:%s · %s", p.Version, m.Ref(), a.Thinking(), hooks)
	for _, f := range files {
		rel, err := filepath.Rel(p.Cwd, f.Path)
		if err != nil || strings.HasPrefix(rel, "..") {
			rel = f.Path
		}
		first += " · " + rel
	}
	lines := []string{first}
	if line := resumed(a.Session()); line != "" {
		lines = append(lines, line)
	}
	if m.Provider == "demo" {
		lines = append(lines, "demo/tour is a script, no model. For a real one: /login asks for a key; or export ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a server in "+
			config.Tilde(filepath.Join(p.AgentDir, "config.toml"))+" (config.example.toml shows how). Try: help")
	}
	return lines
}

// resumed says which conversation goes on in s; "" if it has no messages yet.
func resumed(s *session.Session) string {
	messages, prompt := s.Glance()
	if name := s.Name(); name != "" {
		prompt = name
	}
	if messages == 0 {
		return ""
	}
	line := fmt.Sprintf("going on with %s: %s", command.ShortID(s.ID()), printable.Count(messages, "message"))
	if prompt = printable.FirstLine(prompt, 60); prompt != "" { // of a compacted conversation there may be a summary only
		line += fmt.Sprintf(", %q", prompt)
	}
	return line
}

// sequencer is a front end on a terminal.
type sequencer interface {
	// Sequence writes a sequence to the terminal between what else it shows there. It is
	// an error if the terminal is to get none.
	Sequence(sequence string) error
}

// copierTo returns the function that copies a text to the user's clipboard, through the
// terminal of the front end if it has one.
func copierTo(front any) func(ctx context.Context, text string) (way string, err error) {
	c := clipboard.Clipboard{}
	if s, ok := front.(sequencer); ok {
		c.Terminal = s.Sequence
	}
	return c.Copy
}

// lookTime is how long git may look for changes: in a repository where that takes longer
// the status line does not tell.
const lookTime = 10 * time.Second

// hasChanges reports whether git knows changes around dir that are not committed, false if
// it cannot be asked.
func hasChanges(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	changed, err := stdlib.HasChanges(ctx, runQuietly, dir)
	return changed && err == nil
}

// runQuietly runs a program that nobody watches. Its process group ends with ctx.
func runQuietly(ctx context.Context, c stdlib.Command) (stdout, stderr string, code int, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Cwd, &out, &errs
	cmd.Env = os.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	process.Group(cmd)
	cmd.Cancel = func() error { process.Kill(cmd); return nil }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		err = nil
	}
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return out.String(), errs.String(), code, err
}
