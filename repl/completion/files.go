package completion

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/internal/fuzzy"
	"pi/internal/gitignore"
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

const (
	mostPaths = 100_000 // that are indexed, those near the project's folder first
	racy      = time.Second
)

// tree is what is known of a project's folders, so that only those that changed are read
// again. One goroutine at a time uses it.
type tree struct {
	dir   string
	root  *node
	paths []string
}

// node is a folder.
type node struct {
	stamp   stamp
	ignores [3]stamp // of the ignore files that it may have
	rules   *gitignore.Rules
	names   []string         // of what is in it, with a slash behind folders
	folders map[string]*node // those that are entered, by name
}

// stamp is what changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
	racy     bool // it was changed so lately that another change may not be seen by it
}

func stampOf(info os.FileInfo) stamp {
	return stamp{info.ModTime(), info.Size(), time.Since(info.ModTime()) < racy}
}

// same reports whether nothing has changed between two stamps for sure.
func (s stamp) same(now stamp) bool {
	return !s.racy && s.modified.Equal(now.modified) && s.size == now.size
}

// visit is a folder that is to be looked at.
type visit struct {
	path  string // below the project, with a slash behind it; "" is the project itself
	old   *node  // as it was known
	into  map[string]*node
	rules *gitignore.Rules // of the folders above it
	anew  bool             // those have changed
}

// refresh looks at all folders, level by level, and reads those that changed. It returns
// the paths of all files and folders that are not ignored, those near the project's folder
// first, and whether they may have changed.
func (t *tree) refresh(ctx context.Context) (paths []string, changed bool) {
	top := map[string]*node{}
	changed = t.root == nil
	above := gitignore.None()
	if t.root != nil {
		above = t.root.rules
	}
	count := 0
	for visits := []visit{{old: t.root, into: top, rules: above}}; len(visits) > 0; visits = visits[1:] {
		v := visits[0]
		if ctx.Err() != nil {
			return t.paths, false
		}
		if count > mostPaths {
			break
		}
		n, differs := t.look(v)
		changed = changed || differs
		if n == nil {
			continue
		}
		v.into[name(v.path)] = n
		count += len(n.names)
		visits = append(visits, below(v, n)...)
	}
	t.root = top[""]
	if changed {
		t.paths = t.list()
	}
	return t.paths, changed
}

// name is the name of a folder by its path.
func name(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// below are the folders in one that was looked at. From here on n.folders has what is found
// now.
func below(v visit, n *node) (visits []visit) {
	var known map[string]*node
	anew := v.anew
	if v.old != nil {
		known, anew = v.old.folders, anew || v.old.rules != n.rules
	}
	n.folders = map[string]*node{}
	for _, name := range n.names {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			visits = append(visits, visit{path: v.path + name, old: known[folder], into: n.folders, rules: n.rules, anew: anew})
		}
	}
	return visits
}

// look returns a folder as it is now, and whether other names are in it than before. It is
// nil if it is gone, or is a link: those are not followed.
func (t *tree) look(v visit) (n *node, changed bool) {
	dir := filepath.Join(t.dir, filepath.FromSlash(v.path))
	info, err := os.Lstat(dir)
	if v.path == "" {
		info, err = os.Stat(dir)
	}
	if err != nil || !info.IsDir() {
		return nil, v.old != nil
	}
	now, ignores := stampOf(info), ignoresOf(dir)
	ruled := v.old != nil && !v.anew && slices.EqualFunc(v.old.ignores[:], ignores[:], stamp.same)
	if ruled && v.old.stamp.same(now) {
		return &node{stamp: v.old.stamp, ignores: v.old.ignores, rules: v.old.rules, names: v.old.names}, false
	}
	n = &node{stamp: now, ignores: ignores}
	switch {
	case ruled:
		n.rules = v.old.rules
	case v.path == "":
		n.rules = gitignore.For(dir, dir)
	default:
		n.rules = v.rules.With(dir)
	}
	n.names = readNames(dir, n.rules)
	return n, v.old == nil || !slices.Equal(v.old.names, n.names)
}

// ignoresOf are the stamps of the ignore files in a folder.
func ignoresOf(dir string) (stamps [3]stamp) {
	for i, name := range gitignore.Names() {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			stamps[i] = stampOf(info)
		}
	}
	return stamps
}

// readNames reads what is in a folder and not ignored.
func readNames(dir string, rules *gitignore.Rules) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && e.Name() == ".git" || !isTypeable(e.Name()) || rules.Ignores(filepath.Join(dir, e.Name()), e.IsDir()) {
			continue
		}
		names = append(names, e.Name()+slashOf(dir, e))
	}
	return names
}

// list are the paths of all that is known, level by level, and in a level the shorter
// first: of paths that match equally well the first is the best.
func (t *tree) list() (paths []string) {
	type folder struct {
		path string
		node *node
	}
	for level := []folder{{"", t.root}}; len(level) > 0; {
		var next []folder
		from := len(paths)
		for _, f := range level {
			if f.node == nil {
				continue
			}
			for _, name := range f.node.names {
				paths = append(paths, f.path+name)
			}
			for name, node := range f.node.folders {
				next = append(next, folder{f.path + name + "/", node})
			}
		}
		slices.SortFunc(paths[from:], func(a, b string) int {
			return cmp.Or(len(a)-len(b), strings.Compare(a, b))
		})
		level = next
	}
	return paths[:min(len(paths), mostPaths)]
}
