// Package stdlib is what Lua finds under pi.*: the modules that require gives to
// hooks, and the Lua files inside the program.
//
// A module is a function that makes the module's table for one VM. Functions of
// modules follow one rule: misuse raises at the caller's line; what fails in
// ordinary life returns nil and a message, so that assert(f()) always works.
package stdlib

import (
	_ "embed"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Open makes a module's value for a VM, inside a job of it.
type Open func(vm *luavm.VM, L *lua.LState) lua.LValue

// Module returns the module of a name such as "pi.json", or nil.
func Module(name string) Open {
	switch name {
	case "pi.json":
		return openJSON
	}
	return nil
}

// Names lists the modules.
func Names() []string { return []string{"pi.json"} }

//go:embed demo/tour.lua
var tour []byte

// Tour is the source of the built-in model demo/tour.
func Tour() []byte { return tour }
