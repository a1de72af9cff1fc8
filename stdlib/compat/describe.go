package compat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Event is an event of another program, and what it is here.
type Event struct {
	Name    string   `json:"name"`
	Ours    string   `json:"ours"`    // the event of this program that it stands for
	Fields  []string `json:"payload"` // besides type, and those of ours
	Results []string `json:"result"`  // the keys that a handler may return
	Rule    string   `json:"rule"`    // how handlers go together, and what differs from ours; "": nothing does
}

// About is what a module has.
type About struct {
	Events    []Event           `json:"events"`    // in the order of the documentation
	NoEvents  map[string]string `json:"no_events"` // names without a counterpart, and what is used instead
	Members   []string          `json:"members"`   // of the object, sorted
	NoMembers map[string]string `json:"no_members"`
	Context   []string          `json:"context"` // what ctx has, besides ours, sorted
	NoContext map[string]string `json:"no_context"`
	UI        []string          `json:"ui"` // the same of ctx.ui
	NoUI      map[string]string `json:"no_ui"`
}

// Find returns the module that a name means: pi.compat.pi_v2, or pi_v2 alone.
func Find(name string) (string, error) {
	for _, known := range Names() {
		if name == known || name == strings.TrimPrefix(known, prefix) {
			return known, nil
		}
	}
	short := make([]string, 0, len(systems()))
	for _, known := range Names() {
		short = append(short, strings.TrimPrefix(known, prefix))
	}
	if near := hint(name, short); near != "" {
		return "", fmt.Errorf("no module %q for hooks of another program%s", name, near)
	}
	return "", fmt.Errorf("no module %q for hooks of another program; there are %s", name, strings.Join(short, ", "))
}

const prefix = "pi.compat."

// Describe tells what a module has; name is one of [Names]. It runs the module over an API
// in which every name is a function that does nothing.
func Describe(name string) (about About, err error) {
	vm := luavm.New(luavm.Options{})
	defer vm.Close()
	err = vm.Run(context.Background(), luavm.Job{Name: "describe " + name, Run: func(L *lua.LState) error {
		vm.SetGlobal("pi", anyAPI(vm, L))
		_, t := open(vm, L, name, Host{})
		raw, err := luavm.EncodeJSON(L, t, luavm.JSON{})
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &about)
	}})
	return about, err
}

// anyAPI is a table in which every name is a function that does nothing.
func anyAPI(vm *luavm.VM, L *lua.LState) *lua.LTable {
	nothing := vm.GFunc("nothing", func(*lua.LState) int { return 0 })
	t, meta := L.NewTable(), L.NewTable()
	luavm.Set(meta, "__index", vm.GFunc("index", func(L *lua.LState) int {
		L.Push(nothing)
		return 1
	}))
	t.Metatable = meta
	return t
}
