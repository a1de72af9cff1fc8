package annotated_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pi/stdlib"
	"pi/stdlib/annotated"
)

func read(t testing.TB) *annotated.Set {
	t.Helper()
	s, err := annotated.Read(stdlib.Annotations())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsAnnotatedIsFound(t *testing.T) {
	s := read(t)
	event, result := s.Event("tool_call")
	if event == nil || !slices.Contains(s.Names(event), "tool_name") || result == nil || !slices.Contains(s.Names(result), "reason") {
		t.Errorf("tool_call: %v, %v", event, result)
	}
	if event, _ := s.Event("nothing"); event != nil {
		t.Error("there is an event nothing")
	}
	command := s.Class("pi.CommandContext")
	if s.Find(command, "args") == nil || s.Find(command, "cwd") == nil || s.Find(command, "nothing") != nil {
		t.Errorf("a command has %q", s.Names(command))
	}
	read := s.Find(s.Module("pi.fs"), "read")
	if read == nil || read.Type.Fn.Name != "fs.read" || len(read.Type.Fn.Params) != 2 || !read.Type.Fn.Params[1].Optional || len(read.Type.Fn.Returns) != 2 {
		t.Errorf("fs.read is %+v", read)
	}
	if on := s.Find(s.Class("pi"), "on"); on == nil || len(on.Type.Fn.Overloads) < 50 {
		t.Errorf("pi.on is %+v", on)
	}
	for class, want := range map[string]string{"pi.ToolCallHandle": "call.update", "pi.Program": "program.kill", "pi.Surface": "surface.close", "pi.UI": "ctx.ui.notify"} {
		_, name, _ := strings.Cut(strings.TrimPrefix(want, "ctx."), ".")
		if m := s.Find(s.Class(class), name); m == nil || m.Type.Fn.Name != want {
			t.Errorf("%s.%s is not called %s but %+v", class, name, want, m)
		}
	}
	if !s.IsOpen(s.Class("pi.Entry")) || s.IsOpen(event) {
		t.Error("an entry is closed, or an event is open")
	}
}

func TestTypesAreReadAsTheyAreWritten(t *testing.T) {
	s := read(t)
	kinds := func(c, m string) (all []annotated.Kind) {
		for _, p := range s.Parts(s.Find(s.Class(c), m).Type) {
			all = append(all, p.Kind)
		}
		return all
	}
	for _, c := range []struct {
		class, member string
		want          []annotated.Kind
	}{
		{"pi.Context", "cwd", []annotated.Kind{annotated.Basic}},
		{"pi.Context", "entries", []annotated.Kind{annotated.Table}},
		{"pi.ToolResult", "content", []annotated.Kind{annotated.Basic, annotated.Table}},
		{"pi.SendUserOptions", "deliver_as", []annotated.Kind{annotated.Literal, annotated.Literal}},
		{"pi.SendMessageOptions", "deliver_as", []annotated.Kind{annotated.Literal, annotated.Literal, annotated.Literal}},
		{"pi.ExecOptions", "env", []annotated.Kind{annotated.Table}},
		{"pi.CommandOptions", "handler", []annotated.Kind{annotated.Function}},
		{"pi.ToolOptions", "parameters", []annotated.Kind{annotated.Table}},
		{"pi.BeforeAgentStartResult", "sections", []annotated.Kind{annotated.Table}},
	} {
		if got := kinds(c.class, c.member); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s.%s: %v, want %v", c.class, c.member, got, c.want)
		}
	}
	handler := s.Find(s.Class("pi.CommandOptions"), "handler").Type.Fn
	if len(handler.Params) != 1 || handler.Params[0].Type.Name != "pi.CommandContext" || len(handler.Returns) != 1 || len(s.Parts(handler.Returns[0])) != 3 {
		t.Errorf("a handler of a command is %+v", handler)
	}
	if colors := s.Parts(s.Find(s.Class("pi.Theme"), "fg").Type.Fn.Params[0].Type); len(colors) < 10 || colors[0].Name != "accent" {
		t.Errorf("colours are %v", colors)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		read(b)
	}
}

// Whatever stands there, it is read to its end.
func FuzzRead(f *testing.F) {
	f.Add("---@meta pi.x\n---@class pi.x\n---@field a? (string|pi.y)[] text\nlocal x = {}\n---@param f fun(a?: table<string, any>, ...): pi.x?\nfunction x.y(f) end\nreturn x\n")
	f.Add("---@alias a\n---| \"b\"\n---@overload fun(")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := annotated.Read(fstest.MapFS{"a.lua": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range s.Modules() {
			s.Names(s.Module(name))
		}
	})
}
