package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxStore is far above what thousands of projects need.
const maxStore = 8 << 20

// storeVersion is the version of the file's form. That of version 2 is the same, and Prev beside
// it: of what it replaced, and its store had a second copy.
const storeVersion = 3

// Data is the content of a store.
type Data struct {
	Version  int                 `json:"version"`
	Projects map[string]*Project `json:"projects,omitempty"` // by absolute directory
	Pending  map[string]Mark     `json:"pending,omitempty"`  // by absolute path
	Known    Known               `json:"known"`
	Windows  map[string]Window   `json:"windows,omitempty"` // by the name of their file
	// Spoken are instructions of the agent directory that changed while tools ran, by
	// path, until a user was told at a start.
	Spoken map[string]time.Time `json:"spoken,omitempty"`
	Prev   string               `json:"prev,omitempty"` // only in version 2
	Sum    string               `json:"sum"`            // of all the above
}

// Project is what a user decided about one directory.
type Project struct {
	Never bool              `json:"never,omitempty"` // nothing of it runs, and nobody is asked
	Files map[string]string `json:"files,omitempty"` // absolute path → SHA-256
	By    map[string]string `json:"by,omitempty"`    // absolute path → the hook that approved it; of others a user did
}

// Mark is a file that changed while tools could have done it. Old is active
// until a user approves New.
type Mark struct {
	Old   string    `json:"old,omitempty"`  // SHA-256; empty: there was no such file
	Kept  string    `json:"kept,omitempty"` // of the copy that is kept of it, where that is another
	New   string    `json:"new,omitempty"`  // empty: there is none any more
	Real  string    `json:"real,omitempty"`
	Scope string    `json:"scope,omitempty"` // of a hook; empty for what is none
	Since time.Time `json:"since"`
}

// Known is the versions that were active when a window opened last. A file that differs
// while the window is open, or did when its program ended, is pending.
type Known struct {
	Files map[string]File   `json:"files,omitempty"` // by absolute path
	Dirs  map[string]string `json:"dirs,omitempty"`  // directory → scope of a file that appears there
}

// File is one version of a file.
type File struct {
	Sum   string `json:"sum,omitempty"`  // "": there was none
	Kept  string `json:"kept,omitempty"` // of the copy that is kept of it, where that is another
	Real  string `json:"real,omitempty"`
	Scope string `json:"scope,omitempty"`
}

// Was returns the version of a file that was active. known is true also for a file that
// was not there, if it lies in one of the directories that were listed; its Sum is "".
func (k Known) Was(path string) (f File, known bool) {
	if f, known = k.Files[path]; known {
		return f, true
	}
	for dir, scope := range k.Dirs {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return File{Scope: scope}, true
		}
	}
	return File{}, false
}

func empty() Data {
	return Data{Version: storeVersion, Projects: map[string]*Project{}, Pending: map[string]Mark{}, Windows: map[string]Window{}, Spoken: map[string]time.Time{},
		Known: Known{map[string]File{}, map[string]string{}}}
}

// clone returns a copy of the data in the form of this version, in which an empty map stands for
// one that a file left out.
func (d Data) clone() Data {
	c := empty()
	for dir, p := range d.Projects {
		c.Projects[dir] = &Project{Never: p.Never, Files: maps.Clone(p.Files), By: maps.Clone(p.By)}
	}
	for name, w := range d.Windows {
		w.Groups = slices.Clone(w.Groups)
		c.Windows[name] = w
	}
	maps.Copy(c.Pending, d.Pending)
	maps.Copy(c.Known.Files, d.Known.Files)
	maps.Copy(c.Known.Dirs, d.Known.Dirs)
	maps.Copy(c.Spoken, d.Spoken)
	return c
}

// Project returns the record of a project, for the caller to change. It adds an empty one if
// there is none.
func (d *Data) Project(dir string) *Project {
	p := d.Projects[dir]
	if p == nil {
		p = &Project{}
		d.Projects[dir] = p
	}
	if p.Files == nil {
		p.Files = map[string]string{}
	}
	return p
}

// approve notes approvals of files, by path, and which hook gave them; "": a user did.
func (p *Project) approve(sums map[string]string, hook string) {
	maps.Copy(p.Files, sums)
	for path := range sums {
		if delete(p.By, path); hook == "" {
			continue
		}
		if p.By == nil {
			p.By = map[string]string{}
		}
		p.By[path] = hook
	}
}

// approve adds what another store approves and refuses.
func (d *Data) approve(theirs map[string]*Project) {
	for dir, p := range theirs {
		mine := d.Project(dir)
		mine.Never = p.Never
		maps.Copy(mine.Files, p.Files)
	}
}

// ApprovesLike reports whether two stores approve the same files and refuse the same projects.
func (d Data) ApprovesLike(other Data) bool {
	return maps.EqualFunc(d.Projects, other.Projects, func(a, b *Project) bool {
		return a.Never == b.Never && maps.Equal(a.Files, b.Files)
	})
}

// encode returns the bytes of a store, with the hash of the rest in the field sum. The same
// data has always the same bytes.
func (d Data) encode() ([]byte, error) {
	d.Sum = ""
	raw, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	d.Sum = Sum(raw)
	raw, err = json.MarshalIndent(d, "", "  ")
	return append(raw, '\n'), err
}

// parseData parses the bytes of a store. It refuses what is not byte for byte the output
// of encode.
func parseData(raw []byte) (Data, error) {
	d, err := decode(raw)
	if err != nil {
		return empty(), err
	}
	if again, err := d.encode(); err != nil || !bytes.Equal(again, raw) {
		return empty(), errors.New("not what pi wrote: somebody else has changed it")
	}
	return d.clone(), nil
}

// parseForeign parses the bytes of a store that somebody else may have written. It
// accepts nothing that it does not understand whole.
func parseForeign(raw []byte) (Data, error) {
	d, err := decode(raw)
	return d.clone(), err
}

// decode parses the bytes of a store as they are, of any version that is known. With an error
// it returns no data.
func decode(raw []byte) (d Data, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Data{}, fmt.Errorf("not what pi writes: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Data{}, errors.New("not what pi writes: something follows it")
	}
	if d.Version != storeVersion && d.Version != 2 {
		return Data{}, fmt.Errorf("version %d is not known", d.Version)
	}
	if err := d.check(); err != nil {
		return Data{}, err
	}
	return d, nil
}

// check returns an error if a path, a hash or the name of a window in the data does not have
// the form of one.
func (d *Data) check() error {
	for dir, p := range d.Projects {
		if !isPath(dir) || p == nil {
			return fmt.Errorf("project %q: an absolute path and a record are expected", dir)
		}
		for path, sum := range p.Files {
			if !isPath(path) || !isSum(sum) {
				return fmt.Errorf("file %q: a path and its SHA-256 are expected", path)
			}
		}
	}
	for path, m := range d.Pending {
		if !isPath(path) || !areSums(m.Old, m.Kept, m.New) {
			return fmt.Errorf("pending %q: a path and hashes are expected", path)
		}
	}
	for path, f := range d.Known.Files {
		if !isPath(path) || !areSums(f.Sum, f.Kept) {
			return fmt.Errorf("known %q: a path and hashes are expected", path)
		}
	}
	for name := range d.Windows {
		if !isRunning(name) {
			return fmt.Errorf("window %q: the name of its file is expected", name)
		}
	}
	return nil
}

func isPath(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// Unreadable stands for the hash of a file that is there and cannot be read.
const Unreadable = "unreadable"

func isSum(sum string) bool {
	b, err := hex.DecodeString(sum)
	return sum == Unreadable || err == nil && len(b) == sha256.Size
}

// areSums reports whether all of sums are hashes, or "", which stands for no file.
func areSums(sums ...string) bool {
	return !slices.ContainsFunc(sums, func(sum string) bool { return sum != "" && !isSum(sum) })
}

// approvalText is the part of a store that a user decides about, as text.
func approvalText(d Data) []byte {
	raw, _ := json.MarshalIndent(d.Projects, "", "  ")
	return raw
}

func now() time.Time { return time.Now().UTC() }

// Sum is the SHA-256 of a file's bytes, in hexadecimal.
func Sum(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// sumOf is Sum, and "" for no file.
func sumOf(raw []byte) string {
	if raw == nil {
		return ""
	}
	return Sum(raw)
}
