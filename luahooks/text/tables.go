package text

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"
	"pi/luavm"
	"pi/stdlib"
	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// options checks a table of options against its class. line is that of the call.
func (w *walk) options(class *annotated.Class, t *ast.TableExpr, function string, line int, s *scope) {
	given := map[string]bool{}
	names := w.check.types.Names(class)
	for _, f := range t.Fields {
		key, ok := f.Key.(*ast.StringExpr)
		if !ok {
			return // a list, or a key that is computed
		}
		given[key.Value] = true
		m := w.check.types.Find(class, key.Value)
		if m == nil {
			if !w.check.types.IsOpen(class) {
				w.problem(key.Line(), luavm.UnknownOption(function, key.Value, names))
			}
			continue
		}
		kind := w.kindOf(f.Value, s)
		if want := w.mismatch(m.Type, kind); want != "" && kind != "nil" {
			w.problem(key.Line(), luavm.WrongOption(function, key.Value, want, kind))
		}
		if text, ok := f.Value.(*ast.StringExpr); ok {
			w.oneOf(m.Type, text, function+": "+key.Value, key.Line())
		}
		if inner, ok := f.Value.(*ast.TableExpr); ok {
			if class := w.classOf(m.Type); class != nil {
				w.options(class, inner, function+": "+key.Value, key.Line(), s)
			} else if key.Value == "parameters" {
				w.checkParameters(inner, function, s)
			} else {
				w.elements(m.Type, inner, function+": "+key.Value, s)
			}
		}
	}
	for _, m := range w.check.types.All(class) {
		if !m.Optional && !given[m.Name] && m.Type.Kind != annotated.Any && len(w.check.types.Parts(m.Type)) == 1 && !isDrawn(class, m) {
			w.problem(line, luavm.MissingOption(function, m.Name))
		}
	}
}

// checkParameters reports a table of schemas where a JSON Schema is wanted.
func (w *walk) checkParameters(t *ast.TableExpr, function string, s *scope) {
	for _, f := range t.Fields {
		key, isText := f.Key.(*ast.StringExpr)
		call, isCall := f.Value.(*ast.FuncCallExpr)
		inner, isTable := f.Value.(*ast.TableExpr)
		if isCall {
			fn := w.functionOf(w.typeOf(call.Func, s))
			isCall = fn != nil && strings.HasPrefix(fn.Name, "schema.")
		}
		if !isText || !isCall && !(isTable && valueOf(inner, "type") != nil) {
			continue
		}
		if wrong := stdlib.WrongKeyword(key.Value); wrong != "" {
			w.problem(key.Line(), function+": parameters: "+wrong)
			return
		}
	}
}

// isDrawn reports a member that is not wanted of the author but given to them.
func isDrawn(class *annotated.Class, m *annotated.Member) bool {
	return strings.HasSuffix(class.Name, "Event") || m.Type.Kind == annotated.Function && class.Name == "pi.Field"
}

// elements checks the tables in a list of options.
func (w *walk) elements(list *annotated.Type, t *ast.TableExpr, function string, s *scope) {
	only := w.only(list)
	if only == nil || only.Kind != annotated.Table || len(only.Of) != 1 {
		return
	}
	class := w.classOf(only.Of[0])
	for _, f := range t.Fields {
		if inner, ok := f.Value.(*ast.TableExpr); ok && f.Key == nil && class != nil {
			w.options(class, inner, function, inner.Line(), s)
		}
	}
}

// oneOf reports a text that is none of those that a type has.
func (w *walk) oneOf(t *annotated.Type, text *ast.StringExpr, what string, line int) {
	var known []string
	for _, part := range w.check.types.Parts(t) {
		switch {
		case part.Kind == annotated.Literal:
			known = append(known, part.Name)
		case part.Kind != annotated.Basic || part.Name != "nil":
			return // any text, or something else
		}
	}
	if len(known) > 0 && !slices.Contains(known, text.Value) {
		w.problem(line, fmt.Sprintf("%s must be %s, not %q%s", what, strings.Join(known, " or "), text.Value, suggest.Hint(text.Value, known)))
	}
}

// kindOf is the type of a value as Lua calls it; "" if it is not known.
func (w *walk) kindOf(e ast.Expr, s *scope) string {
	switch e := e.(type) {
	case *ast.StringExpr:
		return "string"
	case *ast.NumberExpr:
		return "number"
	case *ast.TrueExpr, *ast.FalseExpr:
		return "boolean"
	case *ast.NilExpr:
		return "nil"
	case *ast.FunctionExpr:
		return "function"
	case *ast.TableExpr:
		return "table"
	case *ast.FuncCallExpr:
		if e.Receiver != nil && isTextMethod(e.Method) {
			return "string"
		}
		return ""
	case *ast.IdentExpr:
		v := s.find(e.Value)
		switch {
		case v != nil && v.fn != nil:
			return "function"
		case v != nil && isContext(v.typ):
			return "table"
		}
		return ""
	}
	if only := w.only(w.typeOf(e, s)); only != nil && e != nil {
		switch {
		case only.Kind == annotated.Basic:
			return only.Name
		case only.Kind == annotated.Table:
			return "table"
		}
	}
	return ""
}

// isTextMethod reports whether a method of texts gives a text.
func isTextMethod(name string) bool {
	return slices.Contains([]string{"upper", "lower", "sub", "rep", "format", "reverse", "gsub"}, name)
}

// mismatch returns what a type wants where a value of a kind is given; "" if it takes that, or
// the kind is not known. Numbers are texts, as everywhere in Lua.
func (w *walk) mismatch(t *annotated.Type, kind string) string {
	want := ""
	for _, part := range w.check.types.Parts(t) {
		takes := ""
		switch part.Kind {
		case annotated.Any:
			return ""
		case annotated.Basic:
			takes = part.Name
		case annotated.Literal:
			takes = "string"
			if part.Name == "true" || part.Name == "false" {
				takes = "boolean"
			}
		case annotated.Function:
			takes = "function"
		case annotated.Table, annotated.Named:
			takes = "table"
		}
		if takes == kind || kind == "" || takes == "string" && kind == "number" || takes == "number" && kind == "string" || takes == "userdata" {
			return ""
		}
		if want == "" {
			want = w.wanted(part, takes)
		}
	}
	return want
}

// wanted is how messages call a type.
func (w *walk) wanted(t *annotated.Type, takes string) string {
	if t.Kind == annotated.Table && len(t.Of) == 1 {
		if of := w.only(t.Of[0]); of != nil && of.Name == "string" {
			return "list of strings"
		}
		if class := w.classOf(t.Of[0]); class != nil && len(w.check.types.Parts(t.Of[0])) == 2 {
			return "list of strings or of {" + strings.Join(w.check.types.Names(class), ", ") + "}"
		}
		return "list"
	}
	return takes
}

// result is what the results of a function are checked against.
type result struct {
	event string // whose handler it is; "" for a command or a tool
	what  string // how messages call it
	class *annotated.Class
}

// resultOf is what the results of a function are checked against that is called as fn says;
// nil for nothing.
func (w *walk) resultOf(fn *annotated.Func) *result {
	if len(fn.Returns) == 0 {
		return nil
	}
	class := w.classOf(fn.Returns[0])
	if class == nil {
		return nil
	}
	switch class.Name {
	case "pi.CommandResult":
		return &result{what: "result of the command", class: class}
	case "pi.ToolResult":
		return &result{what: "result of the tool", class: class}
	}
	if event := w.check.systems.results[class.Name]; event != "" {
		return &result{event, event, class}
	}
	for _, event := range eventsOf(w.check) {
		if _, of := w.check.types.Event(event); of == class {
			return &result{event, event, class}
		}
	}
	return nil
}

// returned reads a return and checks what it gives back.
func (w *walk) returned(n *ast.ReturnStmt, s *scope) {
	var r *result
	if s.fn != nil {
		r = s.fn.returns
	}
	for i, e := range n.Exprs {
		var called *annotated.Func
		if w.isHook && s.fn == nil && i == 0 {
			called = w.check.main
		}
		if fn, ok := e.(*ast.FunctionExpr); ok {
			w.function(fn, s, called, nil)
			continue
		}
		if name, ok := e.(*ast.IdentExpr); ok && called != nil {
			w.inferred.learnHandler(name.Value, called)
		}
		w.expr(e, s)
		w.escapes(e, s)
		if r != nil && i == 0 {
			w.answer(r, e, n, s)
		}
	}
}

// answer checks one result of a handler.
func (w *walk) answer(r *result, e ast.Expr, n *ast.ReturnStmt, s *scope) {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		if e.Operator == "or" {
			w.answer(r, e.Lhs, n, s)
		}
		if _, isTable := e.Rhs.(*ast.TableExpr); isTable {
			w.answer(r, e.Rhs, n, s)
		}
	case *ast.TableExpr:
		w.keys(r, r.class, e, "", s)
	default:
		if _, isPorted := w.check.systems.results[r.class.Name]; isPorted && r.event != "tool_call" {
			return // other programs drop it
		}
		if kind := w.kindOf(e, s); r.event != "" && kind != "" && kind != "nil" && kind != "table" {
			w.problem(n.Line(), fmt.Sprintf("a handler of %s returns nil or a table, not a %s", r.event, kind))
		}
	}
}

// keys checks the fields of a table that a handler returns; path is where it stands in that.
func (w *walk) keys(r *result, class *annotated.Class, t *ast.TableExpr, path string, s *scope) {
	names := w.check.types.Names(class)
	for _, f := range t.Fields {
		key, ok := f.Key.(*ast.StringExpr)
		if !ok {
			return
		}
		m := w.check.types.Find(class, key.Value)
		if m == nil {
			if !w.check.types.IsOpen(class) {
				w.problem(key.Line(), unknownKey(r, path, key.Value, names))
			}
			continue
		}
		kind := w.kindOf(f.Value, s)
		if want := w.mismatch(m.Type, kind); want != "" && kind != "nil" && r.event != "" {
			w.problem(key.Line(), fmt.Sprintf("%s%s: expected a %s, got %s", path, key.Value, want, kind))
		}
		if inner, ok := f.Value.(*ast.TableExpr); ok {
			if class := w.classOf(m.Type); class != nil {
				w.keys(r, class, inner, path+key.Value+".", s)
			}
		}
	}
	w.checkReason(class, t)
}

// checkReason reports a result of tool_call that says why it blocks, and does not block. One
// with a key that there is not is wrong in another way.
func (w *walk) checkReason(class *annotated.Class, t *ast.TableExpr) {
	reason := valueOf(t, "reason")
	if class.Name != "pi.ToolCallResult" || reason == nil || valueOf(t, "block") != nil {
		return
	}
	for _, f := range t.Fields {
		if w.check.types.Find(class, f.Key.(*ast.StringExpr).Value) == nil {
			return
		}
	}
	w.problem(reason.Line(), "reason says why a call is blocked: return block = true with it")
}

// unknownKey says what is wrong with a key of a result, as a session does.
func unknownKey(r *result, path, key string, names []string) string {
	hint := suggest.Hint(key, names)
	switch {
	case r.event == "":
		return luavm.UnknownOption(r.what, path+key, names)
	case path != "":
		return fmt.Sprintf("%s%s: unknown key%s", path, key, hint)
	case hint == "":
		hint = "; it may have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("unknown key %q in the result of %s%s", key, r.event, hint)
}
