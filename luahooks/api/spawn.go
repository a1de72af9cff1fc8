package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/internal/child"
	"pi/internal/process"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	pieceBytes = 1 << 20 // of a line or a piece of output, unless max_bytes says otherwise
	mostPiece  = 64 << 20
	maxSpawned = 64 // programs of a hook that run at a time
)

// spawns start programs that run beside the hook, and take over those that the version
// before has started.
type spawns struct {
	*programs
	version int // as owner of what is kept
	running atomic.Int32

	mine map[string]*spawned // those with a name that this version has; only while the VM is held
}

func (s *spawns) part() part { return part{"spawn": s.spawn, "spawned": s.takeUp} }

// endUnclaimed ends the programs that the version before has left to this one and that it
// did not take up. It returns when they have ended.
func (s *spawns) endUnclaimed() {
	var ends sync.WaitGroup
	for _, c := range s.Kept.TakeBefore(s.version) {
		ends.Go(c.Close)
	}
	ends.Wait()
}

// spawned is a program as one version of the hook has it. Noted of its child means that a tool
// has started it or written to it, so that it may do what the model wants.
type spawned struct {
	*spawns
	child *child.Child
	keep  string // the name under which it survives a reload; "": it does not
	table *lua.LTable
	calls atomic.Pointer[spawnCalls]
	over  chan struct{} // closed when all that it wrote was handed over and on_exit has run
}

// spawnCalls are what a hook wants to hear of a program, and how.
type spawnCalls struct {
	stdout, stderr, exit *lua.LFunction // may be nil
	form                 child.Form
}

// readCalls reads the options of a function into c, and others.
func (c *spawnCalls) readCalls(L *lua.LState, function string, n int, others ...luavm.Option) {
	c.form = child.Form{Lines: true, Max: pieceBytes}
	luavm.Unpack(L, n, function, append(others, luavm.Opt("lines", &c.form.Lines), luavm.Opt("max_bytes", &c.form.Max),
		luavm.Opt("on_stdout", &c.stdout), luavm.Opt("on_stderr", &c.stderr), luavm.Opt("on_exit", &c.exit))...)
	if c.form.Max < 1 || c.form.Max > mostPiece {
		luavm.Raise(L, "%s: option \"max_bytes\" is from 1 to %d", function, mostPiece)
	}
}

// spawn is pi.spawn(cmd, args?, {cwd, env, keep, lines, max_bytes, on_stdout, on_stderr,
// on_exit}) → p, or nil and a message when the program could not be started.
func (s *spawns) spawn(L *lua.LState) int {
	s.mustHost(L, "spawn")
	one := &spawned{spawns: s, over: make(chan struct{})}
	name, args := L.CheckString(1), arguments(L, "spawn")
	var cwd string
	var env map[string]string
	calls := &spawnCalls{}
	calls.readCalls(L, "spawn", 3, luavm.Opt("cwd", &cwd), luavm.Opt("env", &env), luavm.Opt("keep", &one.keep))
	one.calls.Store(calls)
	isFollowed := false
	defer func() {
		if one.child != nil && !isFollowed { // the job was stopped while the program started
			go one.child.Close()
		}
	}()
	if one.keep != "" && s.InChild() {
		return pushResult(L, nil, fmt.Errorf("start %s: keep: %w", name, errInChild))
	}
	err := s.wait(L, "spawn", func(ctx context.Context) error { return one.start(ctx, s.command(name, args, cwd, env)) })
	if err == nil {
		err = one.follow(L)
		isFollowed = err == nil
	}
	return pushResult(L, one.table, withArguments("pi.spawn", name, err))
}

// takeUp is pi.spawned(name, {lines, max_bytes, on_stdout, on_stderr, on_exit}?) → p, or nil
// and a message: the program that is kept under a name. The functions take the place of
// those that it had.
func (s *spawns) takeUp(L *lua.LState) int {
	s.mustHost(L, "spawned")
	name := L.CheckString(1)
	calls := &spawnCalls{}
	calls.readCalls(L, "spawned", 2)
	c := s.Kept.Claim(name, s.version)
	if c == nil {
		return pushResult(L, nil, fmt.Errorf("no program is kept as %q", name))
	}
	if one := s.mine[name]; one != nil && one.child == c {
		if L.Get(2) != lua.LNil {
			one.calls.Store(calls)
		}
		return pushResult(L, one.table, nil)
	}
	one := &spawned{spawns: s, child: c, keep: name, over: make(chan struct{})}
	one.calls.Store(calls)
	err := one.follow(L)
	if err != nil {
		go c.Close()
	}
	return pushResult(L, one.table, err)
}

// start starts the program.
func (s *spawned) start(ctx context.Context, c child.Command) (err error) {
	switch {
	case s.running.Load() >= maxSpawned:
		return fmt.Errorf("start %s: %d programs of this hook run already", c.Name, maxSpawned)
	case s.keep != "" && s.Kept.Has(s.keep):
		return fmt.Errorf("start %s: a program that is kept as %q is there already, and pi.spawned returns it", c.Name, s.keep)
	case ctx.Err() != nil:
		return fmt.Errorf("start %s: interrupted", c.Name)
	}
	c.Starting = func() func(int) { return s.Starting(ctx) }
	if s.child, err = child.Start(c); err == nil {
		s.child.Noted.Store(IsOfTool(ctx))
	}
	return err
}

// follow makes the table of the program and begins to hand over what it writes.
func (s *spawned) follow(L *lua.LState) error {
	if s.keep != "" {
		if s.Kept.Claim(s.keep, s.version) != s.child && !s.Kept.Add(s.keep, s.child, s.version) {
			return fmt.Errorf("a program that is kept as %q is there already", s.keep)
		}
		s.mine[s.keep] = s
	}
	s.table = s.newTable("the program", func() []part {
		return []part{{"pid": lua.LNumber(s.child.Pid()), "write": s.write, "close_stdin": s.child.CloseStdin, "kill": s.kill, "running": s.child.IsRunning, "wait": s.await}}
	})
	s.running.Add(1)
	if !s.Spawn(s.serve) {
		s.running.Add(-1)
		s.Kept.Drop(s.keep, s.child)
		return errors.New("the hook has ended")
	}
	return nil
}

type spawnedKey struct{}

// serve hands over what the program writes, and how it ends, until the VM ends. Then the
// program is ended, unless it is kept and the hook has a newer version.
func (s *spawned) serve(life context.Context) {
	defer s.running.Add(-1)
	ctx := context.WithValue(asOwn(life), spawnedKey{}, s)
	if s.follows(ctx) {
		s.Kept.Drop(s.keep, s.child)
		close(s.over)
		return
	}
	<-life.Done()
	if s.keep == "" || !s.Survives() {
		s.Kept.Drop(s.keep, s.child)
		s.child.Close()
	}
}

// follows reports whether all that the program wrote, and its end, was handed over before
// the VM ended.
func (s *spawned) follows(ctx context.Context) bool {
	var outputs sync.WaitGroup
	var isOver [2]bool
	outputs.Go(func() {
		isOver[0] = s.handOver(ctx, s.child.Stdout, "on_stdout", func(c *spawnCalls) *lua.LFunction { return c.stdout })
	})
	outputs.Go(func() {
		isOver[1] = s.handOver(ctx, s.child.Stderr, "on_stderr", func(c *spawnCalls) *lua.LFunction { return c.stderr })
	})
	outputs.Wait()
	if !isOver[0] || !isOver[1] {
		return false
	}
	select {
	case <-s.child.Exited():
	case <-ctx.Done():
		return false
	}
	fn := s.calls.Load().exit
	return fn == nil || s.call(ctx, "on_exit", fn, func(L *lua.LState) []lua.LValue { return []lua.LValue{s.exitTable(L)} }) != child.Again
}

// handOver gives a stream to the function that of chooses; without one it is dropped. It
// reports whether the stream is over.
func (s *spawned) handOver(ctx context.Context, stream *child.Stream, what string, of func(*spawnCalls) *lua.LFunction) bool {
	return stream.HandOver(ctx, func() child.Form { return s.calls.Load().form }, func(piece string) child.Answer {
		fn := of(s.calls.Load())
		if fn == nil {
			return child.Taken
		}
		return s.call(ctx, what, fn, func(*lua.LState) []lua.LValue { return []lua.LValue{lua.LString(piece), s.table} })
	})
}

// call calls a function of the hook in a job of its own. It returns Again if the VM ended
// before the job began.
func (s *spawned) call(ctx context.Context, what string, fn *lua.LFunction, args func(L *lua.LState) []lua.LValue) child.Answer {
	began, answer := new(atomic.Bool), new(child.Answer) // a job that did not stop may still write them
	if ctx.Err() != nil {
		return child.Again
	}
	start := time.Now()
	ctx, end := s.finishing(ctx)
	defer end()
	if s.child.Noted.Load() { // of a tool
		ctx = context.WithValue(ctx, ofToolKey{}, true)
	}
	err := s.jobs.run(ctx, what, func(L *lua.LState) error {
		began.Store(true)
		*answer = answerOf(callLua(L, fn, args(L)...))
		return nil
	})
	if err != nil && !began.Load() {
		return child.Again
	}
	s.jobs.reportCallback(ctx, what, start, err)
	if err != nil {
		return child.Taken
	}
	return *answer
}

// finishing returns a context that ends with ctx, but for a program that the next version of
// the hook may take up: what has begun with a piece of its output is finished then, so that
// the piece is not lost.
func (s *spawned) finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	job, cancel := context.WithCancel(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() {
		if s.keep == "" || !s.Survives() {
			cancel()
		}
	})
	offEnd := context.AfterFunc(s.Ends, cancel)
	return job, func() { off(); offEnd(); cancel() }
}

// write is p.write(text): true, or nil and "ended". It waits while the pipe is full.
func (s *spawned) write(L *lua.LState, text string) error {
	return s.wait(L, "write", func(ctx context.Context) error {
		if IsOfTool(ctx) && !s.child.Noted.Swap(true) {
			s.Starting(ctx)(s.child.Pid()) // from now on it may be at work for the tool
		}
		return s.child.Write(ctx, text)
	})
}

// kill is p.kill(signal?): true, or nil and "ended". It sends TERM unless said to the process
// group.
func (s *spawned) kill(signal *string) error {
	name := "TERM"
	if signal != nil {
		name = *signal
	}
	if known := process.Signals(); !slices.Contains(known, name) {
		return luavm.Misusef("there is no signal %q%s", name, cmp.Or(suggest.Hint(name, known), "; there are "+strings.Join(known, ", ")))
	}
	return s.child.Signal(name)
}

// await is p.wait{timeout = ms}: how the program ended, once what it wrote was handed over,
// or nil and "timeout". In a callback of the program itself it does not wait for that.
func (s *spawned) await(L *lua.LState) int {
	var ms *float64
	luavm.Unpack(L, 1, "wait", luavm.Opt("timeout", &ms))
	timeout := timeoutOption(L, "wait", ms)
	over := s.over
	if s.vm.Context().Value(spawnedKey{}) == s {
		over = nil
	}
	err := s.wait(L, "wait", func(ctx context.Context) error {
		ctx, _, cancel := s.within(ctx, timeout)
		defer cancel()
		return s.awaitEnd(ctx, over)
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, s.exitTable(L), nil)
}

// awaitEnd waits until the program has ended and, unless it is nil, over is closed. The error
// is the cause of ctx, or says that another version of the hook has the program.
func (s *spawned) awaitEnd(ctx context.Context, over <-chan struct{}) error {
	select {
	case <-s.child.Exited():
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Life.Done():
		if s.keep != "" && s.Survives() {
			return errors.New("the newer version of the hook has it")
		}
		<-s.child.Exited()
	}
	if over == nil {
		return nil
	}
	select {
	case <-over:
	case <-s.Life.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// exitTable is how the program ended: {code, signal?, killed}.
func (s *spawned) exitTable(L *lua.LState) *lua.LTable {
	exit := s.child.Exit()
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "code", lua.LNumber(exit.Code))
	luavm.SetText(t, "signal", exit.Signal)
	luavm.Set(t, "killed", lua.LBool(exit.Killed))
	return t
}
