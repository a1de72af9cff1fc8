package hooktest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"pi/agent"
	"pi/cli/app"
	"pi/luavm"
)

// question is what a hook, or a server, asks the user.
type question struct {
	kind, title, message string // select, confirm, input, editor, continuations; the text below or in the field
	choices              []agent.Choice
	options              agent.DialogOptions
}

// reply is what the user says; the zero value is that of one who leaves the dialog.
type reply struct {
	given  bool
	yes    bool
	always bool
	texts  []string // the text, or what is selected
}

// user answers what hooks ask, by the functions of the case. Without them nobody is there.
type user struct {
	agent.NoUI
	witness *witness
	desk    desk
	lacking func(fault string) // is told of what the case has not
	failed  func() string      // the fault of the case; "": none

	mu     sync.Mutex // guards what follows
	answer func(ctx context.Context, q question) (reply, error)
	typed  string
	views  []*view
	use    func(v *view)                                   // plays with a component; nil: nothing does
	visit  func(ctx context.Context, address string) error // what happens in the browser; nil: there is none
}

// meet makes somebody be there, who answers as answer does.
func (p *user) meet(answer func(ctx context.Context, q question) (reply, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func (p *user) answers() func(ctx context.Context, q question) (reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer
}

// HasUI reports whether somebody is there.
func (p *user) HasUI() bool { return p.answers() != nil }

// ask shows a question and returns what the user says.
func (p *user) ask(ctx context.Context, q question) (reply, error) {
	answer := p.answers()
	if answer == nil {
		return reply{}, nil
	}
	for _, text := range []string{q.title, q.message} {
		if text != "" {
			p.witness.add(text)
		}
	}
	return answer(ctx, q)
}

// Select asks for choices.
func (p *user) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	r, err := p.ask(ctx, question{kind: cmp.Or(o.About, "select"), title: title, choices: choices, options: o})
	return r.texts, r.given, err
}

// Confirm asks for yes or no.
func (p *user) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	r, err := p.ask(ctx, question{kind: "confirm", title: title, message: message, options: o})
	switch {
	case r.always && o.Always != "":
		return agent.Always, err
	case r.yes:
		return agent.Yes, err
	}
	return agent.No, err
}

// Input asks for a line.
func (p *user) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	if o.About == app.AboutSignIn {
		return p.signIn(ctx)
	}
	return p.text(ctx, question{kind: "input", title: title, message: placeholder, options: o})
}

// Editor asks for a text.
func (p *user) Editor(ctx context.Context, title, prefill string, o agent.DialogOptions) (string, bool, error) {
	return p.text(ctx, question{kind: "editor", title: title, message: prefill, options: o})
}

func (p *user) text(ctx context.Context, q question) (string, bool, error) {
	r, err := p.ask(ctx, q)
	if len(r.texts) == 0 {
		return "", false, err
	}
	return r.texts[0], r.given, err
}

// Notify remembers a notice.
func (p *user) Notify(text string, level agent.Level) { p.witness.add(notice{level, text}) }

// SetStatus remembers a part of the status line.
func (p *user) SetStatus(key, text string) { p.witness.add(statusPart{key, text}) }

// SetPlan remembers the steps of a plan as read.
func (p *user) SetPlan(items []agent.PlanItem) {
	for _, item := range items {
		p.witness.add(item.Status + ": " + item.Content)
	}
}

// SetEditorText puts a text into the line being typed.
func (p *user) SetEditorText(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typed = text
}

// EditorText is the line being typed.
func (p *user) EditorText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.typed
}

// setAnswers is t.answers: a table of answers by the kind of the dialog, or a function(kind,
// title, options). An answer in the table is given to every dialog of its kind; a list, one
// after the other; a function(title, options) makes it.
func (f *file) setAnswers(L *lua.LState, s *scene, answers lua.LValue) {
	switch a := answers.(type) {
	case *lua.LFunction:
		s.stage.user.meet(func(ctx context.Context, q question) (reply, error) {
			return s.replyOf(ctx, q, func(L *lua.LState) lua.LValue {
				return call(L, a, lua.LString(q.kind), lua.LString(q.title), asked(L, q))
			})
		})
	case *lua.LTable:
		luavm.Materialise(L, a)
		var confirm, choice, input, editor, continuations lua.LValue
		var custom *lua.LFunction
		luavm.UnpackTable(L, a, "t.answers", luavm.Opt("confirm", &confirm), luavm.Opt("select", &choice), luavm.Opt("input", &input), luavm.Opt("editor", &editor),
			luavm.Opt("continuations", &continuations),
			luavm.Opt("custom", &custom))
		s.stage.user.play(s.player(custom))
		next := map[string]int{}
		s.stage.user.meet(func(ctx context.Context, q question) (reply, error) {
			return s.replyOf(ctx, q, func(L *lua.LState) lua.LValue { return s.fromTable(L, a, next, q) })
		})
	default:
		luavm.Raise(L, "t.answers: a table or a function, not a %s", answers.Type())
	}
}

// asked is what a function of t.answers is given of a question beside its title: the choices
// of a select, the text below a confirm, the placeholder of an input, the text in an editor.
func asked(L *lua.LState, q question) lua.LValue {
	if len(q.choices) == 0 {
		return lua.LString(q.message)
	}
	return luavm.NewList(L, len(q.choices), func(i int) lua.LValue { return lua.LString(q.choices[i].Text()) })
}

// call calls a function and returns its first result.
func call(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// fromTable is the answer that a table has for a question. next counts the answers of lists
// that were given.
func (s *scene) fromTable(L *lua.LState, answers *lua.LTable, next map[string]int, q question) lua.LValue {
	switch a := answers.RawGetString(q.kind).(type) {
	case *lua.LNilType:
		s.note(fmt.Sprintf("the user is asked %s %q, for which t.answers has nothing", q.kind, q.title))
		return lua.LNil
	case *lua.LFunction:
		return call(L, a, lua.LString(q.title), asked(L, q))
	case *lua.LTable:
		luavm.Materialise(L, a)
		next[q.kind]++
		v := a.RawGetInt(next[q.kind])
		if v == lua.LNil {
			s.note(fmt.Sprintf("the user is asked %s %q, and the %d answers of t.answers were given before", q.kind, q.title, a.Len()))
		}
		return v
	default:
		return a
	}
}

// replyOf runs answer in the VM of the test and reads what it says to a question. nil and
// false leave the dialog.
func (s *scene) replyOf(ctx context.Context, q question, answer func(L *lua.LState) lua.LValue) (r reply, err error) {
	err = s.job(ctx, q.kind, func(L *lua.LState) error {
		var err error
		r, err = readReply(L, q, answer(L))
		return err
	})
	if ctx.Err() != nil {
		return reply{}, ctx.Err()
	}
	if err != nil {
		return reply{}, nil // it is noted, and the user is gone
	}
	return r, nil
}

func readReply(L *lua.LState, q question, v lua.LValue) (reply, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return reply{}, nil
	case lua.LBool:
		switch {
		case q.kind == "confirm":
			return reply{given: true, yes: bool(v)}, nil
		case q.kind == agent.AboutContinuations && bool(v):
			return q.chosen([]string{agent.ContinueMore})
		case !bool(v):
			return reply{}, nil
		}
	case lua.LString:
		if q.kind == "confirm" && v == "always" {
			return reply{given: true, yes: true, always: true}, nil
		}
		if q.kind != "confirm" {
			return q.chosen([]string{string(v)})
		}
	case *lua.LTable:
		if texts, ok := luavm.Strings(L, v); ok && q.kind == "select" && q.options.Multi {
			return q.chosen(texts)
		}
	}
	return reply{}, fmt.Errorf("the answer to %s %q is %s", q.kind, q.title, shown(L, v))
}

// chosen is the reply of texts; of a select they have to be choices, as they are shown, and of
// a question of the program what it calls them.
func (q question) chosen(texts []string) (reply, error) {
	if len(q.choices) == 0 {
		return reply{given: true, texts: texts}, nil
	}
	name := agent.Choice.Text
	if q.options.About != "" {
		name = func(c agent.Choice) string { return c.Value }
	}
	r := reply{given: true, texts: []string{}}
	for _, text := range texts {
		i := slices.IndexFunc(q.choices, func(c agent.Choice) bool { return name(c) == text })
		if i < 0 {
			var names []string
			for _, c := range q.choices {
				names = append(names, fmt.Sprintf("%q", name(c)))
			}
			return reply{}, fmt.Errorf("the answer to %s %q is %q, and the choices are %s", q.kind, q.title, text, strings.Join(names, ", "))
		}
		r.texts = append(r.texts, q.choices[i].Value)
	}
	return r, nil
}

// view is what a hook draws and takes keys in, as the user sees it.
type view struct {
	component agent.Component
	from      string // the hook
	done      chan struct{}
	once      sync.Once
}

// RequestRender does nothing: a test looks when it wants to.
func (*view) RequestRender() {}

// Close takes the component away.
func (v *view) Close() { v.once.Do(func() { close(v.done) }) }

// Done is closed when the component is shown no more.
func (v *view) Done() <-chan struct{} { return v.done }

func (v *view) isClosed() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// lines draws the component.
func (v *view) lines(width, height int) []string { return v.component.Render(width, height).Lines }

// press gives the component a key by its name.
func (v *view) press(name string) (used bool) {
	k := agent.Key{Name: name}
	switch {
	case name == "space":
		k.Text = " "
	case len([]rune(name)) == 1:
		k.Text = name
	}
	return v.give(k)
}

// give gives the component a key. Esc closes it if it does not use that.
func (v *view) give(k agent.Key) (used bool) {
	used = v.component.HandleInput(k)
	if !used && k.Name == "esc" {
		v.Close()
	}
	return used
}

// enter gives the component a text as a user would type it.
func (v *view) enter(text string) {
	for _, r := range text {
		name := string(r)
		if r == ' ' {
			name = "space"
		}
		v.press(name)
	}
}

// Custom shows a component to the user, if one is there. What the case has for it, plays
// with it on a goroutine of its own, because the hook may wait for its end.
func (p *user) Custom(c agent.Component, o agent.SurfaceOptions) (agent.Surface, error) {
	if !p.HasUI() {
		return nil, nil
	}
	v := &view{component: c, from: o.From, done: make(chan struct{})}
	p.mu.Lock()
	p.views = append(p.views, v)
	use := p.use
	p.mu.Unlock()
	if use != nil {
		go func() {
			use(v)
			if !v.isClosed() {
				v.press("esc")
			}
			v.Close()
		}()
	}
	return v, nil
}

// open returns the newest component that is shown; nil if none is.
func (p *user) open() *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.views) - 1; i >= 0; i-- {
		if !p.views[i].isClosed() {
			return p.views[i]
		}
	}
	return nil
}

// play sets what uses the components that hooks show; nil: nothing does.
func (p *user) play(use func(v *view)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use = use
}

// closeAll closes what is shown: the user is gone.
func (p *user) closeAll() {
	for v := p.open(); v != nil; v = p.open() {
		v.Close()
	}
}

// Lend runs no program, and says what would have run.
func (p *user) Lend(_ context.Context, program agent.Program) (agent.Exit, error) {
	p.witness.add(strings.Join(append([]string{program.Name}, program.Args...), " "))
	return agent.Exit{}, agent.ErrNoTerminal
}
