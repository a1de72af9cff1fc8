package e2e

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Rules of the house that are read from the source, so that they hold for every operating
// system: what the top of the module has, and what embedding may not do.

// houseType is a type of the program with its members.
type houseType struct {
	methods  map[string]bool
	fields   map[string]bool
	embedded []string // types of ours, as folder.Name
}

// house is the code of the module without its tests.
type house struct {
	types map[string]*houseType // by folder.Name
	files []string
}

func readHouse(t *testing.T) house {
	t.Helper()
	h := house{types: map[string]*houseType{}}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		dir := path.Dir(name)
		h.files = append(h.files, name)
		imports := importedRooms(file)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
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
	top := slices.DeleteFunc(slices.Clone(h.files), func(name string) bool { return path.Dir(name) != "." })
	if !slices.Equal(top, []string{"main.go"}) {
		t.Errorf("the top of the module has %q; main.go alone belongs there", top)
	}
}
