package hooktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// web are the functions that play what hooks reach by addresses: a server on this machine, and the
// browser of the user.
func (f *file) web() functions { return functions{"http": f.serve, "browser": f.browse} }

// serve is t.http{ ["/path"] = function(request) … end } → {port, url, close}: a server on this
// machine until the case ends. A path that is not there is status 404; a function that fails, fails
// the case.
func (f *file) serve(L *lua.LState, paths *lua.LTable) (lua.LValue, error) {
	f.current(L, "http")
	luavm.Materialise(L, paths)
	paths.ForEach(func(path, fn lua.LValue) {
		if name, ok := path.(lua.LString); !ok || !strings.HasPrefix(string(name), "/") {
			luavm.Raise(L, "t.http: %s is no path; they begin with /, as in { [\"/token\"] = function(request) … end }", shown(L, path))
		}
		if fn.Type() != lua.LTFunction {
			luavm.Raise(L, "t.http: %s has a function that answers, not a %s", path, fn.Type())
		}
	})
	return stdlib.Serve(f.vm, L, f.env, "t.http", f.vm.GFunc("t.http", func(L *lua.LState) int {
		request := L.CheckTable(1)
		if fn := paths.RawGet(request.RawGetString("path")); fn != lua.LNil {
			L.Push(call(L, fn.(*lua.LFunction), request))
			return 1
		}
		missing := luavm.NewRecord(L, 1)
		luavm.Set(missing, "status", lua.LNumber(http.StatusNotFound))
		L.Push(missing)
		return 1
	}))
}

// browse is t.browser(fn): fn is called with each address that is opened in the browser of the user,
// and whoever opens it goes on when fn has returned.
func (f *file) browse(L *lua.LState, fn *lua.LFunction) {
	s := f.current(L, "browser")
	visit := func(ctx context.Context, address string) error {
		return s.job(ctx, "browser", func(L *lua.LState) error {
			call(L, fn, lua.LString(address))
			return nil
		})
	}
	p := s.stage.user
	if !p.HasUI() { // somebody sits in front of it
		p.meet(func(_ context.Context, q question) (reply, error) {
			s.note(fmt.Sprintf("the user is asked %s %q, for which there is no t.answers", q.kind, q.title))
			return reply{}, nil
		})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visit = visit
}

// browser is what happens in the browser of the user; nil: there is none.
func (p *user) browser() func(ctx context.Context, address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visit
}

// OpenAddress opens an address in the browser of the user. Where there is none the case fails: it
// would wait for somebody who never comes.
func (p *user) OpenAddress(ctx context.Context, address string) error {
	visit := p.browser()
	if visit == nil {
		page, _, _ := strings.Cut(address, "?")
		p.lacking(page + " is opened in the browser, which t.browser plays")
		return errNoBrowser
	}
	return visit(ctx, address)
}

// errNoBrowser says that a case has no browser.
var errNoBrowser = errors.New("there is none in a test without t.browser")

// signIn is what stands open until somebody has signed in: the user looks at the browser, and
// leaves without one, or where that failed.
func (p *user) signIn(ctx context.Context) (string, bool, error) {
	if p.browser() == nil || p.failed() != "" {
		return "", false, nil
	}
	<-ctx.Done()
	return "", false, ctx.Err()
}
