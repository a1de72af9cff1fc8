// Package api is what the Lua of a hook is given: pi, ctx and require. It knows one
// VM and what that needs of the program around it ([Program]); of other hooks and of
// the order in which they are asked it knows nothing.
//
//	script.go     a Script is one VM with the API in it; it puts the parts together
//	bridge.go     what every function uses: the VM, and the way to the program
//	jobs.go       calls of a hook from outside of its VM, and again after a reload
//	registered.go what a hook's file registered
//	context.go    ctx; the other files are its members and those of pi, by subject
//
// A part is a small type that is made of what it needs, and lists its functions by
// the names that Lua calls them by. To add a function: write it as a method of the
// part that it belongs to and name it in the list; it is one for [luavm.VM.Func], or
// works on the Lua stack where it takes tables of options.
//
// Misuse raises at the caller's line; what fails in ordinary life gives nil and a
// message. While a function waits, other functions of the hook may run
// (bridge.wait). While the file loads, functions that need a session raise
// (bridge.mustHost).
package api
