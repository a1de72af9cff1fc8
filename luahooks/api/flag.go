package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Flag is a flag of the command line that a hook brings: --name, or --name=value.
type Flag struct {
	Name        string
	Description string
	Type        string // boolean, string or number
	Default     any    // bool, string, float64; nil if there is none
	Hook        string
}

// flags are the flags that a hook brings, and reads.
type flags struct{ *bridge }

func (f *flags) part() part { return part{"flag": f.flag, "get_flag": f.get} }

// flag is pi.flag(name, {description, type, default}): it registers a flag for the command
// line, and raises for a name or a type that is none.
func (f *flags) flag(L *lua.LState) int {
	n := Flag{Name: L.CheckString(1), Hook: f.Hook.Name}
	var standard lua.LValue
	luavm.Unpack(L, 2, "flag", luavm.Opt("description", &n.Description), luavm.Opt("type", &n.Type), luavm.Opt("default", &standard))
	if !hasNameCharacters(n.Name) || len(n.Name) < 2 || n.Name[0] == '-' {
		luavm.RaiseArg(L, 1, "flag", "%q is no name of a flag: two or more letters, digits and -, without the dashes before it", n.Name)
	}
	n.setType(L, standard)
	f.registered.Flags.put(n)
	return 0
}

func (f Flag) id() string { return f.Name }

// setType checks type and default against each other; without a type the default
// says it, and without both the flag is a boolean.
func (f *Flag) setType(L *lua.LState, standard lua.LValue) {
	types := []string{"boolean", "string", "number"}
	is := ""
	switch v := standard.(type) {
	case lua.LBool:
		is, f.Default = "boolean", bool(v)
	case lua.LString:
		is, f.Default = "string", string(v)
	case lua.LNumber:
		is, f.Default = "number", float64(v)
	case nil:
	default:
		luavm.Raise(L, "flag: default must be a boolean, string or number, not a %s", v.Type())
	}
	switch {
	case f.Type == "" && is == "":
		f.Type = "boolean"
	case f.Type == "":
		f.Type = is
	case !slices.Contains(types, f.Type):
		luavm.Raise(L, "flag: type must be %s, not %q%s", strings.Join(types, " or "), f.Type, suggest.Hint(f.Type, types))
	case is != "" && is != f.Type:
		luavm.Raise(L, "flag: default must be a %s, as type says, not a %s", f.Type, is)
	}
	if f.Type == "boolean" && f.Default == nil {
		f.Default = false
	}
}

// get is pi.get_flag(name): the value on the command line, or the default; nil for a flag
// that no hook has.
func (f *flags) get(name string) lua.LValue {
	flag, ok := f.find(name)
	if !ok {
		return lua.LNil
	}
	if given, ok := f.GivenFlags[name]; ok {
		v, err := flag.value(given)
		if err == nil {
			return v
		}
		f.NotifyOnce(f.vm.Context(), "flag "+name, agent.LevelError, err.Error())
	}
	switch v := flag.Default.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

// find returns the flag of a name. While the hook's file loads, its own flags come first,
// because the list of all hooks does not have them yet.
func (f *flags) find(name string) (Flag, bool) {
	own, isOwn := f.registered.Flags.Find(name)
	if isOwn && f.vm.Loading() {
		return own, true
	}
	for _, flag := range f.Flags() {
		if flag.Name == name {
			return flag, true
		}
	}
	return own, isOwn
}

// value parses what the command line gave as the type of the flag. The error, for text that
// is no such value, is for the user.
func (f Flag) value(given string) (lua.LValue, error) {
	switch f.Type {
	case "boolean":
		if b, err := strconv.ParseBool(given); err == nil {
			return lua.LBool(b), nil
		}
		return nil, fmt.Errorf("--%s=%s: hook %s wants true or false; its default counts", f.Name, given, f.Hook)
	case "number":
		if n, err := strconv.ParseFloat(given, 64); err == nil {
			return lua.LNumber(n), nil
		}
		return nil, fmt.Errorf("--%s=%s: hook %s wants a number, such as --%s=3; its default counts", f.Name, given, f.Hook, f.Name)
	}
	return lua.LString(given), nil
}
