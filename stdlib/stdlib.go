// Package stdlib is what Lua finds under pi.*: the modules that require gives to
// hooks, and the Lua files inside the program. What hooks can use is described to
// editors in meta/, also what is not of this package; tests hold it to the code.
//
// # Modules
//
// Some only compute, and work while a hook loads:
//
//	pi.json    encode decode list null
//	pi.path    join dir base ext stem abs rel clean is_abs split expand match
//	pi.re      match find_all test replace split escape check
//	pi.sh      commands quote
//	pi.text    truncate width fit wrap redact of front_matter
//	pi.schema  object string number integer boolean enum array optional check …
//	pi.toml    decode
//	pi.html    markdown
//	pi.diff    unified
//	pi.base64  encode decode url_encode url_decode
//	pi.hash    sha256 sha512 sha1 md5 hmac_sha256 hex unhex random
//	pi.time    now since iso format parse duration
//
// The others act, and raise until the hook is loaded, but for functions of pi.fs that only
// look:
//
//	pi.fs      read write exists stat list glob mkdir remove real watch temp chmod rename copy locked
//	pi.http    request get post encode listen
//	pi.timer   sleep after every
//	pi.git     root branch status diff remotes
//	pi.llm     complete
//	pi.mcp     servers connect add
//	pi.agent   run start
//
// The parameters and results of each function are described above the function that
// opens its module: openFS, openHTTP and so on.
//
// # Rules
//
// A function takes at most a few plain arguments, then one table of options.
// Misuse raises at the caller's line; what fails in ordinary life returns nil and
// a message, so that assert(f()) always works. What waits for a network, a
// program or time lets go of the VM meanwhile and ends with the job. Callbacks
// run as jobs of the hook, one after the other, and end with it; so do timers,
// watches and servers.
//
// # Tests
//
// spec/NAME_spec.lua shows of each function that it works, fails and raises. A
// function without that fails the tests, and so does a module without a spec.
package stdlib

import (
	_ "embed"
	"maps"
	"slices"
	"sync"

	"pi/luavm"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// Open makes a module's value for a VM, inside a job of it.
type Open func(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue

// modules are those that there are, by name.
var modules = sync.OnceValue(func() map[string]Open {
	return map[string]Open{
		"pi.agent": openAgent, "pi.base64": openBase64, "pi.diff": openDiff, "pi.fs": openFS, "pi.git": openGit, "pi.hash": openHash, "pi.http": openHTTP,
		"pi.json": openJSON, "pi.llm": openLLM, "pi.mcp": openMCP, "pi.path": openPath, "pi.re": openRe, "pi.schema": openSchema, "pi.sh": openSh,
		"pi.text": openText, "pi.time": openTime, "pi.timer": openTimer, "pi.toml": openTOML, "pi.html": openHTML,
	}
})

// Module returns the module of a name such as "pi.json", or nil.
func Module(name string) Open {
	if slices.Contains(compat.Names(), name) {
		return func(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
			return compat.Open(vm, L, name, compat.Host{Restyle: env.Restyle, Code: env.Compat})
		}
	}
	return modules()[name]
}

// Names lists the modules, sorted.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(modules())), compat.Names()...)))
}

//go:embed demo/tour.lua
var tour []byte

// Tour is the source of the built-in model demo/tour.
func Tour() []byte { return tour }
