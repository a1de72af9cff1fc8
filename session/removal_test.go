package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// removals are the places that may take away, move, shorten or overwrite a
// file, and why that is never a session that somebody has. A new one is to be
// thought about, and then written here.
var removals = map[string]string{
	"session/store_write.go Truncate": "the end of a line that was written just now, under the lock",
	"session/store_replace.go Remove": "a new file or a backup that could not be written whole",
	"session/store_replace.go Rename": "a migrated file takes the name of one that has a backup",
	"crash.go Remove":                 "an old report of a crash",
	"session/lock_hint.go Rename":     "a hint about a lock",
	"session/lock_hint.go Remove":     "a hint about a lock",
	"session/branch.go Remove":        "a copy that could not be written whole",
	"session/branch.go Rename":        "a copy that is whole gets its name, which nobody has",
	"session/trash.go Remove":         "a person has asked for it",
	"session/trash.go Rename":         "a person has asked for it",
	"session/export/file.go Remove":   "an export that could not be written whole",
	"session/export/file.go Rename":   "an export takes the place of an older one, never of a session that has more",
	"agent/command/pick.go Remove":    "a person has asked for it",
	"hooks_types.go Remove":           "type definitions that were written by us",
	"repl/terminal/history.go Rename": "the history of lines",
	"repl/terminal/history.go Remove": "the history of lines",
	"repl/editor.go RemoveAll":        "a draft in an editor",
	"repl/editor.go WriteFile":        "a draft in an editor",
}

// takesAway are the functions and methods that do.
var takesAway = []string{"Remove", "RemoveAll", "Rename", "Truncate", "WriteFile", "Create", "O_TRUNC"}

// Nothing else in the rooms that handle sessions takes a file away. (Tools,
// hooks and trust have files of their own.)
func TestNothingButTheTrashTakesASessionAway(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{".", "export", "..", "../agent", "../agent/command", "../repl", "../repl/terminal", "../serve"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				for _, place := range takingAway(t, file) {
					found[place] = true
				}
			}
		}
	}
	var wrong []string
	for place := range found {
		if removals[place] == "" {
			wrong = append(wrong, "not in the list: "+place)
		}
	}
	for place := range removals {
		if !found[place] {
			wrong = append(wrong, "not there any more: "+place)
		}
	}
	sort.Strings(wrong)
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// takingAway returns "file call" for each such call in a file.
func takingAway(t *testing.T, file string) (places []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.ToSlash(filepath.Join("session", file))
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(takesAway, s.Sel.Name) && !textOnly(s) {
			places = append(places, name+" "+s.Sel.Name)
		}
		return true
	})
	return places
}

// textOnly reports whether a call has nothing to do with files: the cutting of
// text and of durations.
func textOnly(s *ast.SelectorExpr) bool {
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "runewidth" && s.Sel.Name == "Truncate"
}
