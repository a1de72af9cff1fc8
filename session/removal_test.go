package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	"session/store_write.go Truncate":       "the end of a line that was written just now, under the lock",
	"session/store_replace.go Remove":       "a new file or a backup that could not be written whole",
	"session/store_replace.go Rename":       "a migrated file takes the name of one that has a backup",
	"cli/crash.go Remove":                   "an old report of a crash",
	"cli/crash.go Create":                   "a new report of a crash, where no file is",
	"cli/app/orphans.go Remove":             "a note of commands that go on, which is ours",
	"cli/app/orphans.go Truncate":           "a note of commands that go on, which is ours",
	"session/lock_hint.go Replace":          "a hint about a lock",
	"session/lock_hint.go Remove":           "a hint about a lock",
	"session/store_open.go Remove":          "a copy that could not be written whole",
	"session/store_open.go Rename":          "a copy that is whole gets its name, which nobody has",
	"session/folder/trash.go Remove":        "a person has asked for it",
	"session/folder/trash.go Rename":        "a person has asked for it",
	"session/export/file.go Remove":         "an export that could not be written whole",
	"session/export/file.go Rename":         "an export takes the place of an older one, never of a session that has more",
	"cli/luatypes.go Remove":                "type definitions that were written by us",
	"cli/luatypes.go Replace":               "type definitions that were written by us",
	"cli/luatypes.go Create":                "settings of an editor, where no file is",
	"cli/hooktest/copies.go Remove":         "the folder that a test of hooks has for itself",
	"cli/hooktest/copies.go Rename":         "the folder that a test of hooks has for itself",
	"cli/hooktest/copies.go WriteFile":      "the folder that a test of hooks has for itself",
	"cli/hooktest/module.go WriteFile":      "the folder that a test of hooks has for itself",
	"cli/hooktest/partial.go Truncate":      "a time, to whole milliseconds",
	"cli/hooktest/settings.go WriteFile":    "the folder that a test of hooks has for itself",
	"cli/hooktest/stage.go RemoveAll":       "the folder that a test of hooks has for itself",
	"repl/terminal/history/file.go Replace": "the history of lines",
	"repl/files.go RemoveAll":               "images that were pasted",
	"repl/files.go WriteFile":               "images that were pasted",
	"repl/editor.go RemoveAll":              "a draft in an editor",
	"repl/editor.go WriteFile":              "a draft in an editor",
	"agent/mcp/cache.go Replace":            "what servers have, which is asked for again",
	"agent/mcp/cache.go Remove":             "what servers had that were not used for the longest time",
	"agent/mcp/log.go Rename":               "the log of servers",
	"agent/mcp/result.go Remove":            "a file of a result that could not be written whole",
	"cli/packages/fetch.go RemoveAll":       "the repository that was fetched into",
	"cli/packages/store.go RemoveAll":       "a package that is not in place, in the folder that was made for it",
	"cli/packages/store.go Rename":          "a package that a user added, updated or removed",
	"cli/packages/store.go Replace":         "what a package that is not in place yet is meant for",
	"cli/packages/team.go RemoveAll":        "a package that is not in place, in the folder that was made for it",
	"cli/packages/team.go Rename":           "a package that a project names and a user approved, by its sum",
	"cli/mcplogin/store.go Replace":         "logins to servers, under their lock",
	"cli/keyring/folderlock.go Remove":      "a folder that is a lock, our own or one that was left behind",
}

// takesAway are the functions of package os and of safefile, and the methods of files,
// that do.
var takesAway = []string{"Replace", "Remove", "RemoveAll", "Rename", "Truncate", "WriteFile", "Create", "O_TRUNC"}

// ownFiles are the rooms that write files of their own and know no session files.
var ownFiles = []string{"luahooks", "luavm", "stdlib", "agent/tool", "agent/provider", "internal", "bench", "examples", "release"}

// Nothing else takes a session away.
func TestNothingButTheTrashTakesASessionAway(t *testing.T) {
	found := map[string]bool{}
	files := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("..", path)
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && name != "." || slices.Contains(ownFiles, name)):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		for _, call := range takingAway(t, path) {
			found[name+" "+call] = true
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
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

// takingAway returns the names of such calls in a file. Methods of ours that have
// the same names end in one of them.
func takingAway(t *testing.T, file string) (calls []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(takesAway, s.Sel.Name) && ofFiles(s) {
			calls = append(calls, s.Sel.Name)
		}
		return true
	})
	return calls
}

// ofFiles reports whether a call is one of package os or safefile, or may be of a file.
func ofFiles(s *ast.SelectorExpr) bool {
	pkg, ok := s.X.(*ast.Ident)
	if s.Sel.Name == "Truncate" {
		return !ok || pkg.Name != "runewidth" // which cuts text
	}
	return ok && (pkg.Name == "os" || pkg.Name == "safefile")
}
