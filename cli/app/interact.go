package app

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pi/luahooks"
	"pi/repl"
	"pi/session"
	"pi/stdlib"
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

// look is how the terminal is used, whoever asks in it.
func (p *Place) look() repl.Options {
	colours, background := os.Getenv("COLORTERM"), p.Config.UI.Background
	if background == "auto" {
		background = "" // the terminal is asked
	}
	return repl.Options{
		NoColor: os.Getenv("NO_COLOR") != "",
		Plain:   p.Plain || p.Config.UI.Plain, Dumb: os.Getenv("TERM") == "dumb", ShowThinking: p.Config.UI.ShowThinking,
		Highlight: p.Config.UI.Highlight, NotifyWith: p.Config.UI.Notify, MenuWith: p.Config.UI.Menu, Background: background, Keys: p.Config.Bindings(),
		TrueColor: colours == "truecolor" || colours == "24bit",
		Broke:     p.Broke,
		Rich:      strings.Contains(os.Getenv("TERM"), "256color") || colours != "",
	}
}
