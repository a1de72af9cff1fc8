package rpc

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guideTable returns the names in the first column of a table of docs/rpc.md, whose head
// begins with head. A name that begins with … has the beginning of the one before it.
func guideTable(t *testing.T, head string) []string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(guide), head)
	if !found {
		t.Fatalf("the guide has no table %q", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, name := range regexp.MustCompile("`([a-zA-Z_]+)`").FindAllStringSubmatch(first, -1) {
			names = append(names, name[1])
		}
	}
	slices.Sort(names)
	return names
}

func TestTheGuideHasTheCommands(t *testing.T) {
	table := (&Server{}).newTable()
	if have, want := guideTable(t, "| command | fields | data of the answer |\n"), slices.Sorted(maps.Keys(table)); !slices.Equal(have, want) {
		t.Errorf("the guide has\n%q, the program\n%q", have, want)
	}
}

// namesInCode returns what pattern finds in the code of a folder, each once.
func namesInCode(t *testing.T, folder, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(code), -1) {
			names = append(names, name[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestTheGuideHasTheEvents(t *testing.T) {
	want := namesInCode(t, "../record", `(?:begin\(|aboutCall\(|kind :?= )"([a-z]+_[a-z_]+)"`)
	want = append(want, namesInCode(t, ".", `"(extension_ui_request)"`)...)
	slices.Sort(want)
	if have := guideTable(t, "| type | fields | when |\n"); !slices.Equal(have, want) {
		t.Errorf("the guide has\n%q, the program\n%q", have, want)
	}
}

// What a hook asks and shows has a method each, which the guide names.
func TestTheGuideHasTheMethods(t *testing.T) {
	guide, err := os.ReadFile("../../docs/rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## Questions of hooks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	methods := namesInCode(t, ".", `Method: "([a-zA-Z_]+)"`)
	if len(methods) < 5 {
		t.Errorf("the program has only %q", methods)
	}
	for _, method := range methods {
		if !strings.Contains(strings.Join(strings.Fields(section), " "), "`"+method+"` (") {
			t.Errorf("the guide lacks %s", method)
		}
	}
}
