//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/luahooks/event"
)

// update makes the tests of what is generated write what they would compare.
var update = flag.Bool("update", false, "write what is generated: tables of the guides, annotations of events")

const (
	eventsBegin = "<!-- events -->\n"
	eventsEnd   = "<!-- /events -->\n"
)

// eventTable is the table of events as the guide has it.
func eventTable(events []event.Info) string {
	var b strings.Builder
	b.WriteString("| event | | several handlers |\n|---|---|---|\n")
	for _, e := range events {
		kind := "tells"
		if e.Asking {
			kind = "asks"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", e.Name, e.Name, kind, inCell(e.Rule))
	}
	return b.String()
}

func TestTheReferenceOfTheGuideHasTheEventsOfTheProgram(t *testing.T) {
	generated(t, "docs/reference.md", eventsBegin, eventsEnd, eventTable(event.Infos()))
}

// generated compares what stands between two marks of a file, or without a second one behind
// the first, with what the program says, or writes it.
func generated(t *testing.T, path, begin, end, want string) {
	t.Helper()
	text := mustRead(t, inModule(path))
	head, rest, begins := strings.Cut(text, begin)
	have, tail, ends := rest, "", true
	if end != "" {
		have, tail, ends = strings.Cut(rest, end)
	}
	if !begins || !ends {
		t.Fatalf("%s has no place for it", path)
	}
	if *update {
		if err := os.WriteFile(inModule(path), []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s differs from the program; go test ./e2e -run 'Guide|Annotations' -update writes it", path)
	}
}

// asking is a command of a guide that sends something to a model.
var asking = regexp.MustCompile("(?:pi|go run \\.)((?: --?[a-z-]+(?: [a-z][^ `\n]*)?)*) (?:-p|--mode json) [\"'][^\n]*")

// TestCommandsToTryNeedNoKey: who follows a guide from its beginning has none. What the
// README lists as daily use is for people with one, as it says there.
func TestCommandsToTryNeedNoKey(t *testing.T) {
	seen := 0
	for _, guide := range []string{"docs/hooks.md", "docs/rpc.md", "docs/models.md", "README.md"} {
		text := mustRead(t, inModule(guide))
		if guide == "README.md" {
			head, rest, ok := strings.Cut(text, "\n## Using it\n")
			_, rest, more := strings.Cut(rest, "Without a key any of these is tried with `--model demo/tour`")
			before, after, last := strings.Cut(rest, "\n## Files, skills and templates\n")
			_, after, end := strings.Cut(after, "\n## ")
			if !ok || !more || !last || !end {
				t.Fatal("the README has other chapters")
			}
			text = head + before + after
		}
		for _, command := range asking.FindAllStringSubmatch(text, -1) {
			if seen++; !strings.Contains(command[1], "--model ") {
				t.Errorf("%s: %s", guide, command[0])
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d commands were looked at", seen)
	}
}

func TestTheReadmeNamesPlacesThatExist(t *testing.T) {
	readme := mustRead(t, inModule("README.md"))
	_, tree, _ := strings.Cut(readme, "## The code")
	tree, _, _ = strings.Cut(tree, "## ")
	var paths []string
	for _, line := range strings.Split(tree, "\n") {
		for _, word := range strings.Fields(line) {
			if !strings.HasSuffix(word, "/") && !strings.HasSuffix(word, ".go") {
				break // from here on the line says what is there
			}
			paths = append(paths, word)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme, -1) {
		paths = append(paths, link[1])
	}
	if len(paths) < 10 {
		t.Fatalf("the README has only %q", paths)
	}
	for _, p := range paths {
		if _, err := os.Stat(inModule(p)); err != nil {
			t.Error(err)
		}
	}
}

// TestEveryEventOfTheGuideIsMadeSomewhere looks for the code that makes each
// event: a literal of its struct in agent, where also constructors are.
func TestEveryEventOfTheGuideIsMadeSomewhere(t *testing.T) {
	made := map[string]bool{}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok {
				switch of := literal.Type.(type) {
				case *ast.Ident:
					made[file.Name.Name+"."+strings.ToLower(of.Name)] = true
				case *ast.SelectorExpr:
					if room, ok := of.X.(*ast.Ident); ok {
						made[room.Name+"."+strings.ToLower(of.Sel.Name)] = true
					}
				}
			}
			return true
		})
	})
	for _, e := range event.Infos() {
		name := strings.NewReplacer("auto_compaction", "compaction", "hook_error", "hook_failed", "shell", "shell_command").Replace(e.Name) // the struct
		if !made["agent."+strings.ReplaceAll(name, "_", "")] {
			t.Errorf("nothing makes %s", e.Name)
		}
	}
}

// sourceOf is the code of some packages, without tests.
func sourceOf(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(inModule(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				b.WriteString(mustRead(t, file))
			}
		}
	}
	return b.String()
}
