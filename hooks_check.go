package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/provider/catalogue"
	"pi/internal/printable"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/luavm"

	"github.com/spf13/cobra"
)

func hooksCheck(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check [PATH...]", Short: "Load hooks without a model and say what is wrong with them",
		Long: "Loads the hooks, or those at PATH, as a session would, and says what each registers or why it does not load.\n" +
			"Files of the project that nobody approved are compiled, not run. The exit status is 1 if one fails.",
		RunE: func(cmd *cobra.Command, paths []string) error {
			a, err := newApp(*o)
			if err != nil {
				return err
			}
			checked := a.checkHooks(cmd.Context(), paths)
			if asJSON {
				err = printJSON(checked)
			} else {
				printChecked(checked)
			}
			if slices.ContainsFunc(checked, func(h checkedHook) bool { return h.State == "failed" }) {
				return errReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// checkedHook is what a look at one hook found.
type checkedHook struct {
	Name     string         `json:"name"`
	Path     string         `json:"path"`
	Scope    luahooks.Scope `json:"scope"`
	State    string         `json:"state"` // loads, compiles (not approved, so not run), failed
	Error    string         `json:"error,omitempty"`
	Events   []string       `json:"events,omitempty"`
	Commands []string       `json:"commands,omitempty"`
	Tools    []string       `json:"tools,omitempty"`
	Others   []string       `json:"others,omitempty"` // such as "provider acme", "--flag", "key ctrl+k"
}

// checkHooks loads the hooks of this place, or those at paths.
func (a *app) checkHooks(ctx context.Context, paths []string) []checkedHook {
	places, missing := a.places(), []checkedHook{}
	if len(paths) > 0 {
		places, missing = a.placesOf(paths)
	}
	a.models = newModels(a.cfg, a.keys, catalogue.Models)
	chain := luahooks.New(luahooks.Options{Places: places, Cwd: a.cwd, Mode: "print", Version: version, Guard: a.guard,
		Timeout: a.hookTimeout(), Memory: int64(a.cfg.HookMemory) << 20, Models: a.models, Reserved: reservedCommands(), ResolveKey: a.keys.resolve, Server: a.hookServer, CheckSwitches: hookSwitches})
	skipped := chain.Load(ctx)
	defer chain.Close(ctx)
	for _, err := range places.Discover(a.guard).Problems {
		missing = append(missing, checkedHook{State: "failed", Error: err.Error()})
	}
	checked := missing
	for _, h := range chain.Hooks() {
		c := checkedHook{Name: h.Name, Path: h.Path, Scope: h.Scope, State: "loads", Events: h.Events, Commands: h.Commands, Tools: h.Tools, Others: h.Others}
		if h.State != "active" {
			c.State, c.Error = "failed", h.LastError
		}
		checked = append(checked, c)
	}
	for _, s := range skipped {
		checked = append(checked, a.compiled(s))
	}
	return checked
}

// placesOf are the places that hold just the hooks at paths. Those of the project
// keep its scope, so that they are not run without approval.
func (a *app) placesOf(paths []string) (places luahooks.Places, missing []checkedHook) {
	places = luahooks.Places{AgentDir: a.agentDir, Cwd: a.cwd}
	var own []string
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			missing = append(missing, checkedHook{Path: path, State: "failed", Error: err.Error()})
			continue
		}
		if file, ofProject := a.inProject(abs); ofProject {
			places.ConfiguredIn = append(places.ConfiguredIn, file)
		} else {
			own = append(own, abs)
		}
	}
	places.Only = true
	places.CommandLine = own
	return places, missing
}

// inProject is the file of the project that a path means, by whatever link: what
// counts is the file.
func (a *app) inProject(path string) (file string, ok bool) {
	here := a.places()
	for _, at := range []string{path, filepath.Join(path, "init.lua")} {
		info, err := os.Stat(at)
		for _, own := range a.guard.ProjectPaths(here) {
			if there, thereErr := os.Stat(own); own == at || err == nil && thereErr == nil && os.SameFile(info, there) {
				return own, true
			}
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, at := range []string{path, real} {
		for _, dir := range []string{here.ProjectDir(), realPath(here.ProjectDir())} {
			if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
				return path, true
			}
		}
	}
	return path, false
}

// realPath is a path with symbolic links followed, as far as that is possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// compiled is what can be said of a hook without running it.
func (a *app) compiled(s luahooks.Source) checkedHook {
	c := checkedHook{Name: s.Name, Path: s.Path, Scope: s.Scope, State: "compiles"}
	code, err := trust.ReadRegular(s.Path, luahooks.MaxHook)
	if err == nil {
		_, err = luavm.Compile(inProject(a.cwd, s.Path), code)
	}
	if err != nil {
		c.State, c.Error = "failed", err.Error()
	}
	return c
}

func printChecked(checked []checkedHook) {
	for _, h := range checked {
		name := h.Name
		if name == "" {
			name = h.Path
		}
		what := hookParts(luahooks.Info{Events: h.Events, Commands: h.Commands, Tools: h.Tools, Others: h.Others})
		switch h.State {
		case "compiles":
			what = "not approved, so compiled and not run"
		case "failed":
			what = strings.ReplaceAll(printable.Visible(strings.TrimSpace(h.Error)), "\n", "\n"+strings.Repeat(" ", 31)) // no line of it looks like another hook
		}
		fmt.Printf("%-9s %-20s %s\n", h.State, printable.VisibleLine(name), what)
	}
	if len(checked) == 0 {
		fmt.Fprintln(os.Stderr, "no hooks")
	}
}

func hooksApprove(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "approve NAME...", Short: "Approve hooks of this project, or changes that wait, by name or path",
		Long: "Approves what `pi trust` shows, file by file: a hook or module of this project as it is now, or a file that\n" +
			"changed while the agent was at work. Look at it first, and name the modules of a hook too.",
		Args: usageOf(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, names []string) error {
			a, err := newApp(*o)
			if err != nil {
				return err
			}
			approved, err := a.approveFiles(names)
			if asJSON {
				return errors.Join(printJSON(approved), err)
			}
			for _, path := range approved {
				fmt.Println("approved " + printable.VisibleLine(inProject(a.cwd, path)))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: the paths that are approved now")
	return c
}

// approveFiles approves files by name or path, as they are now. What is unknown
// keeps all of it from being approved.
func (a *app) approveFiles(names []string) (approved []string, err error) {
	var files []luahooks.ProjectFile
	var waiting []luahooks.Pending
	ofProject, pending := a.guard.ProjectFiles(a.places()), a.guard.Pending()
	for _, name := range names {
		n := len(files) + len(waiting)
		for _, f := range ofProject {
			if named(a.cwd, name, f.Path) {
				files = append(files, f)
			}
		}
		for _, p := range pending {
			if p.Name == name || named(a.cwd, name, p.Path) {
				waiting = append(waiting, p)
			}
		}
		if len(files)+len(waiting) == n {
			return nil, usageError{fmt.Errorf("no hook %q to approve; `pi trust --list` shows what there is", name)}
		}
	}
	approved = []string{}
	for _, p := range waiting {
		if err := a.guard.Accept(p.Path); err != nil {
			return approved, err
		}
		approved = append(approved, p.Path)
	}
	for _, f := range files {
		approved = append(approved, f.Path)
	}
	if len(files) > 0 {
		for _, f := range ofProject {
			if f.Approved { // stays so
				files = append(files, f)
			}
		}
		err = a.guard.ApproveAlways(files)
	}
	slices.Sort(approved)
	return slices.Compact(approved), err
}

// named reports whether a person means path by name: the whole path, that in the
// project, or the name of a hook.
func named(project, name, path string) bool {
	rel := inProject(project, path)
	hook := strings.TrimSuffix(filepath.Base(path), ".lua")
	if hook == "init" {
		hook = filepath.Base(filepath.Dir(path))
	}
	return name == path || filepath.Clean(name) == rel || name == hook || name == filepath.Base(path)
}
