package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pi/internal/suggest"
	"pi/luavm"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// isStandard reports whether a global is one of Lua or of the program.
func isStandard(name string) bool {
	if _, ok := libraries()[name]; ok {
		return true
	}
	return slices.Contains([]string{"_G", "_VERSION", "assert", "collectgarbage", "error", "getfenv", "getmetatable", "ipairs", "load", "loadstring",
		"next", "pairs", "pcall", "print", "rawequal", "rawget", "rawset", "select", "setfenv", "setmetatable", "tonumber", "tostring", "type",
		"unpack", "xpcall", "pi", "require"}, name)
}

// libraries are the functions of Lua's own libraries that a hook has.
func libraries() map[string]string {
	return map[string]string{
		"string":    " byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper ",
		"table":     " concat getn insert maxn remove sort ",
		"math":      " abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min mod modf pi pow rad random randomseed sin sinh sqrt tan tanh ",
		"coroutine": " create isyieldable resume running status wrap yield ",
		"os":        " clock date difftime getenv time ",
		"debug":     " traceback ",
	}
}

// isDefined reports whether a name means something.
func (w *walk) isDefined(name string, s *scope) bool {
	return s.find(name) != nil || w.globals[name] != nil || isStandard(name)
}

// hint ends a message about a name that is nil.
func (w *walk) hint(name string, s *scope) string {
	if instead := Instead(name); instead != "" {
		return "; " + instead
	}
	known := s.all()
	for name := range w.globals {
		known = append(known, name)
	}
	slices.Sort(known)
	return suggest.Hint(name, append(known, "pi", "string", "table", "math", "pairs", "ipairs", "print", "require", "tostring", "tonumber", "type"))
}

// used checks a name that is read for itself.
func (w *walk) used(n *ast.IdentExpr, s *scope) {
	if !w.isDefined(n.Value, s) && !w.isGuarded(s) && !w.told(n.Value, n.Line()) {
		w.problem(n.Line(), fmt.Sprintf("%q is not defined, so it is nil%s", n.Value, w.hint(n.Value, s)))
	}
}

// isGuarded reports whether an error here is caught, so that it may be meant.
func (w *walk) isGuarded(s *scope) bool { return s.fn != nil && s.fn.guarded }

// told reports whether something was said of a name in a line already.
func (w *walk) told(name string, line int) bool {
	return slices.ContainsFunc(w.report.Problems, func(p Place) bool {
		return p.File == w.shown && p.Line == line && strings.Contains(p.What, strconv.Quote(name))
	})
}

// indexed checks what a field is read or written of: a name that is nil has none.
func (w *walk) indexed(object ast.Expr, key string, line int, s *scope) {
	name, ok := object.(*ast.IdentExpr)
	if !ok || w.isGuarded(s) {
		return
	}
	if v := s.find(name.Value); v != nil && v.isAbsent && name.Value == "ctx" {
		w.problem(line, fmt.Sprintf("attempt to index %q, which is nil, with key %q; %s", name.Value, key, w.orderOf(v.called)))
		return
	}
	if w.isDefined(name.Value, s) {
		return
	}
	w.problem(line, fmt.Sprintf("attempt to index %q, which is nil, with key %q%s", name.Value, key, w.hint(name.Value, s)))
}

// callee checks what is called: a name that is nil, or a function that a library of Lua does not
// have here.
func (w *walk) callee(n *ast.FuncCallExpr, s *scope) {
	switch fn := n.Func.(type) {
	case *ast.IdentExpr:
		if !w.isDefined(fn.Value, s) && !w.isGuarded(s) {
			w.problem(n.Line(), fmt.Sprintf("attempt to call %q, which is no function%s", fn.Value, w.hint(fn.Value, s)))
		}
	case *ast.AttrGetExpr:
		path := pathOf(fn)
		of, name, _ := strings.Cut(path, ".")
		if has, isLibrary := libraries()[of]; isLibrary && s.find(of) == nil && !strings.Contains(has, " "+name+" ") {
			hint := suggest.Hint(name, strings.Fields(has))
			if instead := Instead(path); instead != "" {
				hint = "; " + instead
			}
			w.problem(n.Line(), fmt.Sprintf("attempt to call %q, which is no function%s", path, hint))
		}
		w.indexed(fn.Object, keyOf(fn), n.Line(), s)
		w.exprs([]ast.Expr{fn.Object, fn.Key}, s)
		w.field(fn, s)
	default:
		w.expr(n.Func, s)
	}
}

// field checks a field that is read of something whose fields are known.
func (w *walk) field(n *ast.AttrGetExpr, s *scope) {
	object, key := w.only(w.typeOf(n.Object, s)), keyOf(n)
	w.computedField(n, object, s)
	if object == nil || object.Kind != annotated.Named || w.isGuarded(s) {
		return
	}
	class := w.check.types.Class(object.Name)
	switch {
	case class == nil || w.check.types.IsOpen(class) || key == "":
		return
	case w.check.systems.absent[class.Name][key] != "":
		w.problem(n.Line(), fmt.Sprintf("%s has no %s; %s", w.called(class), key, w.check.systems.absent[class.Name][key]))
		return
	case w.check.types.Find(class, key) != nil:
		return
	}
	if why := w.elsewhere(class.Name, key); why != "" {
		w.problem(n.Line(), key+": "+why)
		return
	}
	of, names := w.called(class), w.check.types.Names(class)
	if object, ok := n.Object.(*ast.IdentExpr); ok && of == "ctx" && object.Value != "ctx" {
		if v := s.find(object.Value); v != nil && v.called != nil {
			w.problem(n.Line(), fmt.Sprintf("%q is ctx, which has no field %q; %s", object.Value, key, w.orderOf(v.called)))
			return
		}
	}
	if !strings.HasPrefix(of, "the event ") {
		slices.Sort(names)
	}
	if _, isPorted := w.check.systems.absent[class.Name]; isPorted {
		w.problem(n.Line(), fmt.Sprintf("%s has no field %q%s", of, key, suggest.Hint(key, names)))
		return
	}
	w.problem(n.Line(), luavm.NoField(of, key, names, w.check.names.Field, w.check.names.Modules))
}

// computedField says that a function of pi, ctx or a module is called, or a global, whose name is
// not in the text.
func (w *walk) computedField(n *ast.AttrGetExpr, object *annotated.Type, s *scope) {
	of := ""
	switch global, _ := n.Object.(*ast.IdentExpr); {
	case global != nil && global.Value == "_G" && s.find("_G") == nil:
		if isLoading(keyOf(n)) {
			w.unread(n.Line(), keyOf(n))
		}
		of = "_G"
	case w.isAPI(object) && object.Kind == annotated.Named:
		of = strings.TrimPrefix(object.Name, "pi.")
	case isContext(object):
		of = "ctx"
	}
	if _, isText := n.Key.(*ast.StringExpr); of != "" && !isText {
		w.unread(n.Line(), "a function of "+of+" whose name is computed")
	}
}

// orderOf says in which order a function gets its arguments that is called as called says.
func (w *walk) orderOf(called *annotated.Func) string {
	execute := w.check.types.Find(w.check.types.Class("pi.ToolOptions"), "execute")
	if execute == nil || w.functionOf(execute.Type) != called {
		return Instead("ctx)")
	}
	var names []string
	for _, p := range called.Params {
		names = append(names, p.Name)
	}
	return "a tool's execute gets (" + strings.Join(names, ", ") + ")"
}

// elsewhere says where ctx has a member that it does not have as this class; "" for one that it
// has nowhere, and for what a command was typed with.
func (w *walk) elsewhere(class, key string) string {
	has := func(class string) bool { return w.check.types.Find(w.check.types.Class(class), key) != nil }
	switch {
	case class != "pi.Context" && class != "pi.SettledContext", key == "args", key == "args_raw":
		return ""
	case has("pi.SettledContext"):
		return "only in commands and shortcuts, and in handlers of agent_settled"
	case has("pi.CommandContext"):
		return "only in commands and shortcuts"
	}
	return ""
}

// isContext reports whether a value is ctx.
func isContext(t *annotated.Type) bool {
	return t != nil && t.Kind == annotated.Named && slices.Contains([]string{"pi.Context", "pi.SettledContext", "pi.CommandContext"}, t.Name)
}

// called is what messages call a table of a class.
func (w *walk) called(class *annotated.Class) string {
	if strings.HasPrefix(class.Name, "pi.compat.") {
		switch class.Name[strings.LastIndex(class.Name, "."):] {
		case ".Context":
			return "ctx"
		case ".UI":
			return "ctx.ui"
		}
	}
	switch class.Name {
	case "pi":
		return "pi"
	case "pi.Context", "pi.SettledContext", "pi.CommandContext":
		return "ctx"
	case "pi.UI":
		return "ctx.ui"
	case "pi.Session":
		return "ctx.session"
	case "pi.Theme":
		return "theme"
	case "pi.Signal":
		return "signal"
	case "pi.Agent":
		return "the agent"
	case "pi.AgentResult":
		return "what came of the agent"
	case "pi.Model":
		return "this value"
	}
	if tool, ok := strings.CutSuffix(strings.TrimPrefix(class.Name, "pi."), "Input"); ok && inputClass(strings.ToLower(tool)) == class.Name {
		return inputOf + strings.ToLower(tool)
	}
	if t := w.check.types.Find(class, "type"); t != nil && strings.HasSuffix(class.Name, "Event") {
		return "the event " + t.Type.Name
	}
	return class.Name
}

// operands reads two operands, and reports a text that is added, or a table that is joined.
func (w *walk) operands(operator string, left, right ast.Expr, s *scope) {
	w.exprs([]ast.Expr{left, right}, s)
	a, b := w.kindOf(left, s), w.kindOf(right, s)
	switch {
	case a == "" || b == "":
	case operator == "+" && (isWords(left) || isWords(right)) && (a == "string" || b == "string"):
		w.problem(left.Line(), fmt.Sprintf("cannot perform add operation between %s and %s; .. joins texts", a, b))
	case operator == "concat" && (a == "table" || b == "table"):
		wrong := left
		if a != "table" {
			wrong = right
		}
		message := fmt.Sprintf("cannot perform concat operation between %s and %s", a, b)
		if name := pathOf(wrong); name != "" {
			message += fmt.Sprintf(": %q is a table", name)
		}
		w.problem(left.Line(), message)
	}
}

// isWords reports whether an expression is a text that is no number.
func isWords(e ast.Expr) bool {
	text, ok := e.(*ast.StringExpr)
	if !ok {
		return false
	}
	_, err := strconv.ParseFloat(strings.TrimSpace(text.Value), 64)
	return err != nil
}
