//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks"
	"pi/luahooks/event"
	"pi/luahooks/trust"
	"pi/session"
	"pi/session/message"
)

// anatomist is a hook that takes each event apart: into the log goes a line with
// its name and its shape, which is the Lua type of a plain value, of a list the
// shape of its first element, of a record the shapes of its fields.
const anatomist = `
local json = require "pi.json"
local function shape(v)
  if type(v) ~= "table" then return type(v) end
  if #v > 0 then return { list = shape(v[1]) } end
  local fields = {}
  for k, field in pairs(v) do fields[k] = shape(field) end
  if next(fields) == nil and type(v.cancelled) == "function" then return "signal" end
  return { record = fields }
end
for _, name in ipairs(EVENTS) do
  pi.on(name, function(event) pi.log(event.type, json.encode(shape(event))) end)
end
`

// shape is what anatomist says of a value.
type shape struct {
	Type   string           // of a plain value
	List   *shape           `json:"list"`
	Record map[string]shape `json:"record"`
}

func (s *shape) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &s.Type)
	}
	type plain shape
	return json.Unmarshal(b, (*plain)(s))
}

// everyEvent is one event of each kind, all fields set.
func everyEvent(t *testing.T) []agent.Event {
	m := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}
	events := []agent.Event{
		&agent.ProjectTrust{}, &agent.AppStart{}, &agent.SessionDirectory{}, &agent.SessionStart{}, &agent.SessionBeforeSwitch{},
		&agent.SessionSwitch{}, &agent.SessionBeforeNew{}, &agent.SessionNew{}, &agent.SessionBeforeBranch{}, &agent.SessionBranch{},
		&agent.SessionBeforeCompact{}, &agent.SessionCompacting{}, &agent.SessionCompact{}, &agent.SessionCompactFailed{},
		&agent.SessionInfoChanged{}, &agent.SessionBeforeTree{}, &agent.SessionTree{}, &agent.SessionShutdown{},
		&agent.Line{}, &agent.Input{}, &agent.BeforeAgentStart{}, &agent.AgentStart{}, &agent.AgentEnd{}, &agent.AgentBeforeSettle{}, &agent.AgentSettled{}, &agent.TurnStart{}, &agent.TurnEnd{}, &agent.Context{}, &agent.ContinuationLimit{}, &agent.BeforeProviderRequest{},
		&agent.BeforeProviderHeaders{}, &agent.AfterProviderResponse{}, &agent.MessageStart{},
		agent.NewMessageUpdate(llm.Delta{}, func() *message.Message { return m }, nil), &agent.MessageEnd{}, &agent.ModelSelect{},
		&agent.ThinkingLevelSelect{}, &agent.ModeSelect{}, &agent.UIPromptStart{}, &agent.UIPromptEnd{}, &agent.Focus{}, &agent.UIPrompt{}, &agent.HookFailed{}, &agent.CompactionStart{}, &agent.CompactionEnd{},
		&agent.AutoRetryStart{}, &agent.AutoRetryEnd{}, &agent.ToolCall{}, &agent.ToolResult{}, &agent.ToolExecutionStart{},
		&agent.ToolExecutionUpdate{}, &agent.ToolExecutionEnd{}, &agent.UserBash{}, &agent.ShellCommand{}, &agent.MCPServer{}, &agent.MCPChange{},
		&agent.ChildStart{}, &agent.ChildEnd{},
	}
	f := newFiller(t, m)
	for _, e := range events {
		f.fill(reflect.ValueOf(e).Elem())
	}
	auto := func(e agent.Event) agent.Event {
		reflect.ValueOf(e).Elem().FieldByName("Auto").SetBool(true)
		return e
	}
	start, end := &agent.CompactionStart{}, &agent.CompactionEnd{}
	f.fill(reflect.ValueOf(start).Elem())
	f.fill(reflect.ValueOf(end).Elem())
	return append(events, auto(start), auto(end))
}

// filler sets fields of events to values that are not empty.
type filler struct {
	t      *testing.T
	values map[reflect.Type]reflect.Value
}

func newFiller(t *testing.T, m *message.Message) *filler {
	s := session.New(session.Options{Cwd: "/"})
	entry, err := s.AppendMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	f := &filler{t, map[reflect.Type]reflect.Value{}}
	for _, v := range []any{
		m, entry, &llm.Model{Provider: "p", ID: "m", Cost: &llm.Price{}}, json.RawMessage(`{"a":1}`), session.Item{Message: m, Index: -1},
		http.Header{"A": {"b"}}, map[string]string{"a": "b"}, m.Content, &message.Usage{Input: 1}, &agent.ServerCall{Server: "s", Tool: "t", Via: agent.ViaHook, Definition: "d"}, &agent.Definition{Name: "n", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`), Hash: "h"}, llm.Delta{Kind: llm.DeltaText, Text: "x"},
		func() agent.TurnUsage {
			return agent.TurnUsage{ContextUsage: agent.ContextUsage{Tokens: 1, Window: 2, Percent: 50}}
		},
		[]session.Draft(nil), map[string]bool(nil), map[string]*string(nil), map[string]json.RawMessage(nil),
	} {
		f.values[reflect.TypeOf(v)] = reflect.ValueOf(v)
	}
	return f
}

func (f *filler) fill(v reflect.Value) {
	if known, ok := f.values[v.Type()]; ok {
		v.Set(known)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !isAnswer(field.Name) {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer: // an answer that nobody has given
	default:
		f.t.Fatalf("an event has a %s", v.Type())
	}
}

// isAnswer tells what would end the way of an event along the hooks.
func isAnswer(field string) bool {
	return slices.Contains([]string{"Block", "Blocked", "Cancel", "Handled", "Abort", "Refused", "Auto", "Other"}, field)
}

// dissected is what a hook saw of each event.
func dissected(t *testing.T) map[string]shape {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for _, e := range event.Infos() {
		names = append(names, e.Name)
	}
	w := &world{t: t}
	hook, log := filepath.Join(dir, "anatomist.lua"), filepath.Join(dir, "log")
	w.write(hook, "local EVENTS = "+luaList(names)+"\n"+anatomist)
	chain := luahooks.New(luahooks.Options{Places: trust.Places{AgentDir: dir, Cwd: dir, CommandLine: []string{hook}},
		Cwd: dir, Mode: "print", Timeout: 20 * time.Second, Grace: 20 * time.Second, Memory: 256 << 20, LogPath: log, Models: llm.NewModels(nil),
		Agent: &agent.Identity{Name: "inner", Depth: 2, Parent: "outer"}})
	chain.Load(context.Background())
	for _, e := range everyEvent(t) {
		if err := chain.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	chain.Close(context.Background())
	seen := map[string]shape{}
	for line := range strings.Lines(mustRead(t, log)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4) // time, hook, event, shape
		var s shape
		if len(words) < 4 || json.Unmarshal([]byte(words[3]), &s) != nil {
			t.Errorf("the log says %s", line)
			continue
		}
		seen[words[2]] = s
	}
	return seen
}

func TestTheAnnotationsHaveEverythingThatEventsAreMadeOf(t *testing.T) {
	t.Parallel()
	a := readAnnotations(t)
	seen := dissected(t)
	for _, e := range event.Infos() {
		s, ok := seen[e.Name]
		if !ok {
			t.Errorf("no handler saw %s", e.Name)
			continue
		}
		for _, field := range e.Fields {
			if got, has := s.Record[field.Name]; has {
				a.checkShape(t, e.Name+"."+field.Name, got, field.Type)
			} else if field.Name != "details" {
				t.Errorf("%s carries no %s", e.Name, field.Name)
			}
			delete(s.Record, field.Name)
		}
		delete(s.Record, "type")
		for name := range s.Record {
			t.Errorf("%s carries %s, which the table does not have", e.Name, name)
		}
	}
}

// checkShape wants a value to be what is annotated, down to its last field.
func (a *annotations) checkShape(t *testing.T, where string, s shape, typ string) {
	t.Helper()
	typ = strings.TrimSuffix(typ, "?")
	class := a.classes[typ]
	switch {
	case typ == "any" || strings.HasPrefix(typ, "table"):
	case s.Type == "signal" || s.Type == "userdata":
		if class == nil {
			t.Errorf("%s is a %s, annotated as %s", where, s.Type, typ)
		}
	case s.Type != "":
		if !slices.ContainsFunc(unionOf(typ), func(one string) bool { return a.isA(one, s.Type) }) {
			t.Errorf("%s is a %s, annotated as %s", where, s.Type, typ)
		}
	case s.List != nil:
		list := slices.IndexFunc(unionOf(typ), func(one string) bool { return strings.HasSuffix(one, "[]") })
		if list < 0 {
			t.Errorf("%s is a list, annotated as %s", where, typ)
			return
		}
		a.checkShape(t, where+"[1]", *s.List, strings.TrimSuffix(unionOf(typ)[list], "[]"))
	case class == nil && len(s.Record) > 0:
		t.Errorf("%s is a record, annotated as %s", where, typ)
	case class != nil:
		a.checkRecord(t, where, s, class)
	}
}

func (a *annotations) checkRecord(t *testing.T, where string, s shape, class *annotatedClass) {
	t.Helper()
	members := a.all(class)
	for name, field := range s.Record {
		i := slices.IndexFunc(members, func(m *annotatedMember) bool { return m.name == name })
		if i < 0 {
			t.Errorf("%s.%s is not annotated in %s", where, name, class.name)
			continue
		}
		a.checkShape(t, where+"."+name, field, members[i].typ)
	}
	for _, m := range members {
		if _, has := s.Record[m.name]; !has && !m.optional {
			t.Errorf("%s has no %s, which %s says it has", where, m.name, class.name)
		}
	}
}
