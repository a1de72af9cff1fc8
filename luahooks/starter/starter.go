// Package starter has a first version of a hook of each kind, with its test: short, commented
// for somebody who learns from it, and right as it is. They are Lua files of this folder, in
// which NAME stands for the name of the hook, IDENT for what a tool can be called, and VARIABLE for
// the beginning of what a variable of the environment can be called.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pi/internal/safefile"
	"pi/internal/suggest"
)

//go:embed *.lua
var files embed.FS

// Kinds are those of the hooks that there are, the usual one first.
func Kinds() []string {
	return []string{"gate", "command", "tool", "model", "context", "ui", "loop", "provider"}
}

// testSuffix is how the names of test files end, without .lua.
const testSuffix = "_test"

// Starter is a hook that is to be written.
type Starter struct {
	Name, Kind string
	Dir        string // where it is written: among the hooks, or the drafts
	// CopyOf is the folder of the hook of this name that is copied, with its test, instead of a first
	// version of the kind; "" for none.
	CopyOf string
}

// Hook is the path of the hook.
func (s Starter) Hook() string { return filepath.Join(s.Dir, s.Name+".lua") }

// Test is the path of its test.
func (s Starter) Test() string { return filepath.Join(s.Dir, s.Name+testSuffix+".lua") }

// Check returns an error for a name or a kind that no hook can have. taken are the names of
// commands that a hook cannot have.
func (s Starter) Check(taken []string) error {
	switch {
	case !slices.Contains(Kinds(), s.Kind):
		return fmt.Errorf("no kind of hook %q%s; there are %s", s.Kind, suggest.Hint(s.Kind, Kinds()), strings.Join(Kinds(), ", "))
	case !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`).MatchString(s.Name):
		return fmt.Errorf("%q is no name for a hook: it begins with a letter, and letters, digits, _ and - follow", s.Name)
	case strings.HasSuffix(s.Name, testSuffix):
		return fmt.Errorf("a hook cannot be called %s: files whose names end in %s are tests", s.Name, testSuffix)
	case s.Kind == "command" && slices.Contains(taken, s.Name):
		return fmt.Errorf("/%s is a command of pi; a hook has another name", s.Name)
	}
	return nil
}

// Write writes the test and then the hook, so that nothing is in force before it can be tested.
// A file that is there is never changed, and after an error nothing is left.
func (s Starter) Write() error {
	for _, path := range []string{s.Hook(), s.Test(), filepath.Join(s.Dir, s.Name)} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already", path)
		}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("write hook %s: %w", s.Name, err)
	}
	err := s.writeFile(s.Test())
	if err != nil {
		return err
	}
	if err = s.writeFile(s.Hook()); err != nil {
		return errors.Join(err, os.Remove(s.Test()))
	}
	return nil
}

// writeFile writes the hook or its test where nothing is yet.
func (s Starter) writeFile(to string) error {
	text, err := s.textOf(filepath.Base(to))
	if err == nil {
		err = safefile.Create(to, text)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", to)
	}
	if err != nil {
		return fmt.Errorf("write hook %s: %w", s.Name, err)
	}
	return nil
}

// maxCopied is how long a file may be that is copied.
const maxCopied = 1 << 20

// textOf is what is written into the file called base. A hook that is copied and has no test gets
// one that loads it.
func (s Starter) textOf(base string) ([]byte, error) {
	kind := s.Kind
	if s.CopyOf != "" {
		text, err := safefile.Read(filepath.Join(s.CopyOf, base), maxCopied)
		if !errors.Is(err, fs.ErrNotExist) || base == filepath.Base(s.Hook()) {
			return text, err
		}
		kind = "copy"
	}
	text, err := files.ReadFile(kind + strings.TrimPrefix(base, s.Name))
	return []byte(s.filled(string(text))), err
}

// filled replaces the names in a text of this package.
func (s Starter) filled(text string) string {
	ident := strings.ReplaceAll(s.Name, "-", "_")
	return strings.NewReplacer("NAME", s.Name, "IDENT", ident, "VARIABLE", strings.ToUpper(ident)).Replace(text)
}
