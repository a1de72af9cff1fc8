package luahooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luahooks/text"
	"pi/luahooks/trust"

	lua "github.com/yuin/gopher-lua"
)

// loader brings hooks from their files into VMs, and again when files change, and puts in
// force what they register. All methods may be called from any goroutine.
type loader struct {
	*dispatcher
	opts    Options
	places  *trust.Places // of opts; changed while changes is held
	guard   *trust.Guard
	dir     workdir
	edits   *edits
	project *projectApproval

	compiled *Compiled
	valid    record.ValidJSON
	loadTime time.Duration // that a file has to run
	ending   *background   // what waits for the modules of instances that were closed
	builtins []*builtin

	tools     toolbox
	providers hookProviders
	dialogs   *dialogQueue
	always    answeredAlways

	changes sync.Mutex // held while the list of hooks or a hook of it is replaced

	tree     *tree         // of the session and its children
	watch    *toolWatch    // of this run of it
	above    *loader       // of the agent that uses this one; nil: it is the user's own
	now      atomic.Uint64 // counts what becomes of the hooks, for children
	followed atomic.Uint64 // that of above, which this is in line with
}

// newLoader makes one for the hooks to which d passes events.
func newLoader(o Options, d *dispatcher, above *loader) *loader {
	l := &loader{opts: o, guard: o.Guard, dir: workdir(o.Cwd), dispatcher: d,
		compiled: cmp.Or(o.Compiled, new(Compiled)), loadTime: cmp.Or(o.testOnlyLoadTime, o.Timeout), ending: newBackground()}
	if l.guard == nil {
		l.guard = trust.NewForRun(o.Places.Cwd)
	}
	l.places = &l.opts.Places
	l.places.ProjectApproved = o.ApproveProject
	l.edits = &edits{guard: l.guard, dir: l.dir, audience: l.audience, behind: l.behind, reload: l.reload, fetch: o.FetchPackages}
	l.project = &projectApproval{guard: l.guard, places: l.places, events: d, audience: l.audience, approve: o.ApproveProject, ask: o.AskProject, fetch: o.FetchPackages}
	l.tools = toolbox{program: o.Tools, inactive: o.Inactive, ofServers: o.ServerTools, modeOn: d.modeOn, mayHave: o.MayHave, roster: l.roster, audience: l.audience, changed: func() { l.now.Add(1) }}
	l.providers = hookProviders{roster: l.roster, audience: l.audience, models: o.Models, overlay: o.Overlay}
	l.dialogs = &dialogQueue{open: make(chan struct{}, 1), events: d, ui: l.audience.uiNow}
	if above != nil {
		l.joinTree(above)
	} else {
		l.guard.NoteNamed(o.Places)
		l.tree = newTree(&toolWindow{edits: l.edits, open: l.openWindow})
	}
	l.watch = l.tree.window.join(l.isIdle)
	return l
}

// isIdle reports whether no prompt runs.
func (l *loader) isIdle() bool {
	host := l.audience.hostNow()
	return host != nil && host.IsIdle()
}

// Load finds the hooks and runs their files. Errors are reported, never
// returned: a hook that does not load keeps none of the others from loading. It
// returns the project's hooks that were left out because nobody approved them.
// Those of the project run last, when the others could say whether they may.
func (l *loader) Load(ctx context.Context) (skipped []trust.Source) {
	found := l.places.Discover(l.guard)
	for _, err := range found.Problems {
		l.audience.notify(ctx, agent.LevelError, err.Error())
	}
	hooks := make([]*hook, len(found.Sources))
	var others, ofProject, ofAnother []*hook
	for i, s := range found.Sources {
		hooks[i] = newHook(s)
		hooks[i].counts = true
		switch {
		case s.Scope == trust.ScopeProject:
			ofProject = append(ofProject, hooks[i])
		case s.Err == nil && l.guard.OfAnother(s) != "":
			ofAnother = append(ofAnother, hooks[i])
		default:
			others = append(others, hooks[i])
		}
	}
	l.roster.replace(hooks)
	l.loadAll(ctx, others)
	skipped = found.Untrusted
	may := false
	hasAgents := !l.places.NoHooks && l.guard.HasAgents()
	if len(ofProject)+len(ofAnother)+len(found.Wanted) > 0 || hasAgents {
		may = l.project.decide(ctx) // hooks are asked, so nothing is locked
	}
	if len(ofProject)+len(found.Wanted) > 0 || hasAgents {
		if may {
			ofProject, found.Wanted = l.findApproved()
		}
		ofProject, skipped = l.excludeUnapproved(ofProject, may)
		skipped = append(found.Wanted, skipped...)
		l.loadAll(ctx, ofProject)
	}
	l.loadAll(ctx, ofAnother) // the user named it, so the tools are shut if it may not run
	defer l.changing()()
	l.applyRegistered(ctx)
	l.edits.start(ctx, *l.places, partsOf(l.roster.list()))
	l.warnUnused(ctx, l.roster.list())
	if warning := l.roster.gateWarning(); warning != "" {
		l.audience.notify(ctx, agent.LevelError, warning)
	}
	return skipped
}

// findApproved puts into the chain the hooks of the packages that the project names and that a user has
// approved since the search for hooks. It returns all hooks of the project, and the packages that are
// still not approved.
func (l *loader) findApproved() (ofProject []*hook, wanted []trust.Source) {
	l.changes.Lock()
	defer l.changes.Unlock()
	hooks, _ := l.compare()
	for _, h := range hooks {
		if h.Scope == trust.ScopeProject {
			h.counts = true
			ofProject = append(ofProject, h)
		}
	}
	l.roster.replace(hooks)
	return ofProject, l.places.Discover(l.guard).Wanted
}

// loadAll loads hooks for the first time.
func (l *loader) loadAll(ctx context.Context, hooks []*hook) {
	defer l.changing()()
	for _, a := range l.attemptAll(ctx, hooks) {
		l.install(ctx, a)
	}
}

// changing locks the changes of the chain. The function that it returns ends that, and lets children
// know that there is something to look at.
func (l *loader) changing() (done func()) {
	l.changes.Lock()
	return func() {
		l.now.Add(1)
		l.changes.Unlock()
	}
}

// excludeUnapproved removes hooks of the project from the chain: all, or if may, those that
// are not approved. It returns the ones that stay, and the files of the others, as far as
// they can be read.
func (l *loader) excludeUnapproved(ofProject []*hook, may bool) (run []*hook, skipped []trust.Source) {
	defer l.changing()()
	l.places.NoProject = !may
	out := func(h *hook) bool { return h.Scope == trust.ScopeProject && !(may && l.isApproved(h)) }
	for _, h := range ofProject {
		switch {
		case !out(h):
			run = append(run, h)
		case h.Err == nil:
			skipped = append(skipped, h.Source)
		}
	}
	l.roster.replace(slices.DeleteFunc(slices.Clone(l.roster.list()), out))
	return run, skipped
}

// isApproved reports whether a hook of the project is approved, with what the project says of it. One that cannot be read, but
// was approved before, counts as approved: its error is told and its gates close.
func (l *loader) isApproved(h *hook) bool {
	if h.Err != nil {
		return true // Discover asked already
	}
	v := l.guard.Read(h.Path)
	return l.guard.MayRunVersion(h.Scope, h.Path, v) && l.mayUseEntries(h) || v.Err != nil && l.guard.WasApproved(h.Path)
}

// attempt is one try to load a hook's file.
type attempt struct {
	hook *hook
	code []byte
	in   *instance // nil if it did not load
	err  error
}

// attemptAll loads the files of hooks at the same time. changes is held.
func (l *loader) attemptAll(ctx context.Context, hooks []*hook) []attempt {
	return tryAll(hooks, func(h *hook) attempt { return l.attempt(ctx, h) })
}

// tryAll calls try for all hooks at the same time.
func tryAll(hooks []*hook, try func(*hook) attempt) []attempt {
	attempts := make([]attempt, len(hooks))
	var loads sync.WaitGroup
	for i, h := range hooks {
		loads.Go(func() { attempts[i] = try(h) })
	}
	loads.Wait()
	return attempts
}

// attempt runs the version in force of a hook's file in a new VM, with the pi.state of
// the VM before.
func (l *loader) attempt(ctx context.Context, h *hook) attempt {
	v := l.guard.Read(h.Path)
	h.sum = v.Key()
	code, err := v.Code, cmp.Or(h.Err, v.Err)
	if err == nil && !l.guard.MayRunVersion(h.Scope, h.Path, v) {
		err = errUnapproved(l.dir.shown(h.Path), v, l.guard.OfAnother(h.Source))
	}
	h.told = l.toldOf(h)
	if err = cmp.Or(err, l.checkSettings(h)); err != nil {
		return attempt{hook: h, err: err}
	}
	return l.tryCode(ctx, h, code)
}

// tryCode runs code in a new VM of a hook, with the pi.state of the VM before.
func (l *loader) tryCode(ctx context.Context, h *hook, code []byte) attempt {
	var state json.RawMessage
	if old := h.current(); old != nil {
		var lost, err error
		if state, lost, err = old.script.State(ctx); interrupted(ctx, err) {
			return attempt{hook: h, err: err}
		} else if err = cmp.Or(err, lost); err != nil {
			l.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+": not carried over: "+err.Error())
		}
	}
	in, err := l.run(ctx, h, code, state)
	h.tried = in
	if err != nil {
		in = nil
	}
	return attempt{h, code, in, err}
}

// install puts the VM of an attempt into the chain and opens the gates of its hook. If the
// attempt failed, that is told; the last good version keeps running, and where there is
// none the gates close. It reports whether the hook runs new code now. changes is held.
func (l *loader) install(ctx context.Context, a attempt) bool {
	h, old := a.hook, a.hook.current()
	if a.err != nil && old == nil {
		if l.guard.IsLost(h.Path) && h.Package == "" { // a package says itself what is wrong with it
			l.roster.closeLost(h)
		} else {
			l.roster.closeUnloaded(h, a.err)
		}
	}
	if interrupted(ctx, a.err) {
		h.sum = notLooked // the next look tries again
		return false
	}
	if a.err != nil {
		if old != nil {
			h.reject(a.err)
		} else {
			h.fault(a.err, 1)
		}
		l.audience.log.write(h.Name, "load: "+fullText(a.err))
		l.tellNotLoaded(ctx, failureOf(h, "load", a.err, 1), "hook "+h.Name+" did not load"+insteadOf(h, old)+": "+a.err.Error())
		return false
	}
	l.tree.forgive(h.Path)
	l.putInForce(a)
	return true
}

// putInForce makes the VM of an attempt the one that runs, and opens the gates of its hook.
func (l *loader) putInForce(a attempt) {
	h := a.hook
	h.replace(a.in)
	l.roster.openGates(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.code, h.disabled, h.lastError, h.rejected = a.code, false, "", ""
}

// tellNotLoaded shows text and tells other hooks and front ends of f. Other hooks hear of it
// behind the change of the chain that is being made; where there is no host yet, there is
// nobody to call.
func (l *loader) tellNotLoaded(ctx context.Context, f *agent.HookFailed, text string) {
	if l.audience.hostNow() == nil {
		l.audience.tellFailed(ctx, f, text)
		return
	}
	l.audience.notify(ctx, agent.LevelError, text)
	l.behind.run(func() { l.audience.tellFailed(ctx, f, "") })
}

// insteadOf says what is in force where a version did not load; old is the one before.
func insteadOf(h *hook, old *instance) string {
	closed := h.closed.Load()
	switch {
	case old != nil:
		return ", the last good version keeps running"
	case closed == nil:
		return ""
	case closed.unloaded:
		return ", tools are shut"
	}
	return ", its gate stays shut"
}

// run makes a VM that runs code for h. state is pi.state of the version before.
// The instance of a failed run is closed; it still knows the files it wanted.
func (l *loader) run(ctx context.Context, h *hook, code []byte, state json.RawMessage) (*instance, error) {
	in := l.newInstance(h)
	in.code = code
	err := in.load(ctx, code, state)
	if err != nil {
		in.close()
	}
	return in, err
}

// maxAbandoned bounds how many VMs that did not stop may pile up, those of children included.
const (
	maxAbandonedHook    = 1
	maxAbandonedProcess = 2
)

// revive replaces a VM that had to be given up by a fresh one that runs the same
// bytes. The next time, the hook is disabled for the session. It does nothing for
// a VM that is well.
func (l *loader) revive(ctx context.Context, h *hook, dead *instance) {
	if !dead.vm.Dead() {
		return
	}
	defer l.changing()()
	if h.current() != dead || l.behind.isEnding() {
		return
	}
	ctx, cancel := l.behind.detach(ctx) // who is interrupted wants a working hook afterwards too
	defer cancel()
	h.mu.Lock()
	code := h.code
	h.mu.Unlock()
	if !l.tree.mayRevive(h.Path) {
		l.giveUp(ctx, h)
		return
	}
	in, err := l.run(ctx, h, code, nil)
	if err != nil {
		h.fault(err, 1)
		l.giveUp(ctx, h)
		return
	}
	h.replace(in)
	l.applyRegistered(ctx)
	l.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+" did not stop; a fresh copy of it goes on")
	if host := l.audience.hostNow(); host != nil {
		l.dispatcher.greet(ctx, h, host.Session())
	}
}

// giveUp disables a hook for the session. Its gates go on to
// block: a gate that is gone must not be an open one.
func (l *loader) giveUp(ctx context.Context, h *hook) {
	l.tree.giveUp(h.Path)
	l.roster.closeDisabled(h, h.current())
	h.mu.Lock()
	h.disabled = true
	h.mu.Unlock()
	h.replace(nil)
	l.applyRegistered(ctx)
	l.audience.notify(ctx, agent.LevelError, "hook "+h.Name+" is disabled for this session: it did not stop again; change its file to load it anew")
}

// failed reports what went wrong in a handler, which may be nil, and gives a hook whose VM
// did not stop a fresh one.
func (l *loader) failed(ctx context.Context, h *hook, in *instance, event string, handler *lua.LFunction, err error) {
	if !interrupted(ctx, err) && !l.behind.isEnding() { // else it is no fault of the hook
		l.audience.tellFailure(ctx, h, in, event, handler, err)
		l.revive(ctx, h, in)
	}
}

// applyRegistered puts in force what hooks have registered by now.
func (l *loader) applyRegistered(ctx context.Context) {
	l.providers.refresh()
	l.tools.Apply("")
	l.warnCommands(ctx)
}

// SetEnabled turns hooks of a name off or on for the session. What is off is out
// of force at once, its gates too: the user asked for it. Turning on loads the
// file anew; the error is why that did not work.
func (l *loader) SetEnabled(ctx context.Context, name string, on bool) error {
	hooks, err := l.roster.named(name, l.dir)
	if err != nil {
		return err
	}
	if on {
		return l.turnOn(ctx, hooks)
	}
	defer l.changing()()
	for _, h := range hooks {
		h.off.Store(true)
		l.roster.openGates(h)
		h.replace(nil)
	}
	l.applyRegistered(ctx)
	return nil
}

// turnOn loads hooks that were turned off as a reload does, so that their files need the
// same approval. The error names those that did not load.
func (l *loader) turnOn(ctx context.Context, hooks []*hook) error {
	l.changes.Lock()
	for _, h := range hooks {
		if h.off.Store(false); h.current() == nil {
			h.sum, h.counts = notLooked, true
		}
	}
	l.changes.Unlock()
	l.reload(ctx, false, true)
	var errs []error
	for _, h := range hooks {
		if h.current() == nil {
			errs = append(errs, fmt.Errorf("hook %s did not load: %s", h.Name, h.info(l.dir, l.guard).LastError))
		}
	}
	return errors.Join(errs...)
}

// endAll ends what runs of the hooks. Nothing is waited for here: who is to end may be
// about to change the chain.
func (l *loader) endAll() {
	l.changes.Lock()
	defer l.changes.Unlock()
	for _, h := range l.roster.list() {
		if in := h.current(); in != nil {
			in.vm.Close() // it stays in its place, so that its gates are not open
			in.end()
		}
		h.endPrograms(l.ending)
	}
	for _, b := range l.builtins {
		b.close()
	}
}

// warnUnused tells of hooks that register nothing and return a table, as files of other programs do:
// nothing of it is ever called. A file that a hook requires is a module that lies beside it.
func (l *loader) warnUnused(ctx context.Context, hooks []*hook) {
	modules := map[string]bool{}
	for _, h := range l.roster.list() {
		if in := h.current(); in != nil {
			for file := range in.script.Files() {
				modules[file] = true
			}
		}
	}
	for _, h := range hooks {
		in := h.current()
		if in == nil || !in.script.ReturnsTable || modules[in.real] || modules[h.Path] {
			continue
		}
		var has Info
		has.add(&in.script.Registered)
		if len(has.Events)+len(has.Commands)+len(has.Tools)+len(has.Others) == 0 {
			l.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+" "+text.ReturnedTable)
		}
	}
}
