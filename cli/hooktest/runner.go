package hooktest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/internal/process"
)

// Suffix is how the names of test files end.
const Suffix = "_test.lua"

// Options say what is run.
type Options struct {
	Paths []string       // files, and folders in which they are looked for at any depth
	Run   *regexp.Regexp // of the names of cases; nil: all
	// FirstFailure ends each file with the first case of it that fails.
	FirstFailure bool
	// MayRun returns an error for a file of Lua that is not to run: a test, a module that one
	// requires, or a hook under test; nil: all may. It may be called from any goroutine.
	MayRun func(path string, code []byte) error
	// Watcher ends what the cases start if this program is killed; nil: nobody does.
	Watcher *process.Watcher
	// Print gets each line that a test prints; nil: nobody does.
	Print func(file, line string)
	// Done gets each case when it has ended, and each file that has no cases to run because
	// it failed itself. Files run side by side, but Done is called for one after the other,
	// in the order of their names.
	Done func(Outcome)
}

// Outcome is how a case ended.
type Outcome struct {
	File     string        `json:"file"`
	Case     string        `json:"case,omitempty"` // "": the file itself failed
	Passed   bool          `json:"passed"`
	Took     time.Duration `json:"-"`
	Millis   float64       `json:"ms"`
	Failures []Failure     `json:"failures,omitempty"`
}

// Summary counts what was run.
type Summary struct{ Files, Cases, Failed int }

// Run runs the tests and returns when all have ended. The error says what could not be
// looked for or that there are no tests; a case that fails is counted in the summary.
func Run(ctx context.Context, o Options) (Summary, error) {
	files, err := find(o.Paths)
	if err != nil {
		return Summary{}, err
	}
	if len(files) == 0 {
		return Summary{}, fmt.Errorf("no tests: no file whose name ends in %s in %s", Suffix, strings.Join(o.Paths, ", "))
	}
	results := make([]chan []Outcome, len(files))
	for i := range files {
		results[i] = make(chan []Outcome, 1)
	}
	next := make(chan int, len(files))
	for i := range files {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	// Cases wait for the disk and for programs most of their time.
	for range min(len(files), 4*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				results[i] <- runFile(ctx, files[i], o)
			}
		})
	}
	defer workers.Wait()
	s := Summary{Files: len(files)}
	for _, result := range results {
		for _, one := range <-result {
			if one.Case != "" {
				s.Cases++
			}
			if !one.Passed {
				s.Failed++
			}
			o.Done(one)
		}
	}
	if s.Cases == 0 && s.Failed == 0 && ctx.Err() == nil {
		return s, fmt.Errorf("no tests: no case has a name that matches %s", o.Run)
	}
	return s, ctx.Err()
}

// find returns the test files at paths, each once, in the order of paths.
func find(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir() && !strings.HasSuffix(path, Suffix):
			return nil, fmt.Errorf("%s: the name of a test ends in %s", path, Suffix)
		case !info.IsDir():
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(at, Suffix) {
				files = append(files, at)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		abs, err := filepath.Abs(f)
		was := err == nil && seen[abs]
		seen[abs] = true
		return was
	}), nil
}

// runFile runs the cases of one file. A VM that did not stop is lost; the cases behind it
// run in another.
func runFile(ctx context.Context, path string, o Options) (outcomes []Outcome) {
	broken := func(err error) []Outcome {
		f := Failure{File: path, Message: err.Error()}
		if place, message, ok := strings.Cut(err.Error(), ": "); ok {
			if m := placeOf.FindStringSubmatch(place); m != nil {
				f.File, f.Line, f.Message = m[1], atoi(m[2]), message
			}
		}
		return append(outcomes, Outcome{File: path, Failures: []Failure{f}})
	}
	open := func() (*file, error) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		return openFile(ctx, abs, path, o)
	}
	f, err := open()
	if err != nil {
		return broken(err)
	}
	defer func() { f.close() }()
	if len(f.cases) == 0 {
		return broken(errors.New("it has no t.case"))
	}
	for i := range f.cases {
		if f.vm.Dead() {
			f.close()
			if f, err = open(); err != nil || i >= len(f.cases) {
				return broken(fmt.Errorf("loaded again, it has changed: %w", err))
			}
		}
		c := f.cases[i]
		if o.Run != nil && !o.Run.MatchString(c.name) {
			continue
		}
		began := time.Now()
		failures := f.runCase(c)
		took := time.Since(began)
		outcomes = append(outcomes, Outcome{File: path, Case: c.name, Passed: len(failures) == 0, Took: took,
			Millis: float64(took.Microseconds()) / 1000, Failures: failures})
		if o.FirstFailure && len(failures) > 0 {
			break
		}
	}
	return outcomes
}
