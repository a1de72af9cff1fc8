package luavm

import (
	"context"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// DefaultMemoryLimit is the heap growth at which a job is stopped.
const DefaultMemoryLimit = 256 << 20

// maxArrayIndex bounds how far one assignment can stretch the array part of a
// table; gopher-lua fills the gap with nils.
const maxArrayIndex = 1 << 20

// Options are settings of one VM. The zero value works.
type Options struct {
	// Print gets each line that Lua prints. It is called while the VM is
	// held and must not wait.
	Print func(line string)
	// Panicked gets the Go panics of API functions, which become Lua errors.
	Panicked func(function string, value any, stack []byte)
	// Waits gets the names of a job whose waiting does not count and of the
	// function that it called, when it has waited for longer than its Timeout,
	// dialogs not included. The job continues.
	Waits func(job, function string)
	// MemoryLimit is the growth of the process heap, in bytes, at which the
	// running job is stopped. 0 means DefaultMemoryLimit, negative none.
	MemoryLimit int64
	// Sharers is how many work in the process at present, each of which may make the heap grow as
	// much: what the others take is no growth of the job. nil: nobody else does.
	Sharers func() int
	// StrictGlobals makes the writing of an undeclared global an error.
	// While a job with Loading runs, functions may be declared.
	StrictGlobals bool
	// Instead says what to use in the place of a name that there is not, such as "io" or
	// "os.execute", in the error of a hook that uses it; "" for nothing. It may be nil.
	Instead func(name string) string
	// Fails reports whether a function of the program, by the name that authors write, such as
	// "fs.read", returns nil and a message where it cannot do what it is for. Errors about that
	// nil then say so. It may be nil.
	Fails func(function string) bool
	// Elsewhere returns where else there is a field that a strict table, by the name that
	// messages have for it, does not have; "" for nowhere. It may be nil.
	Elsewhere func(of, name string) string
	// Modules returns which modules have a field that a strict table does not have, as the
	// end of a message; "" if none has. It may be nil.
	Modules func(of, name string) string
	// MaxLua is how long the Lua of a job may run, without what it waits for, whatever its
	// Timeout is; 0: as long as that.
	MaxLua time.Duration
	// Now is the time of os.time and os.date; nil: the clock of the machine.
	Now func() time.Time
	// Getenv is os.getenv; nil: the environment of the process.
	Getenv func(name string) string
	// Workers give the goroutines that jobs run on. VMs whose jobs run one after the other
	// on one goroutine share them; nil are workers of its own.
	Workers *Workers
}

// VM is one Lua state with its jobs. All methods may be called from any
// goroutine, except those whose comment says that they belong to the job that runs.
type VM struct {
	opts    Options
	workers *Workers
	life    *life
	lock    *lock
	now     func() time.Time

	// Below: only the job that runs.
	main     *lua.LState // never runs a job; jobs run on threads of it
	threads  *threads
	stubs    *stubs
	strict   *lua.LTable // what strict metatables share
	json     *jsonDecoder
	patterns map[patternKey]*pattern // that were used
}

var setLimits sync.Once

// New makes a VM with the libraries of the package comment.
func New(opts Options) *VM {
	setLimits.Do(func() { lua.MaxArrayIndex = maxArrayIndex })
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MemoryLimit == 0 {
		opts.MemoryLimit = DefaultMemoryLimit
	}
	vm := &VM{
		opts: opts,
		main: lua.NewState(lua.Options{
			RegistrySize: 256, RegistryMaxSize: 256 * 1024, RegistryGrowStep: 1024,
			CallStackSize: 200, MinimizeStackMemory: true, SkipOpenLibs: true,
		}),
		workers: opts.Workers,
		life:    newLife(func() {}),
		now:     time.Now,
	}
	if vm.workers == nil {
		vm.workers = new(Workers)
		vm.life.free = vm.workers.Close
	}
	vm.lock = newLock(&job{vm: vm, real: &jobContext{Context: context.Background()}}, vm.life.dead)
	vm.threads = newThreads(vm.main, vm.lock, opts.Panicked)
	vm.stubs = newStubs(vm.main)
	vm.strict = vm.newStrict()
	setHints(vm.main, &hints{Instead: opts.Instead, Fails: opts.Fails})
	vm.json = newJSONDecoder(vm.stubs)
	nameFields(vm.main)
	vm.openLibs()
	return vm
}

// State is the VM's main Lua state, for building values before the first job
// or inside one. Nothing may be called on it.
func (vm *VM) State() *lua.LState { return vm.main }

// SetGlobal declares a global and gives it a value. It belongs to the job
// that runs, or to the time before the first.
func (vm *VM) SetGlobal(name string, v lua.LValue) {
	Set(vm.main.G.Global, name, v)
}

// SetRequire installs the global function require.
func (vm *VM) SetRequire(fn lua.LGFunction) {
	vm.SetGlobal("require", vm.GFunc("require", fn))
}

// Dead reports whether a job had to be abandoned while it held the VM. Nothing
// runs on a dead VM, and its API functions raise.
func (vm *VM) Dead() bool { return vm.lock.isDead() }

// Loading reports whether the job that runs has Loading set. It belongs to
// that job.
func (vm *VM) Loading() bool { return vm.lock.cur.Load().spec.Loading }

// Close refuses new jobs, but for those that continue something, and returns at
// once; what is in flight ends on its own, then the VM is freed.
func (vm *VM) Close() { vm.life.close() }

// kill marks the VM dead and stops the jobs that are in Wait, which cannot get it
// back. Their supervisors are woken to see that.
func (vm *VM) kill() {
	for _, j := range vm.life.kill() {
		j.stop(vmIsGone())
		j.worker.wake()
	}
}

// GFunc makes a Lua function of a function that works on the Lua stack itself.
// A panic in it becomes a Lua error at the hook's line, and on a dead VM it
// raises instead of running. name is for messages.
func (vm *VM) GFunc(name string, fn lua.LGFunction) *lua.LFunction {
	return vm.main.NewFunction(func(L *lua.LState) int {
		if vm.Dead() {
			L.RaiseError("%s: the hook was abandoned", name)
		}
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(*lua.ApiError); !ok {
					r = vm.threads.ofPanic(L, name, r)
				}
				panic(r)
			}
		}()
		vm.lock.cur.Load().calling = name
		return fn(L)
	})
}
