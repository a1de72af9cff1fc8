package text

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"pi/luavm"
)

// Scanned is the modules and events that a Lua file names in its text, also where pi or pi.on has
// another name there.
type Scanned struct {
	Requires []string // names in require "…", sorted
	Events   []string // names in pi.on("…", …), sorted
	Dynamic  bool     // there is a require or a pi.on whose name is not in the text

	aliases aliases // while the file is looked at
}

// maxDepth is the deepest node that is looked at. A deeper file can be approved like any
// other; the modules that it requires must then be approved too.
const maxDepth = 2000

// Scan finds in a file's syntax tree, without running it, the modules that it requires and
// the events that it listens to by a literal name. It returns an error for what is no Lua.
func Scan(code []byte) (s Scanned, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be read as Lua: %v", r)
		}
	}()
	if _, err := luavm.CheckSource(code); err != nil {
		return Scanned{Dynamic: true}, fmt.Errorf("cannot be read as Lua: %w", err)
	}
	chunk, err := parse.Parse(bytes.NewReader(luavm.NormalSource(code)), "hook")
	if err != nil {
		return Scanned{Dynamic: true}, fmt.Errorf("cannot be read as Lua: %s", strings.TrimSpace(err.Error()))
	}
	s.aliases = aliasesOf(chunk)
	s.walk(reflect.ValueOf(chunk), 0)
	s.aliases = aliases{}
	s.Requires, s.Events = tidy(s.Requires), tidy(s.Events)
	return s, nil
}

// tidy sorts names in place and returns them without repetitions.
func tidy(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// walk visits every node below v and adds to s what the calls among them name. Below
// maxDepth it looks at nothing and sets Dynamic.
func (s *Scanned) walk(v reflect.Value, depth int) {
	if depth > maxDepth {
		s.Dynamic = true
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if call, ok := v.Interface().(*ast.FuncCallExpr); ok {
			s.call(call)
		}
		s.walk(v.Elem(), depth+1)
	case reflect.Slice:
		for i := range v.Len() {
			s.walk(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() && f.Kind() != reflect.String {
				s.walk(f, depth+1)
			}
		}
	}
}

// call adds to s what a call of require or pi.on names, and sets Dynamic if the name is not
// a literal. Other calls name nothing.
func (s *Scanned) call(call *ast.FuncCallExpr) {
	into := (*[]string)(nil)
	if isNamed(call.Func, "require") {
		into = &s.Requires
	} else if s.aliases.isOn(call.Func) {
		into = &s.Events
	}
	if into == nil || len(call.Args) == 0 {
		return
	}
	if name, ok := call.Args[0].(*ast.StringExpr); ok {
		*into = append(*into, name.Value)
	} else {
		s.Dynamic = true
	}
}
