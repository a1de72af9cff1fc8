package packages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/luahooks/trust"
)

// Lock is the content of packages.lock ([trust.LockFile]), which says where each package came from. It
// approves nothing.
type Lock struct {
	Version  int              `json:"version"`
	Packages map[string]Entry `json:"packages"` // by name
}

// Entry is what is known of one package.
type Entry struct {
	Kind   Kind              `json:"kind"`
	Source string            `json:"source"`           // the address, see [Source]
	Ref    string            `json:"ref,omitempty"`    // of a repository
	Commit string            `json:"commit,omitempty"` // of a repository
	Named  string            `json:"named,omitempty"`  // what the reference named there, see [Fetched]
	Sum    string            `json:"sum"`              // of all, see [Tree.Sum]
	Files  map[string]string `json:"files"`            // the SHA-256 of each, by its path in the package
}

// entryOf is the entry of a package.
func entryOf(p *Package) Entry {
	return Entry{Kind: p.Source.Kind, Source: p.Source.Address, Ref: p.Source.Ref, Commit: p.Commit, Named: p.Named, Sum: p.Sum(), Files: p.Files.Sums()}
}

// From is the source of an entry, checked as one that a user writes, for somebody may have changed the lock.
func (e Entry) From() (Source, error) {
	s := Source{Kind: e.Kind, Address: e.Source, Ref: e.Ref}
	bad := fmt.Errorf("%s has a source that is none: %s", trust.LockFile, printable.Short(printable.VisibleLine(e.Source)))
	if filepath.IsAbs(e.Source) {
		isWhole := e.Kind == Folder || e.Kind == File && strings.HasSuffix(e.Source, ".lua") || e.Kind == Git && checkGitPath(s) == nil
		if !isWhole || printable.VisibleLine(e.Source) != e.Source {
			return Source{}, bad
		}
		return s, nil
	}
	text := s.String()
	parsed, err := ParseSource(text, string(filepath.Separator), func(string) What { return Nothing })
	if err != nil || parsed != s {
		return Source{}, errors.Join(bad, err)
	}
	return s, nil
}

const (
	lockVersion = 1
	maxLock     = 16 << 20
)

// ParseLock reads the bytes of packages.lock; nil is that of an agent directory without packages.
func ParseLock(text []byte) (Lock, error) {
	l := Lock{Version: lockVersion, Packages: map[string]Entry{}}
	if text == nil {
		return l, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Lock{}, fmt.Errorf("not what pi writes: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Lock{}, errors.New("not what pi writes: something follows it")
	}
	if l.Version != lockVersion {
		return Lock{}, fmt.Errorf("version %d is not known", l.Version)
	}
	for name, e := range l.Packages {
		if err := CheckName(name); err != nil {
			return Lock{}, err
		}
		for file := range e.Files {
			if err := checkPath(file); err != nil {
				return Lock{}, fmt.Errorf("package %s: %w", name, err)
			}
		}
	}
	if l.Packages == nil {
		l.Packages = map[string]Entry{}
	}
	return l, nil
}

// Names lists the packages in their order.
func (l Lock) Names() []string { return slices.Sorted(maps.Keys(l.Packages)) }

// with is the lock with another entry of a name; nil: without one.
func (l Lock) with(name string, e *Entry) Lock {
	all := maps.Clone(l.Packages)
	if delete(all, name); e != nil {
		all[name] = *e
	}
	return Lock{Version: lockVersion, Packages: all}
}

// encode writes the lock: the same packages come to the same bytes.
func (l Lock) encode() ([]byte, error) {
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}
