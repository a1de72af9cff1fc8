package luahooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/luahooks/trust"

	"github.com/fsnotify/fsnotify"
)

// Editors save in many ways: in place, in pieces, to a temporary file that is
// renamed, by moving the old file away first. So directories are watched, never
// files; a change is looked at when no other event follows for a while; and what
// counts is the bytes, not the event.
const (
	quiet     = 50 * time.Millisecond  // without a further event
	quietMax  = 250 * time.Millisecond // however many come
	lookAgain = 100 * time.Millisecond // at a file that was gone or empty
)

// watcher brings the chain up to date when files change.
type watcher struct {
	hooks  updater
	places *trust.Places
	behind *background
	fs     *fsnotify.Watcher
	done   chan struct{}
	end    context.CancelFunc

	// Only on its goroutine.
	dirs  map[string]bool // directories in which every entry counts
	names map[string]bool // paths that count wherever they are
}

// updater is what a watcher brings up to date; a loader is one.
type updater interface {
	update(ctx context.Context, force, sure bool) (fresh []*hook, doubtful bool)
	welcome(ctx context.Context, fresh []*hook)
	files() []string        // that decide what the hooks are
	agentFolders() []string // in which every file is looked at
}

// startWatcher returns a watcher that runs until ctx or behind ends.
func startWatcher(ctx context.Context, hooks updater, places *trust.Places, behind *background) (*watcher, error) {
	w := &watcher{hooks: hooks, places: places, behind: behind, done: make(chan struct{})}
	if err := w.open(); err != nil {
		return nil, err
	}
	ctx, w.end = behind.within(ctx)
	go func() {
		defer close(w.done)
		w.run(ctx)
	}()
	return w, nil
}

// startWatcherLater is startWatcher, but nothing is watched before begin says something. If
// that fails then, failed is told.
func startWatcherLater(ctx context.Context, hooks updater, places *trust.Places, behind *background, begin <-chan time.Time, failed func(error)) *watcher {
	w := &watcher{hooks: hooks, places: places, behind: behind, done: make(chan struct{})}
	ctx, w.end = behind.within(ctx)
	go func() {
		defer close(w.done)
		select {
		case <-ctx.Done():
			return
		case <-begin:
		}
		if err := w.open(); err != nil {
			failed(err)
			return
		}
		w.run(ctx)
	}()
	return w
}

// open begins to watch; run ends it.
func (w *watcher) open() (err error) {
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		return fmt.Errorf("watch hooks: %w", err)
	}
	w.follow()
	return nil
}

// run collects events and reloads when they have ceased. It sleeps while
// nothing happens.
func (w *watcher) run(ctx context.Context) {
	defer w.fs.Close()
	timer := time.NewTimer(0) // what changed before the watch began counts too
	var first time.Time
	again := false
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.fs.Events:
			if !w.matters(e) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			timer.Reset(max(0, min(quiet, quietMax-time.Since(first))))
		case <-w.fs.Errors: // events were lost, so everything is looked at
			timer.Reset(quiet)
		case <-timer.C:
			again = w.look(ctx, again && first.IsZero())
			first = time.Time{}
			if again {
				timer.Reset(lookAgain)
			}
		}
	}
}

// look brings the chain up to date and reports whether a file may only be gone for a
// moment. sure says that it was gone at the last look too, and no event came since.
func (w *watcher) look(ctx context.Context, sure bool) (doubtful bool) {
	w.follow() // first, so that nothing changes unseen after it was read
	fresh, doubtful := w.hooks.update(ctx, false, sure)
	for w.follow() { // directories that were made, or modules required, while nobody watched them
		more, unsure := w.hooks.update(ctx, false, sure)
		doubtful = doubtful || unsure
		for _, h := range more {
			if !slices.Contains(fresh, h) {
				fresh = append(fresh, h)
			}
		}
	}
	if len(fresh) > 0 {
		w.behind.run(func() {
			ctx, cancel := w.behind.within(ctx)
			defer cancel()
			w.hooks.welcome(ctx, fresh)
		})
	}
	return doubtful
}

// follow watches everything that decides which hooks there are and what is in
// them, and reports whether a directory is new. Watching one again is free, and
// heals a watch that was lost with its directory.
func (w *watcher) follow() (grown bool) {
	before := len(w.fs.WatchList())
	w.dirs, w.names = map[string]bool{}, map[string]bool{}
	for _, dir := range w.places.Watched() {
		w.dirs[dir] = true
		w.followPath(filepath.Join(dir, "x"))
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !trust.Ignored(e.Name()) && !strings.HasSuffix(e.Name(), ".lua") {
				w.followPath(filepath.Join(dir, e.Name(), "init.lua"))
			}
		}
	}
	for _, dir := range w.hooks.agentFolders() {
		if info, err := os.Stat(dir); err == nil && info.IsDir() { // else it is looked at when an agent is used
			w.dirs[dir] = true
			w.followPath(filepath.Join(dir, "x"))
		}
	}
	for _, path := range w.places.Named() {
		w.followPath(path)
		w.followPath(filepath.Join(path, "init.lua"))
	}
	for _, path := range w.hooks.files() {
		w.followPath(path)
	}
	return len(w.fs.WatchList()) > before
}

// followPath watches the directory of a file or, where that does not exist, the
// first one above it that does, and one more, so that what is removed and made again
// as a whole is seen. Symbolic links on the way are followed.
func (w *watcher) followPath(path string) {
	w.names[path] = true
	for there := 0; there < 2 && path != filepath.Dir(path); {
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			if !w.names[target] {
				w.followPath(target)
			}
		}
		path = filepath.Dir(path)
		w.names[path] = true
		if w.fs.Add(path) == nil {
			there++
		}
	}
}

// matters reports whether an event is about a file that decides what the hooks are. A change
// of its mode does not.
func (w *watcher) matters(e fsnotify.Event) bool {
	switch {
	case e.Op == fsnotify.Chmod:
		return false
	case w.names[e.Name]:
		return true
	}
	return w.dirs[filepath.Dir(e.Name)] && !trust.Ignored(filepath.Base(e.Name))
}
