//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// A hook that was written for another program gets its API as an object, in its first line,
// or as a function that it returns.
var (
	objectForm   = regexp.MustCompile(`(?m)^local (pi|marvin) = require "(pi\.compat\.\w+)"$`)
	functionForm = regexp.MustCompile(`(?m)^return require\("(pi\.compat\.\w+)"\)\.hook\(function\((pi|marvin)\)$`)
)

// inOtherForm is a hook in the form that it does not have; ok is false for what is no such
// hook. Its lines stay where they are.
func inOtherForm(hook string) (other string, ok bool) {
	switch {
	case objectForm.MatchString(hook):
		return objectForm.ReplaceAllString(hook, `return require("$2").hook(function($1)`) + "end)\n", true
	case functionForm.MatchString(hook):
		body, isWhole := strings.CutSuffix(hook, "\nend)\n")
		return functionForm.ReplaceAllString(body, `local $2 = require "$1"`) + "\n", isWhole
	}
	return "", false
}

// The scripts about such hooks run with each hook in its own form with all others; here they
// run with each in the other form.
func TestPortedHooksRunInBothForms(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/compat_*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	dir, turned := t.TempDir(), 0
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range archive.Files {
			if other, ok := inOtherForm(string(f.Data)); ok {
				archive.Files[i].Data = []byte(other)
				turned++
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(script)), txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if turned < 20 {
		t.Errorf("only %d hooks are turned into the other form", turned)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: setupScript, Cmds: scriptCommands()})
}
