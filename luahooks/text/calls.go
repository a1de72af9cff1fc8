package text

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/suggest"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// call reads a call: what is called, with what, and what that does.
func (w *walk) call(n *ast.FuncCallExpr, s *scope) {
	if n.Receiver != nil {
		w.method(n, s)
		return
	}
	called := pathOf(n.Func)
	switch {
	case called == "require":
		w.required(n, s)
	case isLoading(called) && s.find(called) == nil:
		w.unread(n.Line(), called)
	}
	w.callee(n, s)
	if isProtected(called, s) && len(n.Args) > 0 {
		w.protectedCall(n, s)
	}
	w.acts(n, s)
	w.learnArgs(n, s)
}

// acts reads what a call of the API does, and its arguments.
func (w *walk) acts(n *ast.FuncCallExpr, s *scope) {
	fn := w.functionOf(w.typeOf(n.Func, s))
	name := calledHere(fn)
	if name == "pi.emit" && len(n.Args) > 0 {
		if event := textOf(n.Args[0], s); event != nil && !strings.Contains(event.Value, ":") {
			hook := strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(w.shown), ".lua"), "/init")
			w.problem(n.Line(), NoEventName(path.Base(hook), event.Value))
		}
	}
	w.effect(fn, n)
	w.loading(fn, n, s)
	if name == "pi.on" {
		fn = w.listen(n, fn, s)
	}
	w.learnHandlers(fn, n)
	w.arguments(fn, n, s)
	if name == "pi.on" || name == "pi.mode" {
		w.gates(n, name, s)
	}
}

// protectedCall reads what pcall(fn, …) does where fn is a function of the API.
func (w *walk) protectedCall(n *ast.FuncCallExpr, s *scope) {
	fn := w.functionOf(w.typeOf(n.Args[0], s))
	inner := *n
	inner.Func, inner.Args = n.Args[0], n.Args[1:]
	w.effect(fn, &inner)
	if calledHere(fn) == "pi.on" {
		w.listen(&inner, fn, s)
	}
}

// calledHere is what a function is called here: that of pi for one of a module for hooks of another
// program; "" for one that is not of the API.
func calledHere(fn *annotated.Func) string {
	if fn == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(fn.Name, "marvin."); ok {
		return "pi." + name
	}
	return fn.Name
}

// required notes a module that stands beside the hook, or that there is not.
func (w *walk) required(n *ast.FuncCallExpr, s *scope) {
	if s.find("require") != nil || len(n.Args) == 0 {
		return
	}
	name := required(n)
	switch {
	case name == "":
		w.unread(n.Line(), "a module whose name is computed")
	case isCompat(name):
		if w.check.systems.byModule[name] != nil {
			w.compat = name
			return
		}
		w.problem(n.Line(), fmt.Sprintf("module %s does not exist%s", name, suggest.Hint(name, w.check.types.Modules())))
	case name != "pi" && !strings.HasPrefix(name, "pi."):
		w.requires = append(w.requires, w.place(n.Line(), name))
	case w.check.types.Module(name) == nil && name != "pi.test":
		w.problem(n.Line(), fmt.Sprintf("module %s does not exist%s", name, cmp.Or(Required(name), suggest.Hint(name, w.check.types.Modules()))))
	}
}

// listen notes the event that pi.on names and returns pi.on for that event; fn for one that is
// computed or that hooks emit.
func (w *walk) listen(n *ast.FuncCallExpr, fn *annotated.Func, s *scope) *annotated.Func {
	if len(n.Args) == 0 {
		return fn
	}
	name := textOf(n.Args[0], s)
	if name == nil {
		switch n.Args[0].(type) {
		case *ast.NumberExpr, *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.FunctionExpr, *ast.TableExpr:
		default:
			w.report.Listens = append(w.report.Listens, w.place(n.Line(), computed))
		}
		return fn
	}
	event := name.Value
	handler, problem := w.handlerFor(fn, event)
	if problem != "" {
		w.problem(n.Line(), problem)
		return fn
	}
	w.report.Listens = append(w.report.Listens, w.place(n.Line(), event))
	if handler == nil {
		return fn
	}
	params := []annotated.Param{{Name: "event", Type: &annotated.Type{Kind: annotated.Basic, Name: "string"}}, {Type: calling(handler)}}
	return &annotated.Func{Name: fn.Name, Variadic: fn.Variadic, Params: append(params, fn.Params[min(len(fn.Params), 2):]...)}
}

// handlerFor is how the handlers of an event are called, which fn is asked for; nil for one that hooks
// emit. problem is said of an event that there is not.
func (w *walk) handlerFor(fn *annotated.Func, event string) (handler *annotated.Func, problem string) {
	if sys := w.check.systems.byOn[fn]; sys != nil {
		return sys.handler(w, event)
	}
	if handler := handlerOf(w.check, event); handler != nil || strings.Contains(event, ":") {
		return handler, ""
	}
	return nil, "on: " + UnknownEvent(event, eventsOf(w.check), w.check.names.Modules("event", event))
}

// method reads a call with a colon: functions of the API are called with a dot.
func (w *walk) method(n *ast.FuncCallExpr, s *scope) {
	w.indexed(n.Receiver, n.Method, n.Line(), s)
	w.expr(n.Receiver, s)
	w.exprs(n.Args, s)
	object := w.only(w.typeOf(n.Receiver, s))
	if object == nil || object.Kind != annotated.Named {
		return
	}
	m := w.check.types.Find(w.check.types.Class(object.Name), n.Method)
	if m == nil && isContext(object) {
		field := &ast.AttrGetExpr{Object: n.Receiver, Key: &ast.StringExpr{Value: n.Method}}
		field.SetLine(n.Line())
		w.field(field, s)
	}
	if m == nil || w.functionOf(m.Type) == nil {
		return
	}
	name, fn := w.nameOf(w.functionOf(m.Type)), w.functionOf(m.Type)
	if len(fn.Params) == 0 || w.mismatch(fn.Params[0].Type, "table") == "" {
		w.problem(n.Line(), fmt.Sprintf("'%s' is called with a dot: .%s(…)", name, n.Method))
		return
	}
	w.problem(n.Line(), fmt.Sprintf("bad argument #1 to '%s' (%s expected, got table); call it with a dot: .%s(…)", name, w.mismatch(fn.Params[0].Type, "table"), n.Method))
}

// nameOf is how messages of a session name a function: those of pi and ctx alone, those of a
// module with its name.
func (w *walk) nameOf(fn *annotated.Func) string {
	for _, of := range []string{"ctx.ui.", "ctx.session.", "ctx.", "pi."} {
		if name, ok := strings.CutPrefix(fn.Name, of); ok {
			return name
		}
	}
	return fn.Name
}

// looking are the functions of modules that act which work while the file loads.
func looking(function string) bool {
	return slices.Contains([]string{"fs.read", "fs.exists", "fs.stat", "fs.list", "fs.glob", "fs.real", "http.encode", "http.resolve"}, function)
}

// registering are the functions of pi that work while the file loads.
func registering(name string) bool {
	switch name {
	case "on", "command", "tool", "mode", "provider", "remove_provider", "shortcut", "flag", "get_flag", "renderer",
		"register_message_renderer", "completion", "resources", "log", "declare_settings", "remove_tool", "promise", "signal":
		return true
	}
	return false
}

// loading reports a function that needs a session and is called while the file loads.
func (w *walk) loading(fn *annotated.Func, n *ast.FuncCallExpr, s *scope) {
	if fn == nil || s.fn != nil && !s.fn.loads || w.check.systems.ported[fn] {
		return
	}
	of, name, _ := strings.Cut(fn.Name, ".")
	acts := of == "fs" || of == "http" || of == "timer" || of == "git" || of == "llm" || of == "mcp" || of == "agent"
	if acts && !looking(fn.Name) || of == "pi" && !registering(name) {
		w.problem(n.Line(), w.nameOf(fn)+": not available while the hook loads; use session_start")
	}
}

// arguments reads the arguments of a call; fn says what is expected, nil: that is not known.
func (w *walk) arguments(fn *annotated.Func, n *ast.FuncCallExpr, s *scope) {
	called := pathOf(n.Func)
	for i, arg := range n.Args {
		var typ *annotated.Type
		if fn != nil && i < len(fn.Params) {
			typ = fn.Params[i].Type
		}
		inner, ok := arg.(*ast.FunctionExpr)
		if !ok {
			w.argument(typ, arg, s)
			continue
		}
		in := s
		if called == "pcall" || called == "xpcall" {
			in = s.inner()
			in.fn = &function{guarded: true}
		}
		w.function(inner, in, w.functionOf(typ), nil)
	}
	if fn == nil || fn.Name == "" {
		return
	}
	if !fn.Variadic && len(fn.Overloads) == 0 {
		w.tooMany(fn, n, s)
	}
	for i, p := range fn.Params {
		var arg ast.Expr
		if i < len(n.Args) {
			arg = n.Args[i]
		} else if len(n.Args) > 0 && isMany(n.Args[len(n.Args)-1]) {
			break // f(g()) may give all of them
		}
		w.fits(fn, i, p, arg, n, s)
	}
}

// tooMany reports arguments that a function does not take, be they further values of the last.
func (w *walk) tooMany(fn *annotated.Func, n *ast.FuncCallExpr, s *scope) {
	got, hint := len(n.Args), ""
	if got == 0 {
		return
	}
	if call, ok := n.Args[got-1].(*ast.FuncCallExpr); ok && !call.AdjustRet && got <= len(fn.Params) {
		values := max(w.valuesOf(call, s), 1)
		got += values - 1
		name := callName(call)
		hint = fmt.Sprintf("; %s gives %d values, and in parentheses gives the first: (%s)", name, values, name)
	}
	if got > len(fn.Params) {
		w.problem(n.Line(), fmt.Sprintf("'%s' takes at most %d arguments, got %d%s", w.nameOf(fn), len(fn.Params), got, hint))
	}
}

// valuesOf counts the values that a call gives whatever happens: a message comes only with nil.
func (w *walk) valuesOf(n *ast.FuncCallExpr, s *scope) (count int) {
	if n.Method == "gsub" || pathOf(n.Func) == "string.gsub" && s.find("string") == nil {
		return 2
	}
	if n.Func == nil {
		return 0
	}
	if fn := w.functionOf(w.typeOf(n.Func, s)); fn != nil {
		for i, value := range fn.Returns {
			if value.Kind != annotated.Any && !mayBeNil(w.check.types, value) {
				count = i + 1
			}
		}
	}
	return count
}

// callName is what messages of a session call what a call gives.
func callName(n *ast.FuncCallExpr) string {
	if n.Receiver == nil {
		return cmp.Or(pathOf(n), "it")
	}
	if of := pathOf(n.Receiver); of != "" {
		return of + "." + n.Method + "(…)"
	}
	return n.Method + "(…)"
}

// isMany reports whether an expression may give several values.
func isMany(e ast.Expr) bool {
	switch e.(type) {
	case *ast.FuncCallExpr, *ast.Comma3Expr:
		return true
	}
	return false
}

// argument reads an argument that is no function. Functions in a table of options are called as
// its class says.
func (w *walk) argument(typ *annotated.Type, arg ast.Expr, s *scope) {
	t, isTable := arg.(*ast.TableExpr)
	class := w.classOf(typ)
	if !isTable || class == nil {
		w.expr(arg, s)
		return
	}
	for _, f := range t.Fields {
		var member *annotated.Type
		if key, ok := f.Key.(*ast.StringExpr); ok {
			if m := w.check.types.Find(class, key.Value); m != nil {
				member = m.Type
			}
		}
		if inner, ok := f.Value.(*ast.FunctionExpr); ok {
			w.function(inner, s, w.functionOf(member), nil)
			continue
		}
		w.exprs([]ast.Expr{f.Key}, s)
		w.argument(member, f.Value, s)
	}
}

// fits checks an argument, nil for one that is not given, against its parameter.
func (w *walk) fits(fn *annotated.Func, i int, p annotated.Param, arg ast.Expr, n *ast.FuncCallExpr, s *scope) {
	class := w.classOf(p.Type)
	if t, ok := arg.(*ast.TableExpr); ok && class != nil {
		w.options(class, t, w.nameOf(fn), n.Line(), s)
		return
	}
	if t, ok := arg.(*ast.TableExpr); ok {
		w.elements(p.Type, t, w.nameOf(fn), s)
	}
	kind := w.kindOf(arg, s)
	switch {
	case arg == nil && p.Optional, arg != nil && kind == "", kind == "nil" && p.Optional:
		return
	case arg == nil && class != nil:
		w.options(class, &ast.TableExpr{}, w.nameOf(fn), n.Line(), s)
		return
	case arg == nil:
		kind = "no value"
	}
	if want := w.mismatch(p.Type, kind); want != "" {
		w.problem(n.Line(), fmt.Sprintf("bad argument #%d to '%s' (%s expected, got %s)", i+1, w.nameOf(fn), want, kind))
		return
	}
	if text, ok := arg.(*ast.StringExpr); ok {
		w.oneOf(p.Type, text, w.nameOf(fn)+": "+p.Name, n.Line())
	}
}
