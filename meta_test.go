//go:build unix

package main

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/luahooks"
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
	for name, alias := range a.aliases {
		if alias.doc == "" {
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

// className is the name of an event in the names of classes: tool_call, ToolCall.
func className(event string) string {
	var b strings.Builder
	for _, word := range strings.Split(event, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return "pi." + b.String()
}

func TestTheAnnotationsHaveTheEventsOfTheProgram(t *testing.T) {
	a := readAnnotations(t)
	events := luahooks.Events()
	for _, e := range events {
		class := a.classes[className(e.Name)+"Event"]
		if class == nil {
			t.Errorf("%s is not annotated", e.Name)
			continue
		}
		if kind := class.member("type"); kind == nil || kind.typ != `"`+e.Name+`"` {
			t.Errorf("%s.type is not %q", class.name, e.Name)
		}
		payload := slices.DeleteFunc(slices.Clone(class.members), func(m *annotatedMember) bool { return m.name == "type" })
		sameFields(t, e.Name+" carries", payload, e.Fields)
		result := a.classes[className(e.Name)+"Result"]
		if result == nil {
			result = &annotatedClass{}
		}
		sameFields(t, e.Name+" may be answered with", result.members, e.Results)
	}
	for _, c := range a.order {
		event, ok := strings.CutSuffix(c.name, "Event")
		if ok && !slices.ContainsFunc(events, func(e luahooks.EventInfo) bool { return className(e.Name) == event }) {
			t.Errorf("%s is annotated and no event", c.name)
		}
	}
}

func sameFields(t *testing.T, what string, have []*annotatedMember, want []luahooks.Field) {
	t.Helper()
	left := map[string]string{}
	for _, m := range have {
		left[m.name] = m.as()
	}
	for _, f := range want {
		if got, ok := left[f.Name]; !ok {
			t.Errorf("%s %s (%s), which is not annotated", what, f.Name, f.Type)
		} else if got != f.Type {
			t.Errorf("%s %s: %s, annotated as %s", what, f.Name, f.Type, got)
		}
		delete(left, f.Name)
	}
	for name := range left {
		t.Errorf("%s %s only in the annotations", what, name)
	}
}

// overload is one line of pi.on.
func overload(e luahooks.EventInfo) string {
	class := className(e.Name)
	returns := ""
	if len(e.Results) > 0 {
		returns = ": " + class + "Result?"
	}
	return `fun(event: "` + e.Name + `", fn: fun(event: ` + class + `Event, ctx: pi.Context)` + returns + `): fun()`
}

func TestAnEditorKnowsTheHandlerOfEachEvent(t *testing.T) {
	on := readAnnotations(t).classes["pi"].member("on")
	if on == nil {
		t.Fatal("pi.on is not annotated")
	}
	var want []string
	for _, e := range luahooks.Events() {
		want = append(want, overload(e))
	}
	slices.Sort(want)
	have := slices.Sorted(slices.Values(on.fn.overloads))
	if !slices.Equal(have, want) {
		t.Errorf("the overloads of pi.on are\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheAnnotationsListTheColoursAndLevelsThatThereAre(t *testing.T) {
	a := readAnnotations(t)
	var colors []string
	for _, v := range a.aliases["pi.Color"].values {
		colors = append(colors, v.name)
	}
	if want := agent.ThemeColors(); !slices.Equal(colors, want) {
		t.Errorf("colours are %q, want %q", colors, want)
	}
	levels := strings.ReplaceAll(a.aliases["pi.ThinkingLevel"].typ, `"`, "")
	if want := strings.Join(agent.ThinkingLevels(), "|"); levels != want {
		t.Errorf("thinking levels are %s, want %s", levels, want)
	}
}

func TestEveryModuleIsAnnotated(t *testing.T) {
	a := readAnnotations(t)
	for _, name := range stdlib.Names() {
		if c := a.modules[name]; c == nil || c.name != name {
			t.Errorf("nothing is required as %s", name)
		}
	}
	for name := range a.modules {
		if !slices.Contains(stdlib.Names(), name) {
			t.Errorf("%s is annotated and no module", name)
		}
	}
}
