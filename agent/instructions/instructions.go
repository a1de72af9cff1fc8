// Package instructions finds the instruction files that a user and a project have
// for the model (AGENTS.md, else CLAUDE.md), and puts them into the words of the system
// prompt. [Find] says which of them count: a project from elsewhere must not reach the
// model with what a link leads to, nor another user with what lies above the project.
package instructions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/printable"
)

// File is an instruction file. It is data: read, shown to the model,
// never executed.
type File struct {
	Path string
	Text string
}

// Places are where instruction files are looked for.
type Places struct {
	AgentDir string   // the user's own: its file counts wherever a link leads
	Cwd      string   // the project lies around it
	Home     string   // of the user; "" if there is none
	Allowed  []string // files that count although they lie elsewhere or belong to somebody else
}

// Find returns the instruction files for a working directory: the
// agent directory's, then one per directory from the root of the file system
// down to the working directory. In each, AGENTS.md counts, and CLAUDE.md where
// there is none. A file that cannot be read or does not count, and characters in
// one that nobody sees but the model, are returned as problems.
//
// What a link leads out of the project does not count: a repository from elsewhere
// could point it at a secret, which would go to the model's provider. The project
// may itself lie in one, as submodules do: what a link leads out of that does not
// count either. Nor does what lies above the project and belongs to another user:
// in /tmp anybody may write instructions.
func Find(at Places) (files []File, problems []error) {
	seen := map[string]bool{}
	project, _ := Repository(at.Cwd, at.Home)
	for _, dir := range append([]string{at.AgentDir}, ancestors(at.Cwd)...) {
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		f, err := instructionsIn(dir, func(path string) error {
			if dir == at.AgentDir {
				return nil
			}
			return at.counts(path, project)
		})
		if err != nil {
			problems = append(problems, err)
		}
		if f == nil || strings.TrimSpace(f.Text) == "" {
			continue
		}
		files = append(files, *f)
		if found := printable.HiddenIn(f.Text); found != "" {
			problems = append(problems, fmt.Errorf("instructions %s: %s", f.Path, found))
		}
	}
	return files, problems
}

// Text puts instruction files into the words of the system prompt, each under
// its path; "" for none.
func Text(files []File) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Project instructions\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", f.Path, strings.TrimSpace(f.Text))
	}
	return b.String()
}

// counts returns why the instruction file at path is left out, as a *leftOutError; nil if
// it is read. Another error says that the path cannot be resolved. project is the
// repository of the working directory.
func (at Places) counts(path, project string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	around, above := project, !isIn(filepath.Dir(path), project)
	inRepository := true
	if above {
		around, inRepository = Repository(filepath.Dir(path), at.Home)
	}
	base, err := filepath.EvalSymlinks(around)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case above && (foreign(path) || foreign(real)):
		why = "it lies above the project and belongs to another user"
	case inRepository && !isIn(real, base):
		why = "a link leads out of the project, to " + real
	}
	if why == "" || slices.ContainsFunc(at.Allowed, func(allowed string) bool { return isPath(allowed, real) }) {
		return nil
	}
	return &leftOutError{path, why, real}
}

// leftOutError is an instruction file that does not count.
type leftOutError struct{ path, why, real string }

func (e *leftOutError) Error() string {
	return fmt.Sprintf("%s is left out: %s; instructions = [%q] in your own config.toml allows it", e.path, e.why, e.real)
}

// isPath reports whether allowed, with its links followed, is the path real. Only paths
// are compared: another file that is put there later is allowed too.
func isPath(allowed, real string) bool {
	if resolved, err := filepath.EvalSymlinks(allowed); err == nil {
		allowed = resolved
	}
	return filepath.Clean(allowed) == real
}

// Repository returns the nearest directory from dir upwards that has a .git. If
// there is none below the home directory, it returns dir and false: a home directory that
// is a repository itself does not count, as everything of a user lies in it.
func Repository(dir, home string) (around string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if at == filepath.Dir(at) || at == home {
			return dir, false
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
	}
}

// isIn reports whether path is dir or below it, as it is written.
func isIn(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// instructionsIn reads the instruction file of dir, AGENTS.md or else CLAUDE.md; nil if
// there is none. counts returns why a file is left out, and then the other one is not
// tried.
func instructionsIn(dir string, counts func(path string) error) (*File, error) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		path := filepath.Join(dir, name)
		err := counts(path)
		var out *leftOutError
		if errors.As(err, &out) {
			return nil, err
		}
		b := []byte(nil)
		if err == nil {
			b, err = readInstructions(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read instructions: %w", err)
		}
		text := strings.TrimPrefix(string(b), "\uFEFF")
		return &File{Path: path, Text: strings.ToValidUTF8(text, "\uFFFD")}, nil
	}
	return nil, nil
}

// maxInstructions is far above what a model could be told.
const maxInstructions = 1 << 20

// readInstructions reads a regular file of at most maxInstructions bytes and refuses
// anything else, for reading a named pipe or some system files would never end.
func readInstructions(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	unfit := fmt.Errorf("%s is not a regular file of at most %d KiB", path, maxInstructions>>10)
	if !info.Mode().IsRegular() {
		return nil, unfit
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err == nil && len(b) > maxInstructions {
		err = unfit
	}
	return b, err
}

// ancestors lists cwd and the directories above it, the root first.
func ancestors(cwd string) []string {
	var dirs []string
	for {
		dirs = append([]string{cwd}, dirs...)
		parent := filepath.Dir(cwd)
		if parent == cwd {
			return dirs
		}
		cwd = parent
	}
}
