package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Editors save in many ways: in place, in pieces, to a temporary file that is
// renamed, by moving the old file away first. So directories are watched, never
// files; a change is looked at when nothing more came for a while; and what is
// looked at is the bytes, not the event.
const (
	settle    = 50 * time.Millisecond  // without a further event
	settleMax = 250 * time.Millisecond // however many come
)

// watcher reloads the chain when files change. A nil one does nothing.
type watcher struct {
	chain *Chain
	fs    *fsnotify.Watcher
	done  chan struct{}

	mu   sync.Mutex
	dirs map[string]bool
}

// Watch makes changes of hook files take effect until [Chain.Close]. Without it
// only [Chain.Reload] does.
func (c *Chain) Watch(ctx context.Context) error {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w := &watcher{chain: c, fs: fs, done: make(chan struct{}), dirs: map[string]bool{}}
	w.followPlaces()
	for _, h := range c.list() {
		w.follow([]string{h.Path, h.Real})
		if in := h.current(); in != nil {
			w.follow(in.files())
		}
	}
	c.changes.Lock()
	c.watcher = w
	c.changes.Unlock()
	go w.run(ctx)
	return nil
}

func (w *watcher) close() {
	if w == nil {
		return
	}
	w.fs.Close()
	<-w.done
}

// follow watches the directories of files.
func (w *watcher) follow(files []string) {
	if w == nil {
		return
	}
	for _, f := range files {
		w.add(filepath.Dir(f))
	}
}

func (w *watcher) add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fs.Add(dir); err == nil { // adding again is free, and heals a watch that was lost
		w.dirs[dir] = true
	}
}

// followPlaces watches the hook directories, what is in them, and their parents,
// so that a directory that appears later is seen.
func (w *watcher) followPlaces() {
	p := w.chain.opts.Places
	roots := []string{p.GlobalDir()}
	if p.TrustProject {
		roots = append(roots, p.ProjectDir())
	}
	if p.NoHooks {
		roots = nil
	}
	for _, dir := range roots {
		w.add(dir)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() && !ignored(e.Name()) {
				w.add(filepath.Join(dir, e.Name()))
			}
		}
		w.add(filepath.Dir(dir))
		w.add(filepath.Dir(filepath.Dir(dir)))
	}
}

// run collects events and reloads when they have settled. It sleeps while
// nothing happens.
func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	var first time.Time
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if !w.matters(e) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			timer.Reset(max(0, min(settle, settleMax-time.Since(first))))
		case _, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			timer.Reset(settle) // events were lost; look at everything
		case <-timer.C:
			first = time.Time{}
			w.followPlaces()
			w.chain.Reload(ctx, false)
		}
	}
}

// matters reports whether an event can be a change of a hook.
func (w *watcher) matters(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	base := filepath.Base(e.Name)
	if ignored(base) && base != ".pi" {
		return false
	}
	if strings.HasSuffix(base, ".lua") || base == "hooks" || base == ".pi" || base == filepath.Base(w.chain.opts.Places.AgentDir) {
		return true
	}
	return strings.HasPrefix(e.Name, w.chain.opts.Places.GlobalDir()) || strings.HasPrefix(e.Name, w.chain.opts.Places.ProjectDir()) || w.isLinked(e.Name)
}

// isLinked reports whether a hook is a symbolic link to this file.
func (w *watcher) isLinked(path string) bool {
	for _, h := range w.chain.list() {
		if h.Real == path || filepath.Dir(h.Real) == path {
			return true
		}
	}
	return false
}
