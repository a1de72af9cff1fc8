package hooktest

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// scene is a case while it runs: the stage, and what has gone wrong on it.
type scene struct {
	file  *file
	stage *stage
	ctx   context.Context

	mu     sync.Mutex // guards what follows
	faults []string   // that the test did not see: a request without a step, a question without an answer
	checks []Failure  // checks that failed
}

// note remembers a fault that fails the case wherever it happened.
func (s *scene) note(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault)
}

// fail remembers a check that failed.
func (s *scene) fail(f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, f)
}

// failures returns why the case failed, of which err is how its Lua ended: the first check
// that failed, else the first fault, else the error.
func (s *scene) failures(c testCase, err error) []Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first Failure
	switch {
	case len(s.checks) > 0:
		if first = s.checks[0]; first.Line == 0 {
			first.Line = c.line
		}
	case len(s.faults) > 0:
		first = Failure{File: s.file.shown, Line: c.line, Message: s.faults[0]}
		if err != nil {
			first.Line = s.file.failureOf(c, err).Line
		}
	case err != nil:
		first = s.file.failureOf(c, err)
	default:
		return nil
	}
	first.Case = c.name
	for _, n := range s.stage.witness.told() { // errors of hooks among them
		first.Notices = append(first.Notices, string(n.Level)+": "+n.Text)
	}
	first.Notices = first.Notices[max(0, len(first.Notices)-maxNotices):]
	if s.ctx.Err() != nil && s.stage.user.open() != nil {
		first.Message += "; a hook shows a component that nothing closes: t.answers{ custom = function(view) … end } plays with it"
	}
	s.nameOriginals(&first)
	return []Failure{first}
}

// nameOriginals puts the hooks that a test names in the place of their copies, and ~ in that
// of the home directory, in a failure.
func (s *scene) nameOriginals(f *Failure) {
	dir := filepath.Dir(s.file.path)
	named := func(text string) string {
		return strings.ReplaceAll(s.stage.hooks.original(text, dir), s.stage.home+string(filepath.Separator), "~/")
	}
	for _, text := range []*string{&f.Message, &f.Got, &f.Want} {
		*text = named(*text)
	}
	for i := range f.Notices {
		f.Notices[i] = named(f.Notices[i])
	}
}

// maxNotices is how many of the last notices a failure shows.
const maxNotices = 5

// hasFault returns the first fault, "" if there is none.
func (s *scene) fault() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return ""
	}
	return s.faults[0]
}

// stepOf calls the function of a step with the request and reads the step that it returns.
func (s *scene) stepOf(ctx context.Context, one step, r *sentRequest) (made step, err error) {
	err = s.job(ctx, "model", func(L *lua.LState) error {
		L.Push(one.function)
		L.Push(s.file.requestTable(L, r))
		L.Call(1, 1)
		v := L.Get(-1)
		L.Pop(1)
		if v != lua.LNil {
			made = readStep(L, s.file.records, v, "model")
		}
		return nil
	})
	return made, err
}

// job runs a function of the test for something that asks it while the case waits. An error
// fails the case.
func (s *scene) job(ctx context.Context, name string, f func(L *lua.LState) error) error {
	err := s.file.vm.Run(context.WithValue(ctx, answeringKey{}, true), luavm.Job{Name: name, Timeout: luaTime, Clock: luavm.CountedLua, Run: f})
	if err != nil && ctx.Err() == nil {
		s.note(name + ": " + strings.TrimPrefix(err.Error(), name+": "))
	}
	return err
}
