package stdlib

import (
	"context"
	"errors"
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

// watchDelay is how long after the first event of many they are told.
const watchDelay = 50 * time.Millisecond

// watching looks at a directory for the sake of it, or of one file in it: an
// editor that saves by renaming puts another file in its place.
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
	there   map[string]bool // what was there when it was told last
	changed map[string]bool // what happened to since
	timer   *time.Timer
	due     bool // the timer has fired
	busy    bool // fn is being told
	told    chan struct{}
	telling sync.WaitGroup
}

func (m *module) fsWatch(L *lua.LState, path string, fn *lua.LFunction, opts lua.LValue) (lua.LValue, error) {
	w := &watching{m: m, fn: fn, path: m.env.path(path), delay: watchDelay}
	luavm.Unpack(L, 3, "fs.watch", luavm.Opt("delay", &w.delay))
	if w.delay < 0 {
		return nil, luavm.Misusef("option \"delay\" must not be negative")
	}
	if err := w.begin(); err != nil {
		return nil, plain("watch", path, err)
	}
	return record(L, "close", m.vm.Func("close", func() { w.end() })), nil
}

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
	w.events, w.quit, w.told = events, make(chan struct{}), make(chan struct{}, 1)
	w.end = sync.OnceFunc(func() { close(w.quit) })
	w.changed, w.timer = map[string]bool{}, time.NewTimer(time.Hour)
	w.timer.Stop()
	w.there = map[string]bool{}
	for _, path := range w.look() {
		w.there[path] = true
	}
	if !w.m.env.Spawn(w.run) {
		_ = events.Close()
		return errors.New("the hook is gone")
	}
	return nil
}

// look lists what there is now of what is watched.
func (w *watching) look() []string {
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

// run gathers what changes and tells it, while it gathers on.
func (w *watching) run(life context.Context) {
	ctx, cancel := context.WithCancel(life)
	defer w.telling.Wait()
	defer cancel()
	defer func() { _ = w.events.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.quit:
			return
		case e := <-w.events.Events:
			if w.concerns(e) {
				w.note(e.Name)
			}
		case <-w.events.Errors: // some were lost
			w.note(w.look()...)
			w.note(slices.Collect(maps.Keys(w.there))...)
		case <-w.timer.C:
			w.due = true
		case <-w.told:
			w.busy = false
		}
		w.deliver(ctx)
	}
}

func (w *watching) concerns(e fsnotify.Event) bool {
	return e.Op != fsnotify.Chmod && (e.Name == w.path || filepath.Dir(e.Name) == w.path)
}

func (w *watching) note(paths ...string) {
	if len(w.changed) == 0 && len(paths) > 0 {
		w.timer.Reset(w.delay)
	}
	for _, path := range paths {
		w.changed[path] = true
	}
}

// deliver tells what has gathered, if it is time and fn is free.
func (w *watching) deliver(ctx context.Context) {
	if w.busy || !w.due {
		return
	}
	events := w.compare()
	clear(w.changed)
	w.due, w.busy = false, len(events) > 0
	if w.busy {
		w.telling.Go(func() {
			w.tell(ctx, events)
			w.told <- struct{}{}
		})
	}
}

// closed reports whether the hook does not want to know any more.
func (w *watching) closed() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

type fileEvent struct{ path, kind string }

// compare says what became of the paths that changed: how often does not matter.
func (w *watching) compare() []fileEvent {
	var events []fileEvent
	for path := range w.changed {
		_, err := os.Lstat(path)
		was, is := w.there[path], err == nil
		if is {
			w.there[path] = true
		} else {
			delete(w.there, path)
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

func (w *watching) tell(ctx context.Context, events []fileEvent) {
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
