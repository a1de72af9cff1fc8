package examples

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"pi/internal/safefile"
	"pi/luahooks/trust"
)

// State is what an agent directory has of an example.
type State string

const (
	Absent  State = ""
	Current State = "added"   // as the program has it
	Older   State = "older"   // as an earlier version of the program has written it
	Changed State = "changed" // the user has made another hook of it, or has one of this name
)

// Added knows which examples were written into an agent directory. That is no approval of
// anything: it only tells what the user has not changed since.
type Added struct {
	places trust.Places
	sums   map[string]sums // by the names of the examples
}

// sums are those of the files of an example, as they were written.
type sums struct {
	Hook string `json:"hook"`
	Test string `json:"test"`
}

func (e Example) sums() sums { return sums{trust.Sum([]byte(e.Hook)), trust.Sum([]byte(e.Test))} }

// maxAdded is more than the file can have.
const maxAdded = 1 << 20

func lockPath(p trust.Places) string { return filepath.Join(p.AgentDir, "examples.lock") }

// ReadAdded reads what was written into an agent directory. What is no such file knows nothing:
// the examples count as changed then, and the error says so.
func ReadAdded(p trust.Places) (Added, error) {
	a := Added{places: p, sums: map[string]sums{}}
	raw, err := safefile.Read(lockPath(p), maxAdded)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		a.sums, err = parseAdded(raw)
	}
	if err != nil {
		return a, fmt.Errorf("read %s: %w", lockPath(p), err)
	}
	return a, nil
}

func parseAdded(raw []byte) (map[string]sums, error) {
	var list struct {
		Examples map[string]sums `json:"examples"`
	}
	err := json.Unmarshal(raw, &list)
	if list.Examples == nil {
		list.Examples = map[string]sums{}
	}
	return list.Examples, err
}

// State says what there is of an example.
func (a Added) State(e Example) State {
	hook, err := a.sumOf(e.Name + ".lua")
	if errors.Is(err, fs.ErrNotExist) {
		return Absent
	}
	test, missing := a.sumOf(e.Name + "_test.lua")
	has := func(s sums) bool { // a test that was taken away changes no hook
		return err == nil && hook == s.Hook && (errors.Is(missing, fs.ErrNotExist) || missing == nil && test == s.Test)
	}
	switch {
	case has(e.sums()):
		return Current
	case has(a.sums[e.Name]):
		return Older
	}
	return Changed
}

// sumOf is that of a file among the hooks.
func (a Added) sumOf(base string) (string, error) {
	code, err := safefile.Read(filepath.Join(a.places.GlobalDir(), base), trust.MaxHook)
	return trust.Sum(code), err
}

// Known reports whether an example was written by the program, now or earlier.
func (a Added) Known(e Example) bool { return a.sums[e.Name] != sums{} }

// Note remembers that an example was written into an agent directory as it is.
func Note(p trust.Places, e Example) error {
	return change(p, func(known map[string]sums) { known[e.Name] = e.sums() })
}

// Drop forgets an example that was removed.
func Drop(p trust.Places, e Example) error {
	return change(p, func(known map[string]sums) { delete(known, e.Name) })
}

// change changes what is remembered, while others wait.
func change(p trust.Places, edit func(known map[string]sums)) error {
	read := func(path string) ([]byte, error) { return safefile.Read(path, maxAdded) }
	err := safefile.Change(lockPath(p), read, func(old []byte) ([]byte, error) {
		known, err := parseAdded(old)
		if err != nil {
			known = map[string]sums{} // of what nobody can read nothing is known
		}
		edit(known)
		text, err := json.MarshalIndent(map[string]any{"examples": known}, "", "  ")
		return append(text, '\n'), err
	})
	if err != nil {
		return fmt.Errorf("remember what was added: %w", err)
	}
	return nil
}
