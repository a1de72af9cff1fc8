package stdlib

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"pi/luavm"

	"github.com/fsnotify/fsnotify"
	lua "github.com/yuin/gopher-lua"
)

// watchDelay is how long after the first event of many they are emitted.
const watchDelay = 50 * time.Millisecond

// watching watches a directory, or one file through its directory: an editor that
// saves by renaming puts another file in its place.
type watching struct {
	m     *module
	fn    *lua.LFunction
	path  string // of the file or directory
	dir   string // what is looked at
	delay time.Duration

	events *fsnotify.Watcher
	quit   chan struct{}
	end    func() // closes quit

	// Below: only run.
	existing map[string]bool // the paths that existed when events were emitted last
	changed  map[string]bool // the paths that something happened to since
	timer    *time.Timer
	due      bool // the timer has fired
	busy     bool // fn is being called
	emitted  chan struct{}
	emitting sync.WaitGroup
}

// fsWatch is fs.watch: it starts to watch and returns the table with close.
func (m *module) fsWatch(L *lua.LState, path string, fn *lua.LFunction, opts lua.LValue) (lua.LValue, error) {
	w := &watching{m: m, fn: fn, path: m.env.path(path), delay: watchDelay}
	luavm.Unpack(L, 3, "fs.watch", luavm.Opt("delay", &w.delay))
	if w.delay < 0 {
		return nil, luavm.Misusef("option \"delay\" must not be negative")
	}
	if m.env.Unheard != nil {
		return nil, fmt.Errorf("watch: %w", m.env.Unheard)
	}
	if err := w.begin(); err != nil {
		return nil, plain("watch", path, err)
	}
	return record(L, "close", m.vm.Func("close", func() { w.end() })), nil
}

// begin notes which paths exist now, starts to watch, and starts run as a goroutine of
// the hook. The error says that the directory cannot be watched or that the hook is
// gone; then nothing runs.
func (w *watching) begin() error {
	info, statErr := os.Stat(w.path)
	if statErr != nil && !errors.Is(statErr, os.ErrNotExist) {
		return statErr // such as a path below a file, where nothing could ever happen
	}
	if w.dir = w.path; statErr != nil || !info.IsDir() {
		w.dir = filepath.Dir(w.path)
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	if err := events.Add(w.dir); err != nil {
		_ = events.Close()
		return err
	}
	w.events, w.quit, w.emitted = events, make(chan struct{}), make(chan struct{}, 1)
	w.end = sync.OnceFunc(func() { close(w.quit) })
	w.changed, w.timer = map[string]bool{}, time.NewTimer(time.Hour)
	w.timer.Stop()
	w.existing = map[string]bool{}
	for _, path := range w.paths() {
		w.existing[path] = true
	}
	if !w.m.env.Spawn(w.run) {
		_ = events.Close()
		return errors.New("the hook is gone")
	}
	return nil
}

// paths returns the watched file or directory, if it exists, and what the directory has
// in it.
func (w *watching) paths() []string {
	var found []string
	if _, err := os.Lstat(w.path); err == nil {
		found = append(found, w.path)
	}
	if w.dir == w.path {
		entries, _ := os.ReadDir(w.dir)
		for _, e := range entries {
			found = append(found, filepath.Join(w.dir, e.Name()))
		}
	}
	return found
}

// run collects changes of the watched paths and has them emitted w.delay after the
// first one, at most one batch at a time, until the hook ends or the script closes the
// watch. It then waits for a call of fn that is under way.
func (w *watching) run(life context.Context) {
	ctx, cancel := context.WithCancel(life)
	defer w.emitting.Wait()
	defer cancel()
	defer func() { _ = w.events.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.quit:
			return
		case e := <-w.events.Events:
			if e.Op != fsnotify.Chmod && (e.Name == w.path || filepath.Dir(e.Name) == w.path) {
				w.note(e.Name)
			}
		case <-w.events.Errors: // events were lost: look at all paths
			w.note(w.paths()...)
			w.note(slices.Collect(maps.Keys(w.existing))...)
		case <-w.timer.C:
			w.due = true
		case <-w.emitted:
			w.busy = false
		}
		w.deliver(ctx)
	}
}

// note adds paths to the changed ones. The first of them starts the timer after which
// they are emitted. Like all that touches changed and timer it is called by the
// goroutine of run only.
func (w *watching) note(paths ...string) {
	if len(w.changed) == 0 && len(paths) > 0 {
		w.timer.Reset(w.delay)
	}
	for _, path := range paths {
		w.changed[path] = true
	}
}

// deliver starts a goroutine that emits the collected changes, if the delay is over and
// fn is not being called: else it does nothing, and run calls it again when that ends.
func (w *watching) deliver(ctx context.Context) {
	if w.busy || !w.due {
		return
	}
	events := w.compare()
	clear(w.changed)
	w.due, w.busy = false, len(events) > 0
	if w.busy {
		w.emitting.Go(func() {
			w.emit(ctx, events)
			w.emitted <- struct{}{}
		})
	}
}

// closed reports whether the script has closed the watch.
func (w *watching) closed() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

type fileEvent struct{ path, kind string }

// compare returns an event for each changed path, in the order of the paths: create,
// remove or write, by whether it existed before and exists now, and none if it did
// neither. It notes what exists now. A path that changed several times has one event.
func (w *watching) compare() []fileEvent {
	var events []fileEvent
	for path := range w.changed {
		_, err := os.Lstat(path)
		was, is := w.existing[path], err == nil
		if is {
			w.existing[path] = true
		} else {
			delete(w.existing, path)
		}
		switch {
		case was && is:
			events = append(events, fileEvent{path, "write"})
		case is:
			events = append(events, fileEvent{path, "create"})
		case was:
			events = append(events, fileEvent{path, "remove"})
		}
	}
	sort.Slice(events, func(i, j int) bool { return events[i].path < events[j].path })
	return events
}

// emit calls fn with one event after the other, each as a job of its own, until the hook
// ends or the script closes the watch. Errors of fn are reported by the job.
func (w *watching) emit(ctx context.Context, events []fileEvent) {
	for _, e := range events {
		if ctx.Err() != nil || w.closed() {
			return
		}
		_ = w.m.env.Call(w.m.env.Outside(ctx, "fs.watch of "+w.path), "fs.watch", func(L *lua.LState) error {
			if !w.closed() {
				call(L, w.fn, record(L, "path", lua.LString(e.path), "kind", lua.LString(e.kind)))
			}
			return nil
		})
	}
}
