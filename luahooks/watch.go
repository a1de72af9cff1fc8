package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
}

// Watch makes changes of hook files take effect until [Chain.Close]. Without it
// only [Chain.Reload] does.
func (c *Chain) Watch(ctx context.Context) error {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w := &watcher{chain: c, fs: fs, done: make(chan struct{})}
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

// add watches a directory and reports whether it is there. Adding again is free,
// and heals a watch that was lost with its directory.
func (w *watcher) add(dir string) bool { return w.fs.Add(dir) == nil }

// followPlaces watches the hook directories and what is in them. Above them it
// watches up to a directory that exists, and two more, so that one that appears
// later, or goes and comes again, is seen.
func (w *watcher) followPlaces() {
	for _, dir := range w.chain.opts.Places.watched() {
		w.add(dir)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() && !ignored(e.Name()) {
				w.add(filepath.Join(dir, e.Name()))
			}
		}
		w.followUp(filepath.Dir(dir))
	}
}

func (w *watcher) followUp(dir string) {
	for there := 0; there < 2; dir = filepath.Dir(dir) {
		if w.add(dir) {
			there++
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// watched are the directories whose content decides which hooks there are.
func (p Places) watched() []string {
	switch {
	case p.NoHooks:
		return nil
	case p.TrustProject:
		return []string{p.GlobalDir(), p.ProjectDir()}
	}
	return []string{p.GlobalDir()}
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
	if strings.HasSuffix(e.Name, ".lua") {
		return !ignored(filepath.Base(e.Name))
	}
	for _, dir := range w.chain.opts.Places.watched() {
		if isAbove(e.Name, dir) || isAbove(dir, e.Name) && !ignored(filepath.Base(e.Name)) {
			return true
		}
	}
	return w.isLinked(e.Name)
}

// isAbove reports whether path is dir or lies below it.
func isAbove(dir, path string) bool {
	return dir == path || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
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
