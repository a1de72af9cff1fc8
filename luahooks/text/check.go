// Package text reads hooks without running them. A [Checker] says what one does and what is
// wrong with it: which events it listens to, what it calls, reads, writes, runs and connects to, as far
// as the text names it; names that there are not, with what was probably meant; and gates that
// are open when something in them fails.
//
// It goes by the annotations ([annotated.Set]) as an editor does: from pi, require and the
// parameters of handlers it knows what the names of the text are. What it does not know it
// says nothing about, so what it calls wrong is wrong. The words are those that a session has
// for the same mistake.
//
//	check.go   the report, and [Checker.File], which reads modules beside the hook too
//	scope.go   which variable means what
//	walk.go    statements and expressions in their order
//	narrow.go  what conditions say: which tool an event is about
//	inferred.go what is known of the file's own functions from all that stands in it
//	types.go   what an expression is; systems.go: modules for hooks of other programs
//	calls.go   arguments; tables.go: tables of options, and results of handlers
//	names.go   names that there are not
//	effects.go what a call reads, writes, runs, connects to
//	gates.go   gates that fail open
//	changes.go changes of an event, which have no effect
//	exports.go functions that a file returns and nobody calls
//	scan.go    [Scan]: what a file requires and listens to, for what decides whether it may run
//	hints.go   what authors mean by names that are other programs', for messages of a session too
package text

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"pi/luavm"
	"pi/stdlib"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// Report is what a hook does and what is wrong with it, by its text.
type Report struct {
	File     string   `json:"-"`                 // the hook, as messages write it
	Listens  []Place  `json:"listens,omitempty"` // events
	Calls    []string `json:"calls,omitempty"`   // functions of pi, ctx and the modules, sorted
	Reads    []Place  `json:"reads,omitempty"`
	Writes   []Place  `json:"writes,omitempty"`
	Runs     []Place  `json:"runs,omitempty"`
	Connects []Place  `json:"connects,omitempty"`
	// Unread is what the text does not tell: names that are computed, and Lua that is.
	Unread   []Place  `json:"unread,omitempty"`
	Problems []Place  `json:"problems,omitempty"` // what is wrong
	Warnings []Place  `json:"warnings,omitempty"` // gates that fail open, changes without effect, and a hook that registers nothing
	Modules  []string `json:"-"`                  // files that were read with it, as messages write them
}

// Place is something in the text of a hook.
type Place struct {
	What string `json:"what"`
	File string `json:"file"` // as messages write it
	Line int    `json:"line"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What) }

// Checker reads hooks. It may be used from any goroutine.
type Checker struct {
	types   *annotated.Set
	names   *Names
	systems *systems
	ported  func() (*Checker, error) // one that knows the modules for hooks of other programs too
	main    *annotated.Func          // how a function is called that a hook returns
	mains   map[*annotated.Func]bool // main, and those of functions that modules make hooks of
}

// NewChecker returns a checker for the API of this program.
func NewChecker() (*Checker, error) {
	types, err := annotated.Read(stdlib.Annotations())
	if err != nil {
		return nil, err
	}
	main := &annotated.Func{Params: []annotated.Param{{Name: "pi", Type: named("pi")}}}
	c := &Checker{types: types, names: NewNames(), systems: newSystems(), main: main, mains: map[*annotated.Func]bool{main: true}}
	c.ported = sync.OnceValues(func() (*Checker, error) {
		more := &Checker{types: types, names: c.names, systems: newSystems(), main: main, mains: maps.Clone(c.mains)}
		more.ported = func() (*Checker, error) { return more, nil }
		return more, more.systems.add(more)
	})
	return c, nil
}

// reading returns the checker for a file: the modules for hooks of other programs are described
// only where one is named, because that takes longer than all else.
func (c *Checker) reading(code []byte) (*Checker, error) {
	if !bytes.Contains(code, []byte("compat")) {
		return c, nil
	}
	return c.ported()
}

// File reads a hook. shown is what messages call it; find returns the module of a name that
// stands beside it, as messages call its file, and its bytes. The error is that of the parser.
func (c *Checker) File(shown string, code []byte, find func(name string) (shown string, code []byte, ok bool)) (*Report, error) {
	c, err := c.reading(code)
	if err != nil {
		return nil, err
	}
	r := &Report{File: shown}
	w := newWalk(c, r, shown)
	w.isHook = true
	chunk, err := w.file(code)
	if err != nil {
		return nil, err
	}
	w.checkExports(chunk)
	c.modules(r, w, find)
	w.checkIdle(chunk)
	r.tidy()
	return r, nil
}

// maxModules bounds how many modules of a hook are read.
const maxModules = 100

// modules reads the modules that a hook requires by name, and those that they require. One
// that cannot be parsed is a problem.
func (c *Checker) modules(r *Report, hook *walk, find func(string) (string, []byte, bool)) {
	names, done := hook.requires, map[string]bool{}
	for len(names) > 0 && len(done) < maxModules {
		at, name := names[0], names[0].What
		names = names[1:]
		if done[name] {
			continue
		}
		done[name] = true
		shown, code, ok := find(name)
		if !ok {
			at.What = notFound(name)
			r.Problems = append(r.Problems, at)
			continue
		}
		r.Modules = append(r.Modules, shown)
		checker, err := c.reading(code)
		if err != nil {
			at.What = err.Error()
			r.Problems = append(r.Problems, at)
			continue
		}
		w := newWalk(checker, r, shown)
		w.compat = hook.compat
		if _, err := w.file(code); err != nil {
			where, message, _ := strings.Cut(err.Error(), ": ")
			r.Problems = append(r.Problems, Place{message, where[:max(strings.LastIndex(where, ":"), 0)], lineOf(where)})
		}
		names = append(names, w.requires...)
	}
}

// notFound is what a session says of a module that is not there.
func notFound(name string) string {
	path := strings.ReplaceAll(name, ".", "/")
	if strings.ContainsAny(name, "@/-:") {
		return NoModuleName(name)
	}
	return fmt.Sprintf("module %s not found beside the hook (tried %s.lua, %s/init.lua, lib/%s.lua)%s", name, path, path, path, Required(name))
}

// lineOf reads the line of "file:line".
func lineOf(where string) (line int) {
	_, _ = fmt.Sscanf(where[strings.LastIndex(where, ":")+1:], "%d", &line)
	return line
}

// tidy sorts the report by file and line, and drops what is there twice.
func (r *Report) tidy() {
	slices.Sort(r.Calls)
	r.Calls = slices.Compact(r.Calls)
	for _, list := range []*[]Place{&r.Listens, &r.Reads, &r.Writes, &r.Runs, &r.Connects, &r.Unread, &r.Problems, &r.Warnings} {
		slices.SortStableFunc(*list, func(a, b Place) int {
			return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
		})
		*list = slices.Compact(*list)
	}
}

// file reads one file.
func (w *walk) file(code []byte) ([]ast.Stmt, error) {
	chunk, err := luavm.Parse(w.shown, code)
	if err != nil {
		return nil, err
	}
	w.declare(chunk)
	w.learn(chunk)
	w.block(chunk, w.top)
	return chunk, nil
}

// maxPasses bounds how often a file is read before it is reported on.
const maxPasses = 4

// learn reads a file until no more is known of its functions and variables: what they are called
// with may stand below them.
func (w *walk) learn(chunk []ast.Stmt) {
	for range maxPasses {
		before := w.inferred.size()
		try := *w
		try.report, try.top = &Report{File: w.report.File}, &scope{names: map[string]*variable{}}
		try.block(chunk, try.top)
		w.compat = try.compat
		if w.inferred.size() == before {
			return
		}
	}
}
