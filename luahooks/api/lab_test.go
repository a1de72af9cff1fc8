package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// lab is a VM for parts of the API, with a program around it that does nothing but
// remember.
type lab struct {
	*bridge
	t       testing.TB
	program *labHost
	owner   *labOwner
	end     context.CancelFunc // of the VM's life
	spawned sync.WaitGroup

	mu      sync.Mutex
	notices []string
}

// newLab is a lab with a session, the functions of whose parts are in the global
// table api.
func newLab(t testing.TB, parts ...func(*lab) part) *lab {
	vm := luavm.New(luavm.Options{})
	life, end := context.WithCancel(context.Background())
	l := &lab{t: t, program: &labHost{session: session.New(session.Options{Cwd: "/project"})}, owner: &labOwner{now: new(Registered)}, end: end}
	program := &Program{Hook: HookInfo{Name: "lab"}, Cwd: "/project", Timeout: 10 * time.Second, Owner: l.owner, Life: life, Clock: stdlib.MachineClock{},
		Host: func() Host {
			if l.program == nil {
				return nil
			}
			return l.program
		},
		Notify: func(_ context.Context, level agent.Level, text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.notices = append(l.notices, string(level)+": "+text)
		},
		Spawn: func(f func(context.Context)) bool {
			if life.Err() != nil {
				return false
			}
			l.spawned.Go(func() { f(life) })
			return true
		}}
	l.bridge = &bridge{Program: program, vm: vm, records: record.NewConverter(vm, new(record.ValidJSON)), jobs: &jobs{program, vm}, registered: l.owner.now}
	t.Cleanup(func() { end(); l.spawned.Wait(); vm.Close() })
	var made []part
	for _, p := range parts {
		made = append(made, p(l))
	}
	_ = l.job(func(L *lua.LState) {
		api := luavm.NewRecord(L, 0)
		for _, p := range made {
			l.add(api, p)
		}
		vm.SetGlobal("api", api)
	})
	return l
}

func (l *lab) job(f func(L *lua.LState)) error {
	return l.vm.Run(context.Background(), luavm.Job{Name: "lab", Timeout: 10 * time.Second, Clock: luavm.CountedLua, Run: func(L *lua.LState) error { f(L); return nil }})
}

// lua runs code and returns what it returned, as JSON or text, or its error.
func (l *lab) lua(code string) (got string) {
	l.t.Helper()
	proto, err := luavm.Compile("lab.lua", []byte(code))
	if err != nil {
		l.t.Fatal(err)
	}
	err = l.job(func(L *lua.LState) {
		got = l.text(L, callLua(L, L.NewFunctionFromProto(proto)))
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return got
}

func (l *lab) text(L *lua.LState, v lua.LValue) string {
	if t, ok := v.(*lua.LTable); ok {
		raw, err := luavm.EncodeJSON(L, t, luavm.JSON{})
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	return lua.LVAsString(L.ToStringMeta(v))
}

// want runs code and holds its result, or a part of its error, against want.
func (l *lab) want(want, code string) {
	l.t.Helper()
	if got := l.lua(code); got != want && !(strings.HasPrefix(want, "error: ") && strings.Contains(got, strings.TrimPrefix(want, "error: "))) {
		l.t.Errorf("%s\ngives %s\nwant  %s", code, got, want)
	}
}

func (l *lab) noticed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.notices, "\n")
}

// labOwner remembers what it is told; what is registered "now" is now.
type labOwner struct {
	now    *Registered
	cutOff bool

	mu   sync.Mutex
	said []string
}

func (o *labOwner) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = append(o.said, fmt.Sprintf(format, args...))
}

func (o *labOwner) reports() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.said, "; ")
}

func (o *labOwner) Current(context.Context) *Registered { return o.now }
func (o *labOwner) Ran(_ context.Context, what string, _ time.Time, err error) {
	o.note("ran %s %v", what, err != nil)
}
func (o *labOwner) Failed(_ context.Context, what string, _ *lua.LFunction, err error, to Audience) {
	o.note("%s failed for %d: %v", what, to, err)
}
func (o *labOwner) IsCutOff(context.Context, string) bool { return o.cutOff }

// labHost is a program that does what hooks ask for by remembering it.
type labHost struct {
	Host
	session *session.Session
	did     []string
	err     error // of what is asked for next
	models  *llm.Models
	model   *llm.Model
	seen    []session.Item
}

func (h *labHost) note(format string, args ...any) error {
	h.did = append(h.did, fmt.Sprintf(format, args...))
	return h.err
}

func (h *labHost) Session() *session.Session { return h.session }
func (h *labHost) ResetBrake(o agent.Origin) { _ = h.note("a person %v", o.Kind == agent.FromUser) }
func (h *labHost) Submit(_ context.Context, p agent.Prompt) error {
	return h.note("submit %q from %s", p.Text, p.Origin.Hook)
}

// Complete streams an answer of three pieces.
func (h *labHost) Complete(_ context.Context, c agent.Completion) (*message.Message, error) {
	m := &message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd}
	for i, d := range []llm.Delta{{Kind: llm.DeltaText, Text: "one"}, {Kind: llm.DeltaThinking, Text: "two"}, {Kind: llm.DeltaToolCall, Text: "{}"}} {
		switch err := c.Update(d, i); {
		case errors.Is(err, agent.ErrEnough):
			m.StopReason = message.StopAborted
			return m, nil
		case err != nil:
			return nil, &llm.ProviderError{Provider: "p", Message: err.Error(), Err: err}
		}
	}
	return m, nil
}
func (h *labHost) Models() *llm.Models  { return h.models }
func (h *labHost) Model() *llm.Model    { return h.model }
func (h *labHost) Seen() []session.Item { return h.seen }
func (h *labHost) Select(_ context.Context, m *llm.Model, _, _ string) error {
	return h.note("select %s", m.Ref())
}
