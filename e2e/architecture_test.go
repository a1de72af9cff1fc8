package e2e

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheArchitectureNamesWhatThereIs holds docs/architecture.md against the
// source: a name in backquotes that looks like room.Name or room.Type.Member must
// be declared there, a folder or a Go file must exist, and the ground plan has
// every room.
func TestTheArchitectureNamesWhatThereIs(t *testing.T) {
	text := mustRead(t, inModule("docs/architecture.md"))
	declared := declarations(t)
	names := 0
	for _, found := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		if wrong := wrongName(declared, found[1]); wrong != "" {
			t.Errorf("`%s`: %s", found[1], wrong)
		}
		if goName.MatchString(found[1]) {
			names++
		}
	}
	if names < 50 {
		t.Errorf("only %d names are held against the source", names)
	}
	plan := groundPlan(t, text)
	for _, dir := range plan {
		if !exists(dir) {
			t.Errorf("the ground plan has %s, which is not there", dir)
		}
	}
	for room := range rooms() {
		if room != "." && !slices.Contains(plan, room+"/") {
			t.Errorf("the ground plan lacks %s/", room)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(inModule(name))
	return err == nil
}

var (
	goName   = regexp.MustCompile(`^[a-z]\w*(\.[A-Za-z]\w*){1,2}$`)
	fileName = regexp.MustCompile(`^[\w./-]+\.(go|md|txtar)$`)
	dataFile = regexp.MustCompile(`\.(toml|json|jsonl|lua)$`)
	dirName  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/$`)
)

// ofLua are the tables that hooks see, whose names look like those of Go.
var ofLua = []string{"pi", "ctx", "event"}

// wrongName says what of a text in backquotes is not in the source; empty: it is
// there, or is no name.
func wrongName(declared map[string]bool, name string) string {
	switch room, _, _ := strings.Cut(name, "."); {
	case fileName.MatchString(name), dirName.MatchString(name):
		if !exists(name) {
			return "there is no such file or folder"
		}
	case goName.MatchString(name) && !dataFile.MatchString(name) && !slices.Contains(ofLua, room) && !declared[name]:
		return "nothing of this name is declared"
	}
	return ""
}

// groundPlan lists the folders at the beginnings of lines of the first code block.
// A line that is indented is below the line before it that is less indented.
func groundPlan(t *testing.T, text string) (folders []string) {
	t.Helper()
	_, block, _ := strings.Cut(text, "```\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatal("there is no ground plan")
	}
	var above []string // by indent
	for line := range strings.Lines(block) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if !strings.HasSuffix(name, "/") || depth > len(above) {
			continue
		}
		above = append(above[:depth], path.Clean(name))
		folders = append(folders, path.Join(above...)+"/")
	}
	return folders
}

// declarations are the names that the code of the module declares, as room.Name and
// room.Type.Member; a room is called by its package's name.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		room := file.Name.Name + "."
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				declared[room+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					declare(declared, room, spec)
				}
			}
		}
	})
	return declared
}

// receiver is the type of a method with a dot behind it; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// declare adds what a specification declares: types with their fields and methods,
// variables and constants.
func declare(declared map[string]bool, room string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			declared[room+name.Name] = true
		}
	case *ast.TypeSpec:
		declared[room+s.Name.Name] = true
		var members *ast.FieldList
		switch kind := s.Type.(type) {
		case *ast.StructType:
			members = kind.Fields
		case *ast.InterfaceType:
			members = kind.Methods
		default:
			return
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				declared[room+s.Name.Name+"."+name.Name] = true
			}
		}
	}
}

func TestNamesAreHeldAgainstTheSource(t *testing.T) {
	declared := map[string]bool{"agent.Agent": true, "agent.Agent.Prompt": true, "agent.run.turn": true}
	for name, right := range map[string]bool{
		"agent.Agent.Prompt": true, "agent.run.turn": true, "agent.Agent.Gone": false, "gone.Agent": false,
		"tool_call": true, "/tree": true, "pi.fs": true, "ctx.ui.select": true, "agent/": true, "gone/": false,
		"docs/hooks.md": true, "docs/gone.md": false, "config.toml": true, "a text": true,
	} {
		if wrong := wrongName(declared, name); (wrong == "") != right {
			t.Errorf("%s: %q", name, wrong)
		}
	}
	plan := groundPlan(t, "words\n```\nmain.go  starts\nagent/  loops\n  llm/  asks\n    deep/\nsession/\n```\n`tail/`")
	if want := []string{"agent/", "agent/llm/", "agent/llm/deep/", "session/"}; !slices.Equal(plan, want) {
		t.Errorf("plan %q, want %q", plan, want)
	}
}
