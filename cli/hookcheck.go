package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/hooktest"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/luahooks"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"

	"github.com/spf13/cobra"
)

func hooksCheck(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check [PATH...]", Short: "Load hooks without a model and say what is wrong with them",
		ValidArgsFunction: files,
		Long: "Loads the hooks, or those at PATH, as a session would, and says what each registers or why it does not load.\n" +
			"Of those at PATH it says by their text what they listen to, call, read, write, run and connect to, names that there\n" +
			"are not with what was meant, and gates that are open when something in them fails. Files of the project that nobody\n" +
			"approved are read, not run. Of a folder it looks at the hooks in it, and of tests at none. The exit status is 1 if one fails or has a mistake.",
		RunE: func(cmd *cobra.Command, paths []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			checked := checkHooks(cmd.Context(), p, paths)
			if err := readTexts(p, checked); err != nil {
				return err
			}
			if asJSON {
				err = printJSON(checked)
			} else {
				printChecked(checked, len(paths) > 0)
			}
			if slices.ContainsFunc(checked, func(h checkedHook) bool { return h.State == "failed" || h.Text != nil && len(h.Text.Problems) > 0 }) {
				return app.ErrReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// checkedHook is what a look at one hook found.
type checkedHook struct {
	Name     string      `json:"name"`
	Path     string      `json:"path"`
	Scope    trust.Scope `json:"scope"`
	State    string      `json:"state"` // loads, compiles (not approved, so not run), skipped (a test), failed
	Error    string      `json:"error,omitempty"`
	Events   []string    `json:"events,omitempty"`
	Commands []string    `json:"commands,omitempty"`
	Tools    []string    `json:"tools,omitempty"`
	Others   []string    `json:"others,omitempty"` // such as "provider acme", "--flag", "key ctrl+k"

	Text *text.Report `json:"text,omitempty"` // nil: it cannot be read or parsed
}

// checkHooks loads the hooks that a session here would load, or those at paths, and
// returns of each what it registers or why it fails.
func checkHooks(ctx context.Context, p *app.Place, paths []string) []checkedHook {
	places, missing := p.Places(), []checkedHook{}
	if len(paths) > 0 {
		places, missing = placesOf(p, paths)
	}
	chain := p.Chain(places, providers.New(p.Config, p.Keys, p.Catalogue.Models))
	skipped := chain.Load(ctx)
	defer chain.Close(ctx)
	for _, err := range places.Discover(p.Guard).Problems {
		missing = append(missing, checkedHook{State: "failed", Error: err.Error()})
	}
	checked, pending := missing, pendingPaths(p)
	for _, h := range chain.Hooks() {
		if h.State != "active" && pending[h.Path] {
			checked = append(checked, checkCompiles(p, trust.Source{Name: h.Name, Path: h.Path, Scope: h.Scope}))
			continue
		}
		if s := (trust.Source{Name: h.Name, Path: h.Path, Scope: h.Scope}); h.State != "active" && isUnapproved(p, s) {
			checked = append(checked, checkCompiles(p, s))
			continue
		}
		c := checkedHook{Name: h.Name, Path: h.Path, Scope: h.Scope, State: "loads", Events: h.Events, Commands: h.Commands, Tools: h.Tools, Others: h.Others}
		if h.State != "active" {
			c.State, c.Error = "failed", h.LastError
		}
		checked = append(checked, c)
	}
	for _, s := range append(skipped, p.Guard.UnapprovedPackages(places)...) {
		if s.Package == "" || s.Path != s.PackageDir { // of a whole folder `pi hooks packages` tells
			checked = append(checked, checkCompiles(p, s))
		}
	}
	return checked
}

// placesOf returns places in which only the hooks at paths are found. Hooks of the project
// stay marked as such, so that they do not run without approval. missing has the paths
// that cannot be used.
func placesOf(p *app.Place, paths []string) (places trust.Places, missing []checkedHook) {
	places = trust.Places{AgentDir: p.AgentDir, Cwd: p.Cwd}
	var own []string
	paths, missing = hooksAt(paths)
	isOwn := ofProject(p)
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			missing = append(missing, checkedHook{Path: path, State: "failed", Error: err.Error()})
			continue
		}
		if file, inside := isOwn(abs); inside {
			places.ConfiguredIn = append(places.ConfiguredIn, file)
		} else {
			own = append(own, abs)
		}
	}
	places.Only = true
	places.CommandLine = own
	return places, missing
}

// hooksAt replaces folders by the hooks in them. Tests are no hooks: others has them, and folders
// without a hook.
func hooksAt(paths []string) (hooks []string, others []checkedHook) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			found, err := trust.HooksIn(path)
			if err == nil && len(found) == 0 {
				err = fmt.Errorf("no hooks in %s", path)
			}
			if err != nil {
				others = append(others, checkedHook{Path: path, State: "failed", Error: err.Error()})
			}
			hooks = append(hooks, found...)
		case err == nil && strings.HasSuffix(path, hooktest.Suffix):
			others = append(others, checkedHook{Path: path, State: "skipped"})
		default:
			hooks = append(hooks, path)
		}
	}
	return hooks, others
}

// ofProject returns what reports whether a path is a hook of the project, also through a link,
// and tells the path of that hook as the project has it. It looks at the project once.
func ofProject(p *app.Place) func(path string) (file string, ok bool) {
	dir := filepath.Clean(p.Places().ProjectDir())
	bySize := sync.OnceValue(func() map[int64][]ownFile {
		files := map[int64][]ownFile{}
		for _, path := range p.Places().ProjectPaths() {
			if info, err := os.Stat(path); err == nil {
				files[info.Size()] = append(files[info.Size()], ownFile{path, info})
			}
		}
		return files
	})
	named := map[string]bool{}
	for _, path := range p.Places().ConfiguredIn {
		named[path] = true
	}
	return func(path string) (string, bool) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) || named[path] {
			return path, true
		}
		for _, at := range []string{path, filepath.Join(path, "init.lua")} {
			info, err := os.Stat(at)
			if err != nil {
				continue
			}
			for _, own := range bySize()[info.Size()] {
				if os.SameFile(info, own.info) {
					return own.path, true
				}
			}
		}
		project, _, below := trust.ProjectOf(path, p.AgentDir)
		return path, below && realPath(project) == realPath(p.Cwd)
	}
}

// ownFile is a file of the project.
type ownFile struct {
	path string
	info os.FileInfo
}

// realPath is a path with symbolic links followed, as far as that is possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// isUnapproved reports whether a hook that was named belongs to another project, and nobody
// approved it.
func isUnapproved(p *app.Place, s trust.Source) bool {
	return p.Guard.OfAnother(s) != "" && !p.Guard.MayRun(s)
}

// checkCompiles checks a hook that may not run by compiling it only.
func checkCompiles(p *app.Place, s trust.Source) checkedHook {
	c := checkedHook{Name: s.Name, Path: s.Path, Scope: s.Scope, State: "compiles"}
	code, err := safefile.Read(s.Path, trust.MaxHook)
	if err == nil {
		_, err = luavm.Compile(config.InProject(p.Cwd, s.Path), code)
	}
	if err != nil {
		c.State, c.Error = "failed", err.Error()
	}
	return c
}

// printChecked prints a line for each hook, and what is wrong with its text; with all, what its
// text says that it does, too.
func printChecked(checked []checkedHook, all bool) {
	for _, h := range checked {
		name := h.Name
		if name == "" {
			name = h.Path
		}
		what := app.Registered(luahooks.Info{Events: h.Events, Commands: h.Commands, Tools: h.Tools, Others: h.Others})
		switch h.State {
		case "compiles":
			what = "not approved, so compiled and not run"
		case "skipped":
			what = "a test and no hook: pi test runs it"
		case "failed":
			what = strings.ReplaceAll(printable.Visible(strings.TrimSpace(h.Error)), "\n", "\n"+strings.Repeat(" ", 31)) // no line of it looks like another hook
		}
		fmt.Printf("%-9s %-20s %s\n", h.State, printable.VisibleLine(name), what)
		printText(h.Text, all)
	}
	if len(checked) == 0 {
		fmt.Fprintln(os.Stderr, "no hooks")
	}
}
