package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ledger is which version of each file is active, and what the disk has instead.
type ledger struct {
	home     *home
	active   map[string]Version      // by path: what was read
	pending  map[string]*pendingFile // of which the disk has another version
	marked   map[string]bool         // files of which the store may have a mark that is this program's to remove
	shown    map[string]Version      // by path: what a user was shown last
	askEdits bool                    // every change is pending
	kept     map[string]keptFile     // what is in the store of the active versions, by path
	changes  int                     // counts what changed in active and pending
}

// keptFile is a version in the form of the store.
type keptFile struct {
	File
	copied int64 // bytes of the copy that is kept; -1: there is none
}

// put makes a version of a file active.
func (l *ledger) put(path string, v Version) {
	l.active[path] = v
	l.changes++
}

func newLedger(h *home) ledger {
	return ledger{home: h, active: map[string]Version{}, pending: map[string]*pendingFile{}, marked: map[string]bool{}, shown: map[string]Version{}, kept: map[string]keptFile{}}
}

// change is a file whose version on the disk is not the active one.
type change struct {
	path    string
	scope   Scope
	was, is Version
}

// changed lists, in order, the paths that have another version on the disk than the active one.
// Withheld files are among them only if the disk has another version than the one that
// waits. For a file that nobody has read yet, the active version is the one from when w
// opened; w may be nil.
func (l *ledger) changed(paths map[string]Scope, w *openWindow) (list []change) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, ok := l.active[path]
		if !ok && w != nil { // nobody has read it yet
			was, ok = w.base[path]
		}
		if h := l.pending[path]; h != nil {
			was, ok = h.active, true
		}
		is := l.home.onDisk(path)
		if h := l.pending[path]; h != nil && h.now.same(is) {
			continue
		}
		if ok && !was.same(is) || !ok && is.exists() || l.pending[path] != nil {
			list = append(list, change{path, paths[path], was, is})
		}
	}
	return list
}

// withPending returns files and all pending files but settings, with their scopes.
func (l *ledger) withPending(files map[string]Scope) map[string]Scope {
	paths := maps.Clone(files)
	for path, h := range l.pending {
		if _, ok := paths[path]; !ok && !slices.Contains(l.home.configs, path) {
			paths[path] = h.scope
		}
	}
	return paths
}

// withhold keeps the new version of a changed file from taking effect: c.was stays active,
// or what was active already if the file waits. marked: tools could have changed it, so
// the next program has to withhold it too.
func (l *ledger) withhold(c change, marked bool) *pendingFile {
	h := l.pending[c.path]
	if h == nil {
		h = &pendingFile{active: c.was, scope: c.scope, since: time.Now().UTC()}
		l.pending[c.path] = h
	}
	l.put(c.path, h.active)
	h.now, h.marked = c.is, h.marked || marked || l.askEdits
	l.marked[c.path] = l.marked[c.path] || h.marked
	return h
}

// undo ends the withholding of a file that is again what is active, as is. If the bytes of that were lost,
// they are back.
func (l *ledger) undo(path string, is Version) {
	if h := l.pending[path]; h.active.exists() && h.active.Code == nil {
		l.put(path, is)
	}
	l.release(path)
}

// release ends the withholding of a file, which was approved or undone. The caller puts a
// active version; writeMarks removes the mark from the store.
func (l *ledger) release(path string) {
	delete(l.pending, path)
	delete(l.shown, path)
	l.changes++
}

// restore withholds a file as its mark in the store says: the version before is active
// again, from what was read or from the kept copy. A file that is again what it was is not
// pending, and what this look saw is active, for the next may see another file.
func (l *ledger) restore(path string, m Mark) {
	h := &pendingFile{now: l.home.onDisk(path), scope: Scope(m.Scope), since: m.Since, marked: true}
	h.active = Version{Sum: m.Old, real: m.Real}
	was, read := l.active[path]
	if m.Old == h.now.Sum && (m.Real == "" || m.Real == h.now.real) {
		if !read && h.now.exists() {
			l.put(path, h.now)
		}
		return
	}
	switch {
	case read && was.Sum == m.Old:
		h.active = was
	case m.Old == "":
		h.active.Err = fmt.Errorf("%s is %w", path, ErrNotApproved)
	case m.Old == h.now.Sum:
		h.active.Code, h.active.Err = h.now.Code, h.now.Err
	default:
		h.active.Code, h.active.Err = l.home.store.kept(cmp.Or(m.Kept, m.Old))
	}
	l.pending[path], l.marked[path] = h, true
	l.put(path, h.active)
}

// setMarks brings the marks in d in line with what this program withholds. Marks of files
// that it never withheld stay: another program may have written them.
func (l *ledger) setMarks(d *Data) {
	for path := range l.marked {
		if h := l.pending[path]; h == nil || !h.marked {
			delete(d.Pending, path)
		}
	}
	for path, h := range l.pending {
		if h.marked {
			l.marked[path] = true
			f := l.fileOf(path, h.active, h.scope)
			d.Pending[path] = Mark{Old: f.Sum, Kept: f.Kept, New: h.now.Sum, Real: f.Real, Scope: f.Scope, Since: h.since}
		}
	}
}

// noteMarked notes that the store has the marks of setMarks, and no others of this program: one of
// a file that does not wait here is another program's from now on.
func (l *ledger) noteMarked() {
	maps.DeleteFunc(l.marked, func(path string, _ bool) bool { return l.pending[path] == nil || !l.pending[path].marked })
}

// fileOf returns a version in the form of the store and keeps a copy of its bytes, so that a
// later program can make it active. The copy of settings has no keys, and so another hash.
func (l *ledger) fileOf(path string, v Version, scope Scope) File {
	k, known := l.kept[path]
	known = known && k.Sum == v.Sum && k.Real == v.real && k.Scope == string(scope)
	if known && (k.copied < 0 || l.home.store.HasKept(cmp.Or(k.Kept, k.Sum), k.copied)) {
		return k.File
	}
	f := File{Sum: v.Sum, Real: v.real, Scope: string(scope)}
	copied := int64(-1)
	if code, ok := l.home.masked(path, v.Code); ok && l.home.store != nil && scope != scopeInstructions {
		// If it cannot be kept, the mark has no copy, and a later program reports it as lost.
		kept, err := l.home.store.Keep(code)
		if kept != f.Sum {
			f.Kept = kept
		}
		if err != nil {
			return f
		}
		copied = int64(len(code))
	}
	l.kept[path] = keptFile{f, copied}
	return f
}
