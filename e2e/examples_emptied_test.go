//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/cli/hooktest"
)

// firstHandler is where the body of the first function begins that an example registers: a
// handler of an event, a command, a tool, a completion, a login.
var firstHandler = regexp.MustCompile(`(?m)(?:pi\.on\("[^"]*", *|^\s*(?:handler|execute|complete|gate|render|refresh) *= *)function\([^)]*\)`)

// Every example has tests beside it, and they are about what it does: without the body of its
// first handler one of them fails.
func TestTheTestsOfAnExampleFailWithoutItsFirstHandler(t *testing.T) {
	t.Parallel()
	for _, file := range exampleFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			emptied, ok := withoutFirstHandler(mustRead(t, file))
			if !ok {
				t.Fatal("it has no handler")
			}
			test := strings.TrimSuffix(file, ".lua") + hooktest.Suffix
			if _, err := os.Stat(test); err != nil {
				t.Fatal("it has no test")
			}
			dir := t.TempDir()
			for _, beside := range exampleFiles(t) {
				write(t, filepath.Join(dir, filepath.Base(beside)), mustRead(t, beside))
			}
			write(t, filepath.Join(dir, filepath.Base(file)), emptied)
			write(t, filepath.Join(dir, filepath.Base(test)), mustRead(t, test))
			summary, err := hooktest.Run(t.Context(), hooktest.Options{Paths: []string{dir}, Done: func(hooktest.Outcome) {}, FirstFailure: true})
			if err != nil || summary.Failed == 0 {
				t.Errorf("%+v, %v", summary, err)
			}
		})
	}
}

// withoutFirstHandler returns the code of a hook whose first handler returns at once.
func withoutFirstHandler(code string) (string, bool) {
	at := firstHandler.FindStringIndex(code)
	if at == nil {
		return "", false
	}
	return code[:at[1]] + " do return end" + code[at[1]:], true
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAHandlerIsEmptiedWhereItBegins(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"local function f(x) end\npi.on(\"input\", function(event) return f(event) end)": "local function f(x) end\npi.on(\"input\", function(event) do return end return f(event) end)",
		"pi.command(\"x\", {\n  handler = function(ctx) ctx.abort() end })":              "pi.command(\"x\", {\n  handler = function(ctx) do return end ctx.abort() end })",
		"pi.state.x = 1": "",
	} {
		if got, ok := withoutFirstHandler(code); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", code, got, ok)
		}
	}
	if slices.ContainsFunc(exampleFiles(t), func(file string) bool { return strings.HasSuffix(file, hooktest.Suffix) }) {
		t.Error("a test is no example")
	}
}
