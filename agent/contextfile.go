package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// ContextFile is an instruction file. It is data: read, shown to the model,
// never executed.
type ContextFile struct {
	Path string
	Text string
}

// FindContextFiles returns the instruction files for a working directory: the
// agent directory's, then one per directory from the root of the file system
// down to cwd. In each, AGENTS.md counts, and CLAUDE.md where there is none. A
// file that cannot be read, and characters in one that nobody sees but the
// model, are returned as problems.
func FindContextFiles(agentDir, cwd string) (files []ContextFile, problems []error) {
	seen := map[string]bool{}
	for _, dir := range append([]string{agentDir}, ancestors(cwd)...) {
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		f, err := contextFile(dir)
		if err != nil {
			problems = append(problems, err)
		}
		if f == nil || strings.TrimSpace(f.Text) == "" {
			continue
		}
		files = append(files, *f)
		if err := hidden(*f); err != nil {
			problems = append(problems, err)
		}
	}
	return files, problems
}

func contextFile(dir string) (*ContextFile, error) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		path := filepath.Join(dir, name)
		b, err := readInstructions(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read instructions: %w", err)
		}
		text := strings.TrimPrefix(string(b), "\uFEFF")
		return &ContextFile{Path: path, Text: strings.ToValidUTF8(text, "\uFFFD")}, nil
	}
	return nil, nil
}

// maxInstructions is far above what a model could be told.
const maxInstructions = 1 << 20

// readInstructions reads a file that came with a project: a named pipe would never
// end, nor do some files of the system that a link may lead to.
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

// hidden reports the first invisible character of a file: those that reorder
// what is shown, tags, zero-width ones and controls. Joiners stay unmentioned,
// for emoji and several scripts need them.
func hidden(f ContextFile) error {
	for n, line := range strings.Split(f.Text, "\n") {
		for _, r := range strings.TrimSuffix(line, "\r") {
			if r == '\t' || r == '\u200c' || r == '\u200d' || !unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co) {
				continue
			}
			return fmt.Errorf("instructions %s: hidden character %U in line %d", f.Path, r, n+1)
		}
	}
	return nil
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
