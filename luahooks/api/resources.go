package api

import (
	"fmt"
	"os"
	"path/filepath"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Resources are folders with skills and templates that a hook brings, absolute; "" for none.
type Resources struct{ Skills, Prompts string }

// resources are those of a hook.
type resources struct {
	*bridge
	dir string // of the hook's file
	own *List[Resources]
}

func (r *resources) part() part { return part{"resources": r.register} }

func (Resources) id() string { return "" }

// register is pi.resources{skills?, prompts?} → true, or nil and a message: the names of
// folders beside the hook. A later call takes the place of an earlier one.
func (r *resources) register(L *lua.LState) int {
	var n Resources
	luavm.Unpack(L, 1, "resources", luavm.Opt("skills", &n.Skills), luavm.Opt("prompts", &n.Prompts))
	if n == (Resources{}) {
		luavm.Raise(L, "resources: \"skills\" or \"prompts\" must name a folder beside the hook")
	}
	for option, path := range map[string]*string{"skills": &n.Skills, "prompts": &n.Prompts} {
		if *path == "" {
			continue
		}
		if !filepath.IsLocal(*path) {
			luavm.Raise(L, "resources: option %q must be the name of a folder beside the hook, not %q", option, *path)
		}
		*path = filepath.Join(r.dir, *path)
		if info, err := os.Stat(*path); err != nil || !info.IsDir() {
			return pushResult(L, nil, fmt.Errorf("%s: %s is no folder", option, *path))
		}
	}
	r.own.put(n)
	L.Push(lua.LTrue)
	return 1
}
