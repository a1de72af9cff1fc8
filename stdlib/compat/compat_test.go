package compat

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func TestAModuleIsFoundByItsNameOrItsLastWord(t *testing.T) {
	for name, want := range map[string]string{"pi_v2": "pi.compat.pi_v2", "pi.compat.pi_v2": "pi.compat.pi_v2"} {
		if got, err := Find(name); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"pi_v3": `no module "pi_v3" for hooks of another program, did you mean "pi_v2"?`,
		"zzz":   `no module "zzz" for hooks of another program; there are `,
	} {
		if _, err := Find(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryRowOfAModuleIsWhole(t *testing.T) {
	for _, module := range Names() {
		about, err := Describe(module)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range about.Events {
			if e.Name == "" || e.Ours == "" || e.Fields == nil || e.Results == nil || slices.Contains(names, e.Name) {
				t.Errorf("%s: the row %+v", module, e)
			}
			if _, missing := about.NoEvents[e.Name]; missing {
				t.Errorf("%s has and has not the event %s", module, e.Name)
			}
			names = append(names, e.Name)
		}
		for _, name := range about.Members {
			if _, missing := about.NoMembers[name]; missing {
				t.Errorf("%s has and has not %s", module, name)
			}
		}
	}
}

// BenchmarkRequire is what the first hook pays that requires a module, and every other.
func BenchmarkRequire(b *testing.B) {
	shared := new(Code)
	for name, code := range map[string]func() *Code{"first": func() *Code { return nil }, "next": func() *Code { return shared }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				vm := luavm.New(luavm.Options{})
				err := vm.Run(context.Background(), luavm.Job{Name: "require", Run: func(L *lua.LState) error {
					vm.SetGlobal("pi", anyAPI(vm, L))
					Open(vm, L, "pi.compat.pi_v2", Host{Code: code()})
					return nil
				}})
				if err != nil {
					b.Fatal(err)
				}
				vm.Close()
			}
		})
	}
}
