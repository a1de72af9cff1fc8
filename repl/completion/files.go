package completion

import (
	"context"
	"strings"
	"sync"
	"time"

	"pi/internal/fuzzy"
)

const (
	fresh    = time.Second           // how long a list of files counts as new
	patience = 20 * time.Millisecond // how long somebody who types waits for a newer one
)

// Files is the index of a project's files, those aside that git ignores. Nothing is read
// before the first question; then all folders are read, in the background, and later only
// those that have changed. It may be used by any goroutine.
type Files struct {
	dir string

	mu      sync.Mutex
	reading chan struct{} // closed when the reading that is under way ends; nil if none is
	readAt  time.Time     // when the last one began
	seen    *index        // nil before the first

	tree   *tree // of the goroutine that reads
	ctx    context.Context
	cancel context.CancelFunc
}

// index is what one reading has found.
type index struct {
	paths   []string
	visible *fuzzy.Index
	shown   []int        // of visible: the positions in paths
	all     *fuzzy.Index // with hidden files; nil before somebody asks for them
}

// NewFiles returns the index of the files below dir, an absolute path. Close ends it.
func NewFiles(dir string) *Files {
	f := &Files{dir: dir, tree: &tree{dir: dir}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Refresh begins to read what has changed, unless that was done within the last second or
// is under way. The channel is closed when it is done; nil, if nothing is.
func (f *Files) Refresh() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading == nil && f.ctx.Err() == nil && (f.seen == nil || time.Since(f.readAt) > fresh) {
		done := make(chan struct{})
		f.reading, f.readAt = done, time.Now()
		go f.read(done)
	}
	if f.reading == nil {
		return nil
	}
	return f.reading
}

// read brings the index up to date.
func (f *Files) read(done chan struct{}) {
	defer close(done)
	paths, changed := f.tree.refresh(f.ctx)
	var next *index
	if changed || f.seen == nil {
		next = newIndex(paths)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reading = nil
	if next != nil && f.ctx.Err() == nil {
		f.seen = next
	}
}

func newIndex(paths []string) *index {
	x := &index{paths: paths}
	var visible []string
	for i, path := range paths {
		if !isHidden(path) {
			visible, x.shown = append(visible, path), append(x.shown, i)
		}
	}
	x.visible = fuzzy.NewIndex(visible)
	return x
}

// isHidden reports whether a part of a path begins with a dot.
func isHidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

// Find returns at most so many paths that have the typed characters in their order, the
// best first. They are relative, with slashes, and those of folders end in one. Hidden
// files are found when a dot is typed at the beginning or behind a slash. It waits for the
// first reading as long as ctx allows; later it waits 20 ms at most for what is new.
func (f *Files) Find(ctx context.Context, typed string, most int) []string {
	f.await(ctx, f.Refresh())
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		return nil
	}
	return f.seen.find(typed, most)
}

// await waits for a reading: for the first one to its end, for others a short while.
func (f *Files) await(ctx context.Context, done <-chan struct{}) {
	if done == nil {
		return
	}
	f.mu.Lock()
	first := f.seen == nil
	f.mu.Unlock()
	var late <-chan time.Time
	if !first {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-done:
	case <-late:
	case <-ctx.Done():
	}
}

func (x *index) find(typed string, most int) (found []string) {
	if isHidden(typed) {
		if x.all == nil {
			x.all = fuzzy.NewIndex(x.paths)
		}
		for _, i := range x.all.Best(typed, most) {
			found = append(found, x.paths[i])
		}
		return found
	}
	for _, i := range x.visible.Best(typed, most) {
		found = append(found, x.paths[x.shown[i]])
	}
	return found
}

// Close ends a reading that is under way, and waits for that.
func (f *Files) Close() {
	f.cancel()
	f.mu.Lock()
	reading := f.reading
	f.mu.Unlock()
	if reading != nil {
		<-reading
	}
}
