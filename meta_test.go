//go:build unix

package main

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/luavm"
	"pi/stdlib"
)

func TestTheAnnotationsAreLua(t *testing.T) {
	files, err := fs.Glob(stdlib.Annotations(), "*.lua")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(stdlib.Annotations(), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := luavm.Compile(file, text); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryAnnotationSaysWhatItIsAndNamesTypesThatExist(t *testing.T) {
	a := readAnnotations(t)
	for _, c := range a.order {
		if c.doc == "" && !strings.HasPrefix(c.name, "pi.Bash") {
			t.Errorf("%s: class %s is not described", c.file, c.name)
		}
		if c.parent != "" && a.classes[c.parent] == nil {
			t.Errorf("%s extends %s, which is not there", c.name, c.parent)
		}
		for _, m := range c.members {
			where := c.name + "." + m.name
			a.checkType(t, where, m.typ)
			if m.fn == nil {
				continue
			}
			if m.doc == "" {
				t.Errorf("%s: %s is not described", c.file, where)
			}
			for _, v := range append(slices.Clone(m.fn.params), m.fn.returns...) {
				a.checkType(t, where, v.typ)
			}
			for _, typ := range m.fn.overloads {
				a.checkType(t, where, typ)
			}
		}
	}
	for name, doc := range a.aliases {
		if doc == "" {
			t.Errorf("alias %s is not described", name)
		}
	}
}

var (
	quotedType    = regexp.MustCompile(`"[^"]*"`)
	parameterName = regexp.MustCompile(`[\w.]+\??: `)
	typeName      = regexp.MustCompile(`[A-Za-z_][\w.]*`)
)

// checkType wants every name in a type to be one.
func (a *annotations) checkType(t *testing.T, where, typ string) {
	t.Helper()
	if typ == "" {
		t.Errorf("%s has no type", where)
	}
	bare := quotedType.ReplaceAllString(typ, "")
	bare = strings.ReplaceAll(bare, "): ", ") ")
	bare = parameterName.ReplaceAllString(bare, "")
	for _, name := range typeName.FindAllString(bare, -1) {
		switch name {
		case "string", "number", "integer", "boolean", "table", "any", "nil", "fun", "function", "true", "false", "userdata":
			continue
		}
		if _, alias := a.aliases[name]; !alias && a.classes[name] == nil {
			t.Errorf("%s: there is no type %s", where, name)
		}
	}
}
