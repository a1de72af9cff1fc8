package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"pi/cli/app"
	"pi/cli/hooktest"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
)

// testFlags are those of pi test.
type testFlags struct {
	run                  string
	json, verbose, watch bool
}

func testCommand(o *app.Options) *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use: "test [PATH...]", Short: "Run the tests of hooks",
		ValidArgsFunction: files,
		Long: "Runs every file whose name ends in _test.lua at PATH, or beside the hooks of the agent directory and, if it is\n" +
			"approved, of the project. A scripted model answers; no network, key or session directory is used, and each\n" +
			"case has a home and a project of its own. The exit status is 1 if a case fails.",
		RunE: func(cmd *cobra.Command, paths []string) error { return f.test(cmd, *o, paths) },
	}
	c.Flags().StringVar(&f.run, "run", "", "only cases whose names match this regular `EXPRESSION`")
	c.Flags().BoolVar(&f.json, "json", false, "as JSON, a record for each case")
	c.Flags().BoolVar(&f.watch, "watch", false, "run them again when Lua there is saved, until Ctrl+C")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "also cases that pass, and what tests print")
	return c
}

func (f testFlags) test(cmd *cobra.Command, o app.Options, paths []string) error {
	p, err := here(o)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		if paths = testFolders(p); len(paths) == 0 {
			return errors.New("no hooks, so no tests; pi test PATH runs those at PATH")
		}
	}
	report := hooktest.Report{Out: os.Stdout, Verbose: f.verbose, JSON: f.json}
	options := hooktest.Options{Paths: paths, Print: report.Print, Done: report.Done, Watcher: o.Watcher}
	if f.run != "" {
		pattern, err := regexp.Compile(f.run)
		if err != nil {
			return app.UsageError{Err: fmt.Errorf("--run: %w", err)}
		}
		options.Run = pattern
	}
	if o.CatchInterrupts != nil {
		o.CatchInterrupts() // the folders of the cases are removed
	}
	hooktest.Isolate()
	run := func(used func(path string)) error {
		began := time.Now()
		may := mayTest(p)
		options.MayRun = func(path string, code []byte) error {
			used(path)
			return may(path, code)
		}
		summary, err := hooktest.Run(cmd.Context(), options)
		if err != nil {
			return err
		}
		report.End(summary, time.Since(began))
		if summary.Failed > 0 {
			return app.ErrReported
		}
		return nil
	}
	if !f.watch {
		return run(func(string) {})
	}
	return hooktest.Watch(cmd.Context(), paths, func(used func(path string)) {
		if err := run(used); err != nil && !errors.Is(err, app.ErrReported) {
			tell(err.Error())
		}
	})
}

// testFolders are the folders of hooks whose tests run where no path is given: that of the
// agent directory, those of packages, and that of the project if a user approved what is in it.
func testFolders(p *app.Place) (dirs []string) {
	places := p.Places()
	if isFolder(places.GlobalDir()) {
		dirs = append(dirs, places.GlobalDir())
	}
	for _, pack := range p.Guard.Packages(places) {
		if err := p.Guard.CheckPackage(pack.Dir); err == nil {
			dirs = append(dirs, pack.Dir)
		} else {
			tell(fmt.Sprintf("package %s is not tested: %v", pack.Label, err))
		}
	}
	if dir := filepath.Clean(places.ProjectDir()); isFolder(dir) {
		if _, err := p.Guard.ApprovedOnDisk(places); err == nil {
			dirs = append(dirs, dir)
		} else {
			tell(notTested(err).Error())
		}
	}
	return dirs
}

// mayTest returns what says why a file of Lua does not run in a test: it belongs to the hooks
// of a project, this one or another, and it, or another file there that it could require, is
// not approved as it is on the disk. It looks at each project once, when the first such file
// comes.
func mayTest(p *app.Place) func(path string, code []byte) error {
	var mu sync.Mutex
	isOwn := ofProject(p)
	looked := map[string]func() (map[string]string, error){}
	approvedIn := func(project string) (map[string]string, error) {
		mu.Lock()
		look := looked[project]
		if look == nil {
			look = sync.OnceValues(func() (map[string]string, error) {
				at, err := placeAt(p, project)
				if err != nil {
					return nil, err
				}
				return at.Guard.ApprovedOnDisk(at.Places())
			})
			looked[project] = look
		}
		mu.Unlock()
		return look()
	}
	return func(path string, code []byte) error {
		if p.Guard.IsOfPackage(path) {
			return p.Guard.CheckPackageCode(path, code)
		}
		project := p.Cwd
		file, inside := isOwn(path)
		if !inside {
			if project, file, inside = trust.ProjectOf(path, p.AgentDir); !inside {
				return nil
			}
		}
		sums, err := approvedIn(project)
		if err == nil && sums[file] != trust.Sum(code) && sums[realPath(file)] != trust.Sum(code) {
			err = fmt.Errorf("%s is %w", file, trust.ErrNotApproved)
		}
		if err != nil && project != p.Cwd {
			return fmt.Errorf("%w, so it is not tested; `pi trust` in %s shows what is to be approved", err, project)
		} else if err != nil {
			return notTested(err)
		}
		return nil
	}
}

// placeAt is what p is, in another folder, without a word about its settings; p itself in its own.
func placeAt(p *app.Place, cwd string) (*app.Place, error) {
	if cwd == p.Cwd {
		return p, nil
	}
	o := p.Options
	o.Env.Stderr = io.Discard
	o.Env.Getenv = func(name string) string { // tests have cleared the variables
		if name == "PI_CODING_AGENT_DIR" {
			return p.AgentDir
		}
		return ""
	}
	return app.New(o, cwd)
}

// notTested adds to why a file of the project does not run what to do.
func notTested(err error) error {
	return fmt.Errorf("%w, so it is not tested; `pi trust` shows what is to be approved", err)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
