package luahooks

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/session"
)

// The chain of a child has the hooks of the agent that uses it, which is the one above: the same
// ones, in the same order, and of each the version that is in force there, in a VM of its own. It
// looks at no file, and asks nobody what may run: that is decided above. What becomes of the hooks
// there counts in the child from its next event on, and what is closed there is closed in it.

// ChildOptions are what the chain of a child does not have from the one above. The functions are those
// of [Options].
type ChildOptions struct {
	Agent           agent.Identity
	Cwd             string // of the child; messages name files as seen from the directory of the user's own agent
	Tools, Inactive []agent.Tool
	ServerTools     func() []agent.Tool
	Servers         func() api.Servers
	Agents          func() api.Agents
	Active          []string // those that its model gets from the start, be they inactive otherwise
	// MayHave cuts the tools further: those that are not active above the child never has.
	MayHave func(tool string) bool
	// Models is where hooks of the child register providers; nil: it has the models of the agent
	// above, with what the hooks there have registered.
	Models   *llm.Models
	Commands func() []command.Command
}

// Child returns the loaded chain of an agent that the one of c uses. It is closed before c.
func (c *Chain) Child(ctx context.Context, child ChildOptions) *Chain {
	o := c.opts
	o.Guard, o.borrowsGuard, o.like = c.guard, true, c.roster
	o.Compiled = c.compiled
	o.Agent, o.AskProject = &child.Agent, nil
	o.Tools, o.Inactive, o.ServerTools, o.Servers, o.Agents = child.Tools, child.Inactive, child.ServerTools, child.Servers, child.Agents
	o.MayHave, o.Commands = child.MayHave, child.Commands
	if o.Models = child.Models; o.Models == nil {
		o.Models, o.Overlay = c.opts.Models, nil
	}
	next := newChain(o, c.loader)
	next.dir = c.dir
	next.opts.Cwd = child.Cwd
	if child.Active != nil {
		next.tools.chosen = map[string]bool{}
	}
	for _, name := range child.Active {
		next.tools.chosen[name] = true
	}
	next.follow(ctx)
	return next
}

// tree is what the chains of a session and of its children share.
type tree struct {
	window *toolWindow // of edits

	mu        sync.Mutex      // guards what follows
	abandoned map[string]int  // VMs that did not stop, by the path of their hook
	givenUp   map[string]bool // hooks that no child tries again, by path, until they change
}

func newTree(w *toolWindow) *tree {
	return &tree{window: w, abandoned: map[string]int{}, givenUp: map[string]bool{}}
}

// joinTree makes a new loader that of a child of the one above.
func (l *loader) joinTree(above *loader) {
	l.above, l.tree, l.edits, l.dialogs = above, above.tree, above.edits, above.dialogs
	l.tools.above = &above.tools
}

// root returns the loader of the user's own agent.
func (l *loader) root() *loader {
	for l.above != nil {
		l = l.above
	}
	return l
}

// mayRevive counts a VM of a hook that did not stop, and reports whether the hook gets another one.
func (t *tree) mayRevive(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned[path]++
	total := 0
	for _, n := range t.abandoned {
		total += n
	}
	return t.abandoned[path] <= maxAbandonedHook && total <= maxAbandonedProcess
}

// giveUp keeps children that begin later from trying a hook, until forgive.
func (t *tree) giveUp(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.givenUp[path] = true
}

func (t *tree) forgive(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.givenUp, path)
}

func (t *tree) isGivenUp(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.givenUp[path]
}

// isBehind reports whether something became of the hooks above, or of the mode there, since the
// child has followed last.
func (l *loader) isBehind() bool {
	if l.above == nil {
		return false
	}
	_, _, differs := l.modes()
	return differs || l.followed.Load() != l.above.now.Load() || l.above.isBehind()
}

// modes returns the modes of the agent above and of this one, and whether another one is on in them.
func (l *loader) modes() (above, own *agent.Modes, differs bool) {
	up, host := l.above.audience.hostNow(), l.audience.hostNow()
	if up == nil || host == nil {
		return nil, nil, false
	}
	above, own = up.Modes(), host.Modes()
	return above, own, above.Current() != own.Current()
}

// follow brings a child in line with the agent above. It does nothing for the user's own.
func (l *loader) follow(ctx context.Context) {
	if !l.isBehind() {
		return
	}
	ctx, cancel := l.behind.detach(ctx) // whoever is interrupted wants hooks that are in line afterwards too
	defer cancel()
	l.above.follow(ctx)
	for _, h := range l.takeOver(ctx) {
		waitDone(ctx, l.dispatcher.greet(ctx, h, l.audience.hostNow().Session()))
	}
	if above, own, differs := l.modes(); differs {
		own.Follow(ctx, above.Current())
		l.tools.Apply("") // which of them there are depends on the mode above
	}
}

// takeOver makes the hooks those of the agent above, and returns the ones that run new code in a
// session that has begun.
func (l *loader) takeOver(ctx context.Context) (fresh []*hook) {
	defer l.changing()()
	now := l.above.now.Load() // first: what changes meanwhile is looked at again
	if l.followed.Load() == now || l.behind.isEnding() {
		return nil
	}
	all := l.above.roster.list()
	hooks, gone := l.compareAbove(all)
	l.roster.replace(hooks)
	for _, h := range gone {
		l.roster.openGates(h)
		h.replace(nil)
	}
	var changed []*hook
	for i, up := range all {
		if l.takeOverState(hooks[i], up) {
			changed = append(changed, hooks[i])
		}
	}
	for _, a := range tryAll(changed, func(h *hook) attempt { return l.tryCode(ctx, h, h.of.code) }) {
		if l.installCopy(ctx, a) && l.audience.hostNow() != nil {
			fresh = append(fresh, a.hook)
		}
	}
	l.applyRegistered(ctx)
	l.followed.Store(now)
	return fresh
}

// compareAbove returns a hook for each of those above, in their order, and those that are not among
// them any more.
func (l *loader) compareAbove(all []*hook) (hooks, gone []*hook) {
	gone = slices.Clone(l.roster.list())
	for _, up := range all {
		i := slices.IndexFunc(gone, func(h *hook) bool { return h.Path == up.Path && h.Scope == up.Scope })
		if i < 0 {
			hooks = append(hooks, newHook(up.Source))
			continue
		}
		hooks, gone = append(hooks, gone[i]), slices.Delete(gone, i, i+1)
	}
	return hooks, gone
}

// takeOverState makes h as up is, which is the same hook above, but for the code that runs; changed
// reports that this is another one. Until it is loaded the gates of h are closed where it is new.
func (l *loader) takeOverState(h, up *hook) (changed bool) {
	closed, in := up.closed.Load(), up.current()
	closed = cmp.Or(closed, up.closed.Load()) // where nothing runs above, the gates were shut before or are now
	h.off.Store(up.off.Load())
	up.mu.Lock()
	disabled, lastError, lastCount := up.disabled, up.lastError, up.lastCount
	up.mu.Unlock()
	switch {
	case in == nil:
		h.of = nil
		h.mu.Lock()
		h.disabled, h.lastError, h.lastCount = disabled, lastError, lastCount
		h.mu.Unlock()
		l.copyGates(h, closed) // before nothing runs
		h.replace(nil)
	case h.of == in:
	case h.of != nil && h.current() != nil && in.isLike(h.of):
		h.of = in
	case l.tree.isGivenUp(h.Path):
		h.of = in
		l.roster.closeDisabled(h, in)
		h.mu.Lock()
		h.disabled = true
		h.mu.Unlock()
		h.replace(nil)
	default:
		h.of = in
		return true
	}
	return false
}

// copyGates closes and opens the gates of h as those above are.
func (l *loader) copyGates(h *hook, closed *closedGates) {
	if closed == nil {
		l.roster.openGates(h)
	} else {
		l.roster.closeGates(h, closed)
	}
}

// isLike reports whether two instances of a hook run the same code with the same settings.
func (in *instance) isLike(other *instance) bool {
	if !bytes.Equal(in.code, other.code) || textOf(in.said) != textOf(other.said) {
		return false
	}
	files := in.script.Files()
	for path, sum := range other.script.Files() {
		if now, ok := files[path]; ok && now != sum {
			return false
		}
	}
	return true
}

// installCopy puts the VM of an attempt into the chain of a child. A hook that runs above and does not
// load here has its gates shut: the version before is not the one that is in force.
func (l *loader) installCopy(ctx context.Context, a attempt) bool {
	h := a.hook
	if a.err != nil {
		h.counts = true
		l.roster.closeUnloaded(h, a.err)
		h.replace(nil)
		h.fault(a.err, 1)
		l.audience.log.write(h.Name, "load: "+fullText(a.err))
		l.tellNotLoaded(ctx, failureOf(h, "load", a.err, 1), fmt.Sprintf("hook %s did not load for the agent %s, whose tools are shut: %v", h.Name, l.opts.Agent.Name, a.err))
		return false
	}
	l.putInForce(a)
	return true
}

// memory has the questions that the user has answered with "always": those of a child are asked in
// the session of the user.
func (l *loader) memory() api.Memory {
	if l.above == nil {
		return &l.always
	}
	return memoryAbove{l.root()}
}

type memoryAbove struct{ root *loader }

// IsKept is that of [api.Memory].
func (m memoryAbove) IsKept(_ *session.Session, question string) bool {
	return m.root.always.IsKept(m.session(), question)
}

// Keep is that of [api.Memory].
func (m memoryAbove) Keep(_ *session.Session, question string) {
	m.root.always.Keep(m.session(), question)
}

func (m memoryAbove) session() *session.Session {
	if host := m.root.audience.hostNow(); host != nil {
		return host.Session()
	}
	return nil
}

// dialogsOf are the dialogs of the hooks: those of a child stand with the others in the queue of the
// user, whose hooks are told of them.
func (l *loader) dialogsOf() api.Dialogs {
	if l.above == nil {
		return l.dialogs
	}
	return dialogsAbove{l.above.dialogsOf(), "[" + l.opts.Agent.Name + "] "}
}

type dialogsAbove struct {
	api.Dialogs
	who string
}

// Ask is that of [api.Dialogs].
func (d dialogsAbove) Ask(ctx context.Context, kind, title string, f func(context.Context) error) error {
	return d.Dialogs.Ask(ctx, kind, d.who+title, f)
}

// AskPrompt is that of [api.Dialogs].
func (d dialogsAbove) AskPrompt(ctx context.Context, p api.Prompt, f func(context.Context) error) (*api.Reply, error) {
	p.Title = d.who + p.Title
	return d.Dialogs.AskPrompt(ctx, p, f)
}

// agents are the agents that hooks can use; nil: there are none.
func (l *loader) agents() api.Agents {
	if l.opts.Agents == nil {
		return nil
	}
	if all := l.opts.Agents(); all != nil {
		return awaitedAgents{all, l.watch}
	}
	return nil
}

// awaitedAgents are agents for which a tool that waits is not at work.
type awaitedAgents struct {
	api.Agents
	watch *toolWatch
}

// Start is that of [api.Agents].
func (a awaitedAgents) Start(ctx context.Context, r api.AgentRequest) (api.Child, error) {
	child, err := a.Agents.Start(ctx, r)
	if err != nil {
		return nil, err
	}
	return awaitedChild{child, a.watch}, nil
}

type awaitedChild struct {
	api.Child
	watch *toolWatch
}

// Wait is that of [api.Child].
func (c awaitedChild) Wait(ctx context.Context) (api.AgentResult, error) {
	select {
	case <-c.Ended():
		return c.Child.Wait(ctx)
	default:
	}
	c.watch.add(ctx, -1)
	defer c.watch.add(context.WithoutCancel(ctx), 1)
	return c.Child.Wait(ctx)
}
