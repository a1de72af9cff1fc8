package text

import (
	"strings"

	"pi/stdlib/annotated"

	"github.com/yuin/gopher-lua/ast"
)

// effect notes what a call does outside of the hook, as far as its text says.
func (w *walk) effect(fn *annotated.Func, n *ast.FuncCallExpr) {
	r := w.report
	add := func(list *[]Place, what string) { *list = append(*list, w.place(n.Line(), what)) }
	name := calledHere(fn)
	switch name {
	case "", "pi.hook": // which makes a hook of a function
		return
	case "os.getenv":
		add(&r.Reads, "$"+argumentText(n, 0))
		return
	}
	r.Calls = append(r.Calls, fn.Name)
	switch name {
	case "fs.read", "fs.list", "fs.glob", "fs.watch", "fs.exists", "fs.stat", "fs.real":
		add(&r.Reads, argumentText(n, 0))
	case "fs.write", "fs.mkdir", "fs.remove", "fs.chmod":
		add(&r.Writes, argumentText(n, 0))
	case "fs.temp":
		add(&r.Writes, "a temporary file")
	case "ctx.save_entry", "pi.append_entry", "ctx.edit_context", "pi.set_label", "pi.set_session_name":
		add(&r.Writes, "the session")
	case "pi.exec", "ctx.exec", "pi.spawn", "ctx.ui.run", "pi.exec_command":
		add(&r.Runs, commandText(n))
	case "http.get", "http.post":
		add(&r.Connects, host(argumentText(n, 0)))
	case "http.request", "http.stream", "http.events":
		add(&r.Connects, host(optionText(n, "url")))
	case "http.listen":
		add(&r.Connects, "listens on 127.0.0.1")
	case "pi.provider", "pi.register_provider":
		if url := optionText(n, "base_url"); url != "" {
			add(&r.Connects, host(url))
		}
		if login, ok := option(n, "login").(*ast.TableExpr); ok {
			w.signsIn(login, add)
		}
	case "ui.open":
		add(&r.Connects, host(argumentText(n, 0)))
	case "ui.oauth":
		if len(n.Args) > 0 {
			if login, ok := n.Args[0].(*ast.TableExpr); ok {
				w.signsIn(login, add)
			}
		}
	case "llm.complete", "llm.stream":
		add(&r.Connects, "a model")
	case "agent.run", "agent.start":
		add(&r.Runs, strings.TrimSpace("an agent "+optionText(n, "agent")))
	default:
		if strings.HasPrefix(name, "git.") {
			add(&r.Runs, "git")
		}
	}
}

// signsIn notes the servers that a standard way to sign in asks.
func (w *walk) signsIn(login *ast.TableExpr, add func(list *[]Place, what string)) {
	for _, name := range []string{"authorize_url", "device_url", "token_url"} {
		if url := valueOf(login, name); url != nil {
			add(&w.report.Connects, host(literal(url)))
		}
	}
}

// computed stands for what the text does not say.
const computed = "(computed)"

// argumentText is the i-th argument of a call as far as it stands in the text.
func argumentText(n *ast.FuncCallExpr, i int) string {
	if i >= len(n.Args) {
		return "."
	}
	return literal(n.Args[i])
}

// literal is an expression as far as it is a text: what is computed in it is ….
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StringExpr:
		return e.Value
	case *ast.NumberExpr:
		return e.Value
	case *ast.StringConcatOpExpr:
		left, right := literal(e.Lhs), literal(e.Rhs)
		if left == computed && right == computed {
			return computed
		}
		return strings.ReplaceAll(left+right, computed, "…")
	}
	return computed
}

// commandText is a program and its first arguments.
func commandText(n *ast.FuncCallExpr) string {
	words := []string{argumentText(n, 0)}
	if len(n.Args) > 1 {
		list, ok := n.Args[1].(*ast.TableExpr)
		if !ok {
			return words[0] + " …"
		}
		for _, f := range list.Fields {
			if word := literal(f.Value); f.Key == nil && word != computed {
				words = append(words, word)
			} else {
				words = append(words, "…")
			}
		}
	}
	return strings.Join(words, " ")
}

// optionText is a field of the last table of a call as far as it stands in the text; "" if it is not
// given.
func optionText(n *ast.FuncCallExpr, name string) string {
	if value := option(n, name); value != nil {
		return literal(value)
	}
	return ""
}

// option is a field of the last table of a call; nil if it is not given.
func option(n *ast.FuncCallExpr, name string) ast.Expr {
	for _, arg := range n.Args {
		if t, ok := arg.(*ast.TableExpr); ok {
			if value := valueOf(t, name); value != nil {
				return value
			}
		}
	}
	return nil
}

// host is the scheme and the server of an address.
func host(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		rest = rest[:at]
	}
	return scheme + "://" + rest
}
