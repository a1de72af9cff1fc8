package trust

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Window is the time in which tools could have changed a file: from the first
// tool on until the agent has settled and the processes that tools started have
// ended. It is a file, so that it is known also after this program has ended
// while such a process has not, or has ended without a word.
type Window struct {
	f    *os.File // locked as long as its owner lives
	size int64    // of what was written
}

// Baseline is what the files were when a window opened.
type Baseline struct {
	Store string          `json:"store"` // hash of trust.json; "" without one
	Files map[string]File `json:"files"`
	Dirs  []Dir           `json:"dirs"`
	Asks  bool            `json:"asks,omitempty"` // every change is asked about, so the window never closes
	Boot  string          `json:"boot,omitempty"` // which start of the machine process groups belong to
}

// File is one version of a file.
type File struct {
	Sum   string `json:"sum,omitempty"` // "": there was none
	Real  string `json:"real,omitempty"`
	Scope string `json:"scope,omitempty"`
}

// Dir is a directory in which a new file would be a hook.
type Dir struct {
	Path  string `json:"path"`
	Scope string `json:"scope"`
}

// Leftover is a window whose owner is no more.
type Leftover struct {
	Baseline
	Groups []int // process groups that tools had started
	path   string
}

// windowLine is what follows the baseline in the file: a process group, a version
// that a person approved meanwhile, or what was written to the store since.
type windowLine struct {
	Group int     `json:"group,omitempty"`
	Path  string  `json:"path,omitempty"`
	File  *File   `json:"file,omitempty"`
	Store *string `json:"store,omitempty"`
}

const windowPrefix = "window-"

// OpenWindow writes down what the files are.
func (s *Store) OpenWindow(b Baseline) (*Window, error) {
	unlock, err := s.lock() // so that nobody sees it before it is locked
	if err != nil {
		return nil, fmt.Errorf("note the files before tools run: %w", err)
	}
	defer unlock()
	b.Boot = bootID()
	raw, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Dir(), windowPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("note the files before tools run: %w", err)
	}
	raw = append(raw, '\n')
	if err = lockFile(f); err == nil {
		_, err = f.Write(raw)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("note the files before tools run: %w", err)
	}
	return &Window{f, int64(len(raw))}, nil
}

// Group notes a process group that a tool started.
func (w *Window) Group(group int) error { return w.add(windowLine{Group: group}) }

// Approved notes that a person approved a version.
func (w *Window) Approved(path string, f File) error {
	return w.add(windowLine{Path: path, File: &f})
}

// Stored notes what this program wrote to the store.
func (w *Window) Stored(sum string) error { return w.add(windowLine{Store: &sum}) }

func (w *Window) add(l windowLine) error {
	n, err := addLine(w.f, l)
	w.size += int64(n)
	return err
}

func addLine(f *os.File, l windowLine) (n int, err error) {
	raw, err := json.Marshal(l)
	if err == nil {
		n, err = f.Write(append(raw, '\n'))
	}
	return n, err
}

// Approved notes that a person approved a version.
func (w Leftover) Approved(path string, f File) error {
	return w.add(windowLine{Path: path, File: &f})
}

// Stored notes what this program wrote to the store.
func (w Leftover) Stored(sum string) error { return w.add(windowLine{Store: &sum}) }

func (w Leftover) add(l windowLine) error {
	f, err := openRegular(w.path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = addLine(f, l)
	return err
}

// Close ends the window: nothing is left to find.
func (w *Window) Close() {
	os.Remove(w.f.Name())
	w.f.Close()
}

// Leave lets go of a window that stays open, for the next program to find.
func (w *Window) Leave() Leftover {
	w.f.Close()
	return Leftover{path: w.f.Name()}
}

// Intact reports whether the file is where others will look for it, as it was
// written here.
func (w *Window) Intact() bool {
	mine, err := w.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(w.f.Name())
	return err == nil && os.SameFile(mine, there) && there.Size() == w.size
}

// Windows lists the windows that other programs left behind and those that they
// have open. own may be nil.
func (s *Store) Windows(own *Window) (left, open []Leftover) {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(s.Dir()), windowPrefix+"*"))
	if len(names) == 0 || len(names) == 1 && own != nil && names[0] == own.f.Name() {
		return nil, nil
	}
	// The lock keeps this from being in the way of who makes a window just now; who
	// holds it for long does not keep windows from being found.
	if unlock, err := s.lock(); err == nil {
		defer unlock()
	}
	for _, name := range names {
		if own != nil && name == own.f.Name() {
			continue
		}
		w, isOpen, err := readWindow(name)
		switch {
		case err != nil: // it ended before its first tool, or is not ours
		case isOpen:
			open = append(open, w)
		default:
			left = append(left, w)
		}
	}
	return left, open
}

// Name tells windows apart.
func (w Leftover) Name() string { return w.path }

// Was returns what a file was when the window opened or was approved since. It is
// known also of what was not there, where it would have been seen.
func (w Leftover) Was(path string) (f File, known bool) {
	if f, known = w.Files[path]; known {
		return f, true
	}
	for _, dir := range w.Dirs {
		if strings.HasPrefix(path, dir.Path+string(filepath.Separator)) {
			return File{Scope: dir.Scope}, true
		}
	}
	return File{}, false
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func readWindow(name string) (w Leftover, open bool, err error) {
	f, err := openRegular(name, os.O_RDWR)
	if err != nil {
		return w, false, err
	}
	defer f.Close()
	open = errors.Is(lockFile(f), errLocked)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxStore)
	for first := true; lines.Scan(); first = false {
		if first {
			err = json.Unmarshal(lines.Bytes(), &w.Baseline)
		} else {
			w.note(lines.Bytes())
		}
	}
	if w.Files == nil && err == nil {
		err = errors.New("no window")
	}
	w.path = name
	if w.Boot != bootID() {
		w.Groups = nil
	}
	return w, open, err
}

func (w *Leftover) note(line []byte) {
	var l windowLine
	switch {
	case json.Unmarshal(line, &l) != nil:
	case l.Group > 1:
		w.Groups = append(w.Groups, l.Group)
	case l.File != nil && w.Files != nil:
		w.Files[l.Path] = *l.File
	case l.Store != nil:
		w.Store = *l.Store
	}
}

// Forget removes a window that was dealt with.
func (s *Store) Forget(w Leftover) { os.Remove(w.path) }

// bootID tells starts of the machine apart, where that can be known: the numbers
// of process groups begin anew with each.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}
