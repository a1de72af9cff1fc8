package luahooks

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

// apiFlag is pi.flag(name, {description, type, default}).
func (in *instance) apiFlag(L *lua.LState) int {
	f := Flag{Name: L.CheckString(1), Hook: in.hook.Name}
	var standard lua.LValue
	luavm.Unpack(L, 2, "flag", luavm.Opt("description", &f.Description), luavm.Opt("type", &f.Type), luavm.Opt("default", &standard))
	if !isFlagName(f.Name) {
		luavm.RaiseArg(L, 1, "flag", "%q is no name of a flag: letters, digits and -, without the dashes before it", f.Name)
	}
	f.setType(L, standard)
	in.registered.Flags.put(f)
	return 0
}

func (f Flag) id() string { return f.Name }

func isFlagName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return len(name) > 1 && name[0] != '-'
}

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

// getFlag is pi.get_flag(name): what the command line says, or the default; nil
// for a flag that no hook has.
func (in *instance) getFlag(name string) lua.LValue {
	f, ok := in.findFlag(name)
	if !ok {
		return lua.LNil
	}
	if given, ok := in.chain.opts.Flags[name]; ok {
		v, err := f.value(given)
		if err == nil {
			return v
		}
		in.chain.audience.notifyOnce(in.vm.Context(), "flag "+name, agent.LevelError, err.Error())
	}
	switch v := f.Default.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

// findFlag looks among the hook's own flags while it loads, because it does not
// stand in the chain yet, then among those of all hooks.
func (in *instance) findFlag(name string) (Flag, bool) {
	own, isOwn := in.registered.Flags.Find(name)
	if isOwn && in.vm.Loading() {
		return own, true
	}
	for _, f := range in.chain.Flags() {
		if f.Name == name {
			return f, true
		}
	}
	return own, isOwn
}

// value reads what the command line gave.
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
