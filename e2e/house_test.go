package e2e

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The rules of the house: what the top of the module has, what embedding may not do, and which
// verbs no name begins with. They are read from the source, so they hold for every operating
// system.
const mostLinesOfMain = 40

// noVerbs are words that no function's name begins with, in any form: each was used
// for several things. docs/architecture.md says which verb means what instead.
var noVerbs = []string{
	"settle", "settles", "settled", "settling",
	"stand", "stands", "stood", "standing",
	"hold", "holds", "held", "holding",
	"leave", "leaves", "left", "leaving",
	"hear", "hears", "heard",
	"come", "comes", "came", "go", "goes", "went", "gone",
	"say", "says", "said", "let", "lets", "mind", "minds", "made", "passing",
	"over", "beside", "aside", "apart",
}

// houseType is a type of the program with what counts as its size.
type houseType struct {
	methods  map[string]bool
	fields   map[string]bool
	embedded []string // types of ours, as folder.Name
}

// house is the code of the module without its tests.
type house struct {
	types map[string]*houseType // by folder.Name
	files map[string]houseFile  // of code, by name
	names map[string]string     // of functions: folder.Type.name, and the file
}

type houseFile struct {
	lines     int
	generated bool
}

func readHouse(t *testing.T) house {
	t.Helper()
	h := house{map[string]*houseType{}, map[string]houseFile{}, map[string]string{}}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		dir := path.Dir(name)
		h.files[name] = houseFile{strings.Count(mustRead(t, inModule(name)), "\n"), ast.IsGenerated(file)}
		imports := importedRooms(file)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				h.names[dir+"."+receiver(d)+d.Name.Name] = name
				if of := strings.TrimSuffix(receiver(d), "."); of != "" {
					h.typeOf(dir + "." + of).methods[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						h.addType(dir, imports, s)
					}
				}
			}
		}
	})
	return h
}

func (h house) typeOf(name string) *houseType {
	if h.types[name] == nil {
		h.types[name] = &houseType{methods: map[string]bool{}, fields: map[string]bool{}}
	}
	return h.types[name]
}

func (h house) addType(dir string, imports map[string]string, spec *ast.TypeSpec) {
	shape, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	entry := h.typeOf(dir + "." + spec.Name.Name)
	for _, field := range shape.Fields.List {
		for _, name := range field.Names {
			entry.fields[name.Name] = true
		}
		if len(field.Names) == 0 {
			folder, name := namedType(dir, imports, field.Type)
			entry.fields[name] = true
			entry.embedded = append(entry.embedded, folder+"."+name)
		}
	}
}

// importedRooms are the folders of ours that a file imports, by the name that it
// knows them by.
func importedRooms(file *ast.File) map[string]string {
	rooms := map[string]string{}
	for _, spec := range file.Imports {
		folder, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "pi/")
		if !ours {
			continue
		}
		name := path.Base(folder)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		rooms[name] = folder
	}
	return rooms
}

// namedType is the folder and the name of the type that an expression names. The
// folder of what is not of the module is empty.
func namedType(dir string, imports map[string]string, expr ast.Expr) (folder, name string) {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return namedType(dir, imports, e.X)
	case *ast.IndexExpr:
		return namedType(dir, imports, e.X)
	case *ast.Ident:
		return dir, e.Name
	case *ast.SelectorExpr:
		if room, ok := e.X.(*ast.Ident); ok {
			return imports[room.Name], e.Sel.Name
		}
	}
	return "", ""
}

// members are the methods and the fields of a type with those of what it embeds.
func (h house) members(name string) (methods, fields map[string]bool) {
	methods, fields = map[string]bool{}, map[string]bool{}
	of, ok := h.types[name]
	if !ok {
		return methods, fields
	}
	maps.Copy(methods, of.methods)
	maps.Copy(fields, of.fields)
	for _, embedded := range of.embedded {
		m, f := h.members(embedded)
		maps.Copy(methods, m)
		maps.Copy(fields, f)
	}
	return methods, fields
}

func TestTheHouse(t *testing.T) {
	h := readHouse(t)
	t.Run("embedding hides nothing", h.embeddingHidesNothing)
	t.Run("the top has main.go alone", h.theTopHasMainAlone)
	t.Run("no name begins with a vague verb", h.noNameBeginsWithAVagueVerb)
}

// embeddingHidesNothing: who reads x.name shall not have to know which of two
// it is. agent.NoUI is there to be embedded and refined.
func (h house) embeddingHidesNothing(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(h.types)) {
		of := h.types[name]
		for _, embedded := range of.embedded {
			if embedded == "agent.NoUI" {
				continue
			}
			methods, fields := h.members(embedded)
			for hidden := range maps.Keys(methods) {
				if of.methods[hidden] || of.fields[hidden] {
					t.Errorf("%s hides the method %s of %s, which it embeds", name, hidden, embedded)
				}
			}
			for hidden := range maps.Keys(fields) {
				if of.methods[hidden] || of.fields[hidden] {
					t.Errorf("%s hides the field %s of %s, which it embeds", name, hidden, embedded)
				}
			}
		}
	}
}

func (h house) theTopHasMainAlone(t *testing.T) {
	if n := h.files["main.go"].lines; n == 0 || n > mostLinesOfMain {
		t.Errorf("main.go has %d lines; %d at most", n, mostLinesOfMain)
	}
	for name := range h.files {
		if path.Dir(name) == "." && name != "main.go" {
			t.Errorf("%s is in the top of the module; main.go alone belongs there", name)
		}
	}
}

// noNameBeginsWithAVagueVerb prints the names that are left. Those that a Lua
// function or a command has are as their users know them.
func (h house) noNameBeginsWithAVagueVerb(t *testing.T) {
	var left []string
	for name, file := range h.names {
		if slices.Contains(noVerbs, firstWord(name[strings.LastIndex(name, ".")+1:])) {
			left = append(left, fmt.Sprintf("%s: %s", file, name))
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		t.Errorf("%d names begin with a verb that is used for several things:\n%s", len(left), strings.Join(left, "\n"))
	}
	if len(h.names) < 1000 {
		t.Errorf("only %d names were looked at", len(h.names))
	}
}

// firstWord is the first word of a name in mixed capitals, in small letters.
func firstWord(name string) string {
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			return strings.ToLower(name[:i])
		}
	}
	return strings.ToLower(name)
}

// TestWordsHaveOneMeaning holds the words of docs/architecture.md against the ones
// that are not used.
func TestWordsHaveOneMeaning(t *testing.T) {
	_, words, ok := strings.Cut(mustRead(t, inModule("docs/architecture.md")), "\n## The words\n")
	if !ok {
		t.Fatal("docs/architecture.md does not say what the verbs mean")
	}
	explained := 0
	for line := range strings.Lines(words) {
		verb, _, found := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !strings.HasPrefix(line, "| ") || !found {
			continue
		}
		explained++
		for _, v := range strings.Split(verb, ", ") {
			if slices.Contains(noVerbs, v) {
				t.Errorf("%q is explained and not used", v)
			}
		}
	}
	if explained < 15 {
		t.Errorf("%d verbs are explained", explained)
	}
}
