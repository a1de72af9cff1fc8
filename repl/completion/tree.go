package completion

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/internal/gitignore"
)

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
