package completion

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"pi/internal/fuzzy"
	"pi/internal/printable"
)

// paths returns the paths that what was typed can become, with slashes, those of folders
// with one at the end. A path within the project is looked for in all of it; others, and
// what the project ignores, in the folder that was typed so far.
func (c *Completer) paths(ctx context.Context, typed string) (found []string) {
	typed = filepath.ToSlash(typed)
	if rest := strings.TrimLeft(strings.TrimPrefix(typed, "./"), "/"); !isElsewhere(typed) && c.Files != nil {
		here := typed[:len(typed)-len(rest)]
		for _, path := range c.Files.Find(ctx, rest, most) {
			found = append(found, here+path)
		}
	}
	if isElsewhere(typed) || strings.Contains(typed, "/") || len(found) == 0 {
		found = append(found, c.folder(typed)...)
	}
	return uniquePaths(found, typed)
}

// isElsewhere reports whether a path begins outside of the project.
func isElsewhere(typed string) bool {
	return strings.HasPrefix(typed, "/") || strings.HasPrefix(typed, "~/") || typed == "~" || typed == ".." || strings.HasPrefix(typed, "../") ||
		strings.Contains(typed, "/../") || filepath.IsAbs(filepath.FromSlash(typed))
}

// folder lists what is in the folder that a path names so far and matches the rest of it.
// Hidden names are listed when their dot is typed.
func (c *Completer) folder(typed string) (found []string) {
	cut := strings.LastIndexByte(typed, '/') + 1
	head, base := typed[:cut], typed[cut:]
	if typed == "~" || typed == ".." {
		return []string{typed + "/"}
	}
	entries, err := os.ReadDir(c.resolved(head))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") == strings.HasPrefix(base, ".") && isTypeable(e.Name()) {
			names = append(names, e.Name()+slashOf(c.resolved(head), e))
		}
	}
	for _, i := range fuzzy.NewIndex(names).Best(base, most) {
		found = append(found, head+names[i])
	}
	return found
}

// resolved is the folder that the beginning of a path names.
func (c *Completer) resolved(head string) string {
	path := filepath.FromSlash(head)
	if rest, ok := strings.CutPrefix(head, "~/"); ok && c.Home != "" {
		return filepath.Join(c.Home, filepath.FromSlash(rest))
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Cwd, path)
}

// slashOf is a slash for a folder, also one that a link leads to.
func slashOf(dir string, e os.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	if e.Type()&os.ModeSymlink != 0 {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			return "/"
		}
	}
	return ""
}

// isTypeable reports whether a name can be in a line as it is: it has no control
// characters, and none that are not seen.
func isTypeable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == '\ufffc' || printable.Hidden(r) && r != '\u200d' && r != '\ufe0f'
	})
}

// uniquePaths drops paths that are there twice, or are what was typed already.
func uniquePaths(paths []string, typed string) []string {
	seen := map[string]bool{typed: true}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		was := seen[path]
		seen[path] = true
		return was
	})
	return paths[:min(len(paths), most)]
}
