// Package luavm runs Lua for hooks: one VM per hook file, many jobs per VM,
// one piece of Lua at a time.
//
// # A VM and its jobs
//
//	vm := luavm.New(luavm.Options{Print: notify})
//	proto, err := luavm.Compile("gate.lua", src)
//	err = vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: 30 * time.Second,
//		Run: func(L *lua.LState) error {
//			L.Push(L.NewFunctionFromProto(proto))
//			L.Call(0, 0)
//			return nil
//		}})
//
// A job runs on a Lua thread of its own and holds the VM's lock only while Lua
// executes. [VM.Run] is synchronous; a caller who does not want to wait uses a
// goroutine. Jobs get the VM in the order in which they asked for it. Results
// leave a job through variables that its Run function closes over; they are
// meant to be read only when [VM.Run] returned nil.
//
// [Workers.Run] runs many jobs, also of different VMs, one after the other on one
// goroutine, which is much cheaper than to run each by itself. A function answers
// which job is the next, so that nothing of it is on the stack of the jobs: when
// one has to be given up, its goroutine is lost and another one asks on.
//
// # Waiting
//
// A Go function called from Lua that waits for anything (a process, a dialog,
// another hook) does so inside [VM.Wait]. The lock is free meanwhile, other
// jobs of the VM run, and globals may have changed when Wait returns. Wait
// hands out the job's real context; [VM.Context] gives the same to functions
// that only pass it on. A job started from inside another must be started
// inside Wait; anything else is ErrNested, not a deadlock.
//
// # Stopping
//
// A job ends early when its context ends, its clock runs out or the heap grows
// too much. Every Lua instruction sees that, in pcall and coroutines too. Code
// that never looks (a Go function that computes for long) is given 250 ms in which
// it could run; then Run returns, the VM is [VM.Dead], and the caller makes a fresh
// one. A job that is
// late while it waits is cut off without harm to the VM. All failures are
// [*Error] with a place in a Lua file.
//
// # Values
//
// [NewStub] makes a table that fills itself on first touch and is
// indistinguishable from a plain one in Lua. [VM.DecodeJSON] builds on it:
// untouched subtrees go back as the bytes they came from. [VM.Func] makes a Lua
// function of a Go function, [VM.NewTable] a table whose fields are made when they are first read,
// [VM.Value] a read-only value of a struct, [VM.ViewOf] one of fields, and [Unpack] reads option tables.
//
// # What Lua can reach
//
// base, string, table, math and coroutine; os with clock, date, time, getenv
// and difftime; debug.traceback. load and loadstring take source text only.
// Nothing opens files, starts processes or ends the program. Strings built by
// the library are at most 64 MiB, coroutines and pcalls nest at most 100 and
// 180 deep.
package luavm
