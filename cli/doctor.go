package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/mcplogin"
	"pi/cli/providers"
	"pi/internal/githead"
	"pi/internal/printable"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/repl/terminal"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// pi doctor looks at what a run here would find, and changes nothing: no hook and no command that
// prints a key runs, nothing is fetched, and no secret is shown.

// finding is what pi doctor says of an area; each area has one at least.
type finding struct {
	Area  string `json:"area"`
	State string `json:"state"` // ok; warn: worth a look; broken: it does not work
	Text  string `json:"text"`
	Hint  string `json:"hint"` // what to do; "" where nothing is
}

const (
	stateOK     = "ok"
	stateWarn   = "warn"
	stateBroken = "broken"
)

func doctorCommand(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Say what of settings, keys, hooks and this machine works, and what to do about the rest", Args: exactly(0),
		Long: "Looks at settings, keys, hooks, packages, MCP servers, logins, approvals, sessions, terminal, shell, git and disk:\n" +
			"a line for each with what to do. It reaches no network, runs no hook and no command that prints a key, and shows\n" +
			"no secret. The exit status is 1 if something is broken.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			quiet := *o
			quiet.Env.Stderr = io.Discard // what is wrong is among the findings
			p, err := here(quiet)
			if err != nil {
				return err
			}
			findings := examine(p)
			if asJSON {
				err = printJSON(findings)
			} else {
				printFindings(cmd.OutOrStdout(), paletteOf(p), findings)
			}
			if err == nil && slices.ContainsFunc(findings, func(f finding) bool { return f.State == stateBroken }) {
				return app.ErrReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: [{area, state, text, hint}]")
	return c
}

func printFindings(out io.Writer, colours terminal.Palette, findings []finding) {
	for _, f := range findings {
		line := f.Text
		if f.Hint != "" {
			line += "; " + f.Hint
		}
		fmt.Fprintf(out, "%s %-9s %s\n", paintState(colours, f.State, 7), f.Area, printable.VisibleLine(line))
	}
}

// examine returns what there is to say of each area, in their order.
func examine(p *app.Place) (all []finding) {
	for _, area := range []struct {
		name string
		look func(*app.Place, *found)
	}{
		{"settings", lookAtSettings}, {"keys", lookAtKeys}, {"hooks", lookAtHooks}, {"packages", lookAtPackages},
		{"mcp", lookAtServers}, {"logins", lookAtLogins}, {"trust", lookAtTrust}, {"sessions", lookAtSessions},
		{"terminal", lookAtTerminal}, {"shell", lookAtShell}, {"git", lookAtGit}, {"disk", lookAtDisk},
	} {
		f := &found{area: area.name}
		area.look(p, f)
		all = append(all, f.all...)
	}
	return all
}

// found collects what is found in an area.
type found struct {
	area string
	all  []finding
}

func (f *found) add(state, text, hint string) {
	f.all = append(f.all, finding{f.area, state, text, hint})
}

// otherwise adds that an area is in order, if nothing was found in it.
func (f *found) otherwise(text string) {
	if len(f.all) == 0 {
		f.add(stateOK, text, "")
	}
}

// problems adds what is wrong with a file.
func (f *found) problems(problems []config.Problem) {
	for _, problem := range problems {
		state := stateWarn
		if problem.Unread {
			state = stateBroken // the whole file has no effect
		}
		f.add(state, problem.String(), "mend it there")
	}
}

func lookAtSettings(p *app.Place, f *found) {
	f.problems(p.Problems())
	file := filepath.Join(p.AgentDir, "config.toml")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		f.otherwise("there is no " + config.Tilde(file) + ", all settings are the usual ones")
	}
	f.otherwise(config.Tilde(file) + " is in force")
}

func lookAtKeys(p *app.Place, f *found) {
	defer p.Keys.Freeze()()
	for _, problem := range providers.SectionProblems(p.Config, p.Keys) {
		f.add(stateWarn, problem, "mend it there")
	}
	var keys []string
	states := providers.States(p.Config, p.Keys)
	for _, name := range slices.Sorted(maps.Keys(states)) {
		section, isSet := p.Config.Providers[name]
		var unread error
		if strings.HasPrefix(section.APIKey, "file:") { // nothing runs for it
			_, unread = p.Keys.Resolve(context.Background(), section.APIKey)
		}
		switch s := states[name]; {
		case unread != nil:
			f.add(stateBroken, fmt.Sprintf("api_key of [providers.%s]: %v", name, unread), "put the key there, or change the setting")
		case s.From != "" && s.Missing == "":
			keys = append(keys, name+" ("+s.From+")")
		case isSet && s.Missing != "":
			f.add(stateWarn, name+" lacks "+s.Missing, "set it, or /login "+name+" in the terminal")
		}
	}
	if len(keys) > 0 {
		f.add(stateOK, strings.Join(keys, ", "), "")
		return
	}
	if len(p.Config.Providers) == 0 {
		f.add(stateWarn, "no provider has a key", "export ANTHROPIC_API_KEY or that of another one, or run pi login; `pi models --all` lists them")
	}
	f.otherwise("the servers of config.toml want none")
}

func lookAtHooks(p *app.Place, f *found) {
	runs := 0
	where := p.Places().Discover(p.Guard)
	for _, s := range where.Sources {
		if s.Err == nil {
			if _, err := luavm.Compile(s.Path, p.Guard.Read(s.Path).Code); err != nil {
				f.add(stateBroken, fmt.Sprintf("hook %s does not compile: %v", s.Name, err), "mend it; pi hooks check "+config.Tilde(s.Path)+" says more")
			}
		}
	}
	for _, h := range listedHooks(p, where) {
		switch h.State {
		case "runs":
			runs++
		case "failed":
			f.add(stateBroken, "hook "+h.Name+" cannot be read: "+config.Tilde(h.Path), "pi hooks check says why")
		}
	}
	f.otherwise(printable.Count(runs, "hook") + " in force")
}

func lookAtPackages(p *app.Place, f *found) {
	list, err := listPackages(p)
	if err != nil {
		f.add(stateBroken, err.Error(), "pi hooks add SOURCE writes it anew")
	}
	for _, pack := range list {
		switch pack.State {
		case "runs":
		case "untrusted":
			f.add(stateWarn, "package "+pack.Name+" is not approved", "pi trust")
		default:
			f.add(stateBroken, "package "+pack.Name+" is "+pack.State, "pi hooks update "+pack.Name+", or pi hooks remove "+pack.Name)
		}
	}
	f.otherwise(printable.Count(len(list), "package") + " in force")
}

func lookAtServers(p *app.Place, f *found) {
	servers := p.MCPServers(nil)
	f.problems(servers.Problems)
	for _, e := range servers.Entries {
		if e.Problem != nil && !e.Disabled {
			f.add(stateWarn, e.Problem.Error(), "change mcp.json, or set what is missing")
			continue
		}
		if e.Disabled || e.Command == "" || strings.ContainsRune(e.Command, filepath.Separator) && !filepath.IsAbs(e.Command) {
			continue
		}
		if _, err := exec.LookPath(e.Command); err != nil {
			f.add(stateWarn, "the command of server "+e.Name+" is not found: "+e.Command, "install it, or change mcp.json")
		}
	}
	f.otherwise(printable.Count(len(servers.Entries), "server") + " configured; none was started")
}

func lookAtLogins(p *app.Place, f *found) {
	f.problems(p.Keys.Problems())
	for _, line := range providers.Expired(p.Config, p.Keys) {
		text, hint, _ := strings.Cut(line, "; ")
		f.add(stateWarn, text, hint)
	}
	logins := p.Logins("")
	for _, e := range p.MCPServers(nil).Entries {
		state := logins.State(e)
		if why, ok := strings.CutPrefix(state, mcplogin.StateUnknown); ok {
			text, hint, _ := strings.Cut(why, "; ")
			f.add(stateBroken, text, hint)
			break // it is one file for all
		}
		if state == mcplogin.StateRanOut {
			f.add(stateWarn, "server "+e.Name+": "+state, "pi mcp login "+e.Name)
		}
	}
	f.otherwise("no login has run out")
}

func lookAtTrust(p *app.Place, f *found) {
	if err := p.Guard.Damaged(); err != nil {
		f.add(stateBroken, err.Error(), "pi trust shows it and asks")
	}
	if waiting := p.Waiting(true); len(waiting) > 0 {
		f.add(stateWarn, "waiting for your approval: "+printable.Count(len(waiting), "change"), "pi trust shows and asks")
	}
	open := slices.DeleteFunc(p.ProjectFiles(), func(file trust.ProjectFile) bool { return file.Approved })
	switch {
	case len(open) > 0 && p.Guard.Store().IsRefused(p.Cwd):
		f.add(stateOK, "you said never to run what this project brings", "")
	case len(open) > 0:
		f.add(stateWarn, "not approved, and without an effect: "+printable.Count(len(open), "file")+" of this project", "pi trust shows and asks")
	}
	f.otherwise("nothing waits for approval")
}

func lookAtSessions(p *app.Place, f *found) {
	root := p.Sessions().Root
	folders, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		f.add(stateOK, config.Tilde(root)+" is made with the first session", "")
		return
	}
	if err == nil {
		err = checkWritable(root)
	}
	if err != nil {
		f.add(stateBroken, fmt.Sprintf("sessions cannot be kept: %v", err), "make "+config.Tilde(root)+" a folder that you may write to, or set dir of [session]")
		return
	}
	count := 0
	for _, folder := range folders {
		files, _ := os.ReadDir(filepath.Join(root, folder.Name())) // one that cannot be read has none for us
		for _, file := range files {
			if filepath.Ext(file.Name()) == ".jsonl" {
				count++
			}
		}
	}
	f.add(stateOK, printable.Count(count, "session")+" in "+config.Tilde(root), "")
}

func lookAtTerminal(_ *app.Place, f *found) {
	kind := os.Getenv("TERM")
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())) || err != nil:
		f.add(stateOK, "none here: pi answers as with -p", "")
	case kind == "dumb" || kind == "" && runtime.GOOS != "windows":
		f.add(stateWarn, fmt.Sprintf("TERM=%s: lines without colours and keys", kind), "set TERM to what the terminal is, such as xterm-256color")
	default:
		f.add(stateOK, fmt.Sprintf("%s, %d×%d", kind, width, height), "")
	}
}

func lookAtShell(p *app.Place, f *found) {
	path, err := p.Shell()
	if err != nil {
		f.add(stateBroken, err.Error(), "install bash, or name one with pi config set tools.shell PATH")
		return
	}
	f.add(stateOK, path, "")
}

func lookAtGit(p *app.Place, f *found) {
	path, err := exec.LookPath("git")
	if err != nil {
		f.add(stateWarn, "git is not found", "install it: packages from elsewhere and some examples need it")
		return
	}
	if branch := githead.Branch(p.Cwd); branch != "" {
		path += ", on " + branch
	}
	f.add(stateOK, path, "")
}

// Where a disk is nearly full, and full, for a program that writes sessions.
const (
	littleSpace = 1 << 30
	noSpace     = 50 << 20
)

func lookAtDisk(p *app.Place, f *found) {
	dir := p.AgentDir
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	if err := checkWritable(dir); err != nil {
		f.add(stateBroken, err.Error(), "pi keeps settings, approvals and sessions there: make it yours, or set PI_CODING_AGENT_DIR")
	}
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		f.add(stateWarn, fmt.Sprintf("how much is free is not known: %v", err), "")
		return
	case free < littleSpace:
		state := stateWarn
		if free < noSpace {
			state = stateBroken
		}
		f.add(state, printable.Size(free)+" free in "+config.Tilde(dir), "make room; pi sessions rm moves old sessions to the trash")
	}
	f.otherwise(printable.Size(free) + " free in " + config.Tilde(dir))
}
