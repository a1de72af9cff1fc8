//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/compat run hooks that were written for another program, after a
// translation of syntax. Those hooks are the files hooks/*.lua of a script, with
//
//	local NAME = require "pi.compat.…"
//
// as their first line. Every script runs twice: with its hooks as they are, and with each
// as a function that the file returns. $HOOKS is their folder.
func TestHooksOfOtherProgramsRun(t *testing.T) {
	for _, form := range []string{"object", "function"} {
		t.Run(form, func(t *testing.T) {
			testscript.Run(t, testscript.Params{Dir: "testdata/compat", Cmds: scriptCommands(), Setup: func(env *testscript.Env) error {
				env.Setenv("HOOKS", filepath.Join(env.WorkDir, "hooks"))
				if err := setupScript(env); err != nil || form == "object" {
					return err
				}
				return asFunctions(filepath.Join(env.WorkDir, "hooks"))
			}})
		})
	}
}

// firstLine is that of a hook for another program.
var firstLine = regexp.MustCompile(`^local (\w+) = require "(pi\.compat\.\w+)"\n`)

// asFunctions makes each hook of a folder a file that returns a function. The lines stay where
// they are.
func asFunctions(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.lua"))
	if err != nil {
		return err
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		first := firstLine.FindSubmatch(code)
		if first == nil {
			continue // a hook of this program, which runs beside them
		}
		body := strings.TrimRight(string(code[len(first[0]):]), "\n")
		text := fmt.Sprintf("return require(%q).hook(function(%s)\n%s end)\n", first[2], first[1], body)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
