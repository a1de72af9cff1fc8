package hooktest

import (
	"context"
	"strings"
	"sync"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// The window that components are drawn in.
const (
	viewColumns = 80
	viewRows    = 24
)

// view is a component that a hook shows, with the person before it. It is the
// [agent.Surface] of that.
type view struct {
	component agent.Component
	rows      int
	witness   *witness
	done      chan struct{}
	close     sync.Once
}

// Custom shows a component: the person presses the keys that the answer to "custom" says,
// and then Esc, until it is closed.
func (p *person) Custom(c agent.Component, o agent.SurfaceOptions) (agent.Surface, error) {
	answer := p.answers()
	if answer == nil {
		return p.NoUI.Custom(c, o)
	}
	v := &view{component: c, rows: o.Rows, witness: p.witness, done: make(chan struct{})}
	if v.rows == 0 {
		v.rows = viewRows
	}
	p.views.Go(func() { v.meet(answer) })
	return v, nil
}

// meet is what the person does with the component.
func (v *view) meet(answer func(ctx context.Context, q question) (reply, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(ctx, v.Close)
	go func() {
		<-v.done
		cancel()
	}()
	v.look()
	r, err := answer(ctx, question{kind: "custom", view: v})
	if err != nil {
		return
	}
	v.press(r.texts)
	v.press([]string{"esc"})
}

// press presses keys one after the other, as long as the component is there, and returns
// how it looks then.
func (v *view) press(keys []string) string {
	for _, key := range keys {
		if v.isClosed() {
			return ""
		}
		text := key
		if key == "space" {
			text = " "
		} else if len([]rune(key)) > 1 {
			text = ""
		}
		used := v.component.HandleInput(agent.Key{Name: key, Text: text})
		if key == "ctrl+c" || key == "esc" && !used {
			v.Close()
		}
		v.look()
	}
	return v.text()
}

// text is how the component looks; "" once it is closed.
func (v *view) text() string {
	if v.isClosed() {
		return ""
	}
	return strings.Join(v.component.Render(viewColumns, v.rows).Lines, "\n")
}

// look remembers how the component looks as read by the person.
func (v *view) look() {
	if text := v.text(); text != "" {
		v.witness.show(text)
	}
}

// viewTable is what a function of t.answers gets of the component: press(keys), with blanks
// between them, and text(), which both return how it looks.
func (f *file) viewTable(L *lua.LState, v *view) lua.LValue {
	waited := func(do func() string) func(L *lua.LState) string {
		return func(L *lua.LState) (text string) {
			if err := f.vm.Wait(L, true, func(context.Context) error { text = do(); return nil }); err != nil {
				luavm.Raise(L, "the component: %v", err)
			}
			return text
		}
	}
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "text", f.vm.Func("view.text", waited(v.text)))
	luavm.Set(t, "press", f.vm.Func("view.press", func(L *lua.LState, keys string) string {
		return waited(func() string { return v.press(strings.Fields(keys)) })(L)
	}))
	return f.vm.StrictTable("the component", t)
}

func (v *view) isClosed() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// RequestRender does nothing: a view is drawn when somebody looks.
func (v *view) RequestRender() {}

// Close takes the component away.
func (v *view) Close() { v.close.Do(func() { close(v.done) }) }

// Done is closed when the component is shown no more.
func (v *view) Done() <-chan struct{} { return v.done }
