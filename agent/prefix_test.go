package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/session"
	"pi/session/message"
)

// named is a listener that answers events in the name of a hook.
type named struct {
	hook    string
	context func(request int, items []session.Item) []session.Item // nil: no answer
	system  func(prompt int) string                                // "": no answer
	payload func(request int, body string) string                  // "": no answer
	asked   int
}

func (n *named) listeners() []Listener {
	var all []Listener
	if n.context != nil {
		all = append(all, on(func(e *Context) {
			n.asked++
			if items := n.context(n.asked, e.Items); items != nil {
				e.Items = items
				e.Stages = append(e.Stages, ContextStage{By: n.hook, Value: items})
			}
		}))
	}
	if n.system != nil {
		all = append(all, on(func(e *BeforeAgentStart) {
			n.asked++
			if text := n.system(n.asked); text != "" {
				e.SystemPrompt += text
				e.Stages = append(e.Stages, PromptStage{By: n.hook, Value: e.SystemPrompt})
			}
		}))
	}
	if n.payload != nil {
		all = append(all, on(func(e *BeforeProviderRequest) {
			n.asked++
			if body := n.payload(n.asked, string(e.Payload)); body != "" {
				e.Payload = json.RawMessage(body)
				e.Stages = append(e.Stages, PayloadStage{By: n.hook, Value: e.Payload})
			}
		}))
	}
	return all
}

func synthetic(text string) session.Item {
	return session.Item{Index: -1, Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}}
}

// inserting puts a message of its own at the n-th place.
func inserting(n int, text func(request int) string) func(int, []session.Item) []session.Item {
	return func(request int, items []session.Item) []session.Item {
		said := text(request)
		if said == "" {
			return nil
		}
		out := append([]session.Item{}, items[:n]...)
		return append(append(out, synthetic(said)), items[n:]...)
	}
}

func always(text string) func(int) string { return func(int) string { return text } }

func counting(request int) string { return fmt.Sprint("now it is ", request) }

// from says text from the n-th request on.
func from(n int, text string) func(int) string {
	return func(request int) string {
		if request < n {
			return ""
		}
		return text
	}
}

// once says text in the n-th request only.
func once(n int, text string) func(int) string {
	return func(request int) string {
		if request != n {
			return ""
		}
		return text
	}
}

// TestThePrefixBreakNamesTheFirstHookThatMadeIt runs three prompts and looks at
// the break after each.
func TestThePrefixBreakNamesTheFirstHookThatMadeIt(t *testing.T) {
	first := prefix.Break{Hook: "one", Part: prefix.PartMessages, Message: 1}
	tests := map[string]struct {
		hooks []*named
		want  [3]*prefix.Break
	}{
		"nobody": {},
		"a hook that says the same each time": {
			[]*named{{hook: "one", context: inserting(1, always("same"))}}, [3]*prefix.Break{}},
		"a hook that says something else each time": {
			[]*named{{hook: "one", context: inserting(0, counting)}}, [3]*prefix.Break{1: &first, 2: &first}},
		"its message is not the first": {
			[]*named{{hook: "one", context: inserting(1, counting)}},
			[3]*prefix.Break{1: {Hook: "one", Part: prefix.PartMessages, Message: 2}, 2: {Hook: "one", Part: prefix.PartMessages, Message: 2}}},
		"a hook that begins to say something breaks it once": {
			[]*named{{hook: "one", context: inserting(0, from(2, "new"))}}, [3]*prefix.Break{1: &first}},
		"so does one that has nothing more to say": {
			[]*named{{hook: "one", context: inserting(0, once(1, "old"))}}, [3]*prefix.Break{1: &first}},
		"a hook that had no part in it is not named": {
			[]*named{{hook: "zero", context: inserting(0, always("same"))}, {hook: "one", context: inserting(0, counting)}, {hook: "two", context: inserting(0, always("same"))}},
			[3]*prefix.Break{1: {Hook: "one", Part: prefix.PartMessages, Message: 2}, 2: {Hook: "one", Part: prefix.PartMessages, Message: 2}}},
		"of two the first": {
			[]*named{{hook: "one", context: inserting(0, counting)}, {hook: "two", context: inserting(0, counting)}},
			[3]*prefix.Break{1: &first, 2: &first}},
		"what a later hook takes back is no break": {
			[]*named{{hook: "one", context: inserting(0, counting)}, {hook: "two", context: func(_ int, items []session.Item) []session.Item { return items[1:] }}},
			[3]*prefix.Break{}},
		"a hook that drops what is old": {
			[]*named{{hook: "one", context: func(_ int, items []session.Item) []session.Item { return items[max(0, len(items)-2):] }}},
			[3]*prefix.Break{1: &first, 2: {Hook: "one", Part: prefix.PartMessages, Message: 2}}}, // before the answer now stands that something is missing
		"a message made anew that says the same": {
			[]*named{{hook: "one", context: func(_ int, items []session.Item) []session.Item {
				var out []session.Item
				for _, it := range items {
					it.Message = it.Message.Clone()
					out = append(out, it)
				}
				return out
			}}}, [3]*prefix.Break{}},
		"the system prompt": {
			[]*named{{hook: "zero", system: func(int) string { return " same" }}, {hook: "one", system: func(n int) string { return fmt.Sprint(n) }}},
			[3]*prefix.Break{1: {Hook: "one", Part: prefix.PartSystem}, 2: {Hook: "one", Part: prefix.PartSystem}}},
		"the system prompt of one prompt": {
			[]*named{{hook: "one", system: once(2, "but")}}, [3]*prefix.Break{1: {Hook: "one", Part: prefix.PartSystem}, 2: {Hook: "one", Part: prefix.PartSystem}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var listeners []Listener
			for _, h := range test.hooks {
				listeners = append(listeners, h.listeners()...)
			}
			r := newHarness(t, Options{Listeners: listeners}, say("1"), say("2"), say("3"))
			for i, want := range test.want {
				r.prompt(fmt.Sprint("prompt ", i))
				if got := r.Meter().PrefixBreak(); (got == nil) != (want == nil) || got != nil && *got != *want {
					t.Errorf("after prompt %d: %+v, want %+v", i+1, got, want)
				}
			}
		})
	}
}

// overWire is an answer to a request that goes over a wire.
func overWire(words string) reply {
	return func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		var said []string
		for _, m := range r.Messages {
			said = append(said, fmt.Sprintf(`{"role":%q,"content":%q}`, m.Role, m.Text()))
		}
		said[len(said)-1] = strings.Replace(said[len(said)-1], "{", `{"cache_control":{"type":"ephemeral"},`, 1)
		if _, err := r.Body(ctx, fmt.Appendf(nil, `{"tools":[],"messages":[{"role":"system","content":%q},%s]}`, r.System, strings.Join(said, ","))); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		say(words)(ctx, r, yield)
	}
}

func TestAPrefixBreakInThePayloadNamesItsHook(t *testing.T) {
	counted := func(old string) func(int, string) string {
		return func(n int, body string) string { return strings.Replace(body, old, fmt.Sprint(old, n), 1) }
	}
	tests := map[string]struct {
		payload func(int, string) string
		want    *prefix.Break
	}{
		"the same each time": {func(_ int, body string) string { return strings.Replace(body, "prompt", "PROMPT", 1) }, nil},
		"a setting":          {func(n int, body string) string { return strings.Replace(body, "{", fmt.Sprintf(`{"top_p":%d,`, n), 1) }, nil},
		"no answer":          {func(int, string) string { return "" }, nil},
		"the tools":          {counted(`"tools":[`), &prefix.Break{Hook: "one", Part: prefix.PartTools}},
		"the system prompt":  {counted(`"role":"system","content":"`), &prefix.Break{Hook: "one", Part: prefix.PartSystem}},
		"the first message":  {counted(`"role":"user","content":"`), &prefix.Break{Hook: "one", Part: prefix.PartMessages, Message: 1}},
		"an answer":          {counted(`"role":"assistant","content":"`), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			one, two := &named{hook: "one", payload: test.payload}, &named{hook: "two", payload: func(_ int, body string) string { return body }}
			r := newHarness(t, Options{Listeners: append(one.listeners(), two.listeners()...)}, overWire("1"), overWire("2"))
			r.prompt("prompt 1")
			r.prompt("prompt 2")
			if got := r.Meter().PrefixBreak(); (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// sourced is a tool of a hook.
type sourced struct{ *fakeTool }

func (s sourced) Source() string { return "bringer" }

func TestAPrefixBreakInTheToolsNamesTheHookThatChoseOrBroughtThem(t *testing.T) {
	brought := sourced{echo("brought")}
	other := sourced{echo("brought")}
	other.spec.Description = "something else"
	tests := map[string]struct {
		before, after []Tool
		by            string
		want          string
	}{
		"chosen":          {[]Tool{echo("a"), echo("b")}, []Tool{echo("a")}, "chooser", "chooser"},
		"the same chosen": {[]Tool{echo("a")}, []Tool{echo("a")}, "chooser", ""},
		"brought":         {[]Tool{echo("a")}, []Tool{echo("a"), brought}, "", "bringer"},
		"taken away":      {[]Tool{echo("a"), brought}, []Tool{echo("a")}, "", "bringer"},
		"described anew":  {[]Tool{brought}, []Tool{other}, "", "bringer"},
		"brought again":   {[]Tool{brought}, []Tool{sourced{echo("brought")}}, "", ""},
		"nobody's":        {[]Tool{echo("a")}, nil, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, Options{Tools: test.before}, say("1"), say("2"), say("3"))
			r.prompt("one")
			r.SetTools(test.after, test.by)
			r.prompt("two")
			got := r.Meter().PrefixBreak()
			if got == nil && test.want != "" || got != nil && *got != (prefix.Break{Hook: test.want, Part: prefix.PartTools}) {
				t.Errorf("%+v, want %q", got, test.want)
			}
			r.prompt("three")
			if got := r.Meter().PrefixBreak(); got != nil {
				t.Errorf("with the same tools again there still is %+v", got)
			}
		})
	}
}

// TestWhatTheSessionSaysIsNoPrefixBreak has a hook that always says the same, and
// something between two requests.
func TestWhatTheSessionSaysIsNoPrefixBreak(t *testing.T) {
	entry := func(r *harness, n int) string { return r.Session().Branch()[n].ID }
	tests := map[string]func(t *testing.T, r *harness) error{
		"nothing": func(*testing.T, *harness) error { return nil },
		"an edit": func(t *testing.T, r *harness) error {
			_, err := r.EditContext(t.Context(), r.Session().Context()[0].Entry.ID, nil)
			return err
		},
		"a compaction": func(_ *testing.T, r *harness) error {
			_, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far", FirstKeptEntryID: r.Session().Leaf()})
			return err
		},
		"another branch": func(_ *testing.T, r *harness) error { _, err := moveLeaf(r.Session(), entry(r, 1)); return err },
		"a label":        func(t *testing.T, r *harness) error { return r.SetLabel(t.Context(), entry(r, 1), "here") },
		"a name":         func(t *testing.T, r *harness) error { return r.SetSessionName(t.Context(), "n") },
		"another model and back": func(t *testing.T, r *harness) error {
			was := r.Model()
			r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
			r.SetModel(t.Context(), was, "set")
			return nil
		},
		"another model": func(t *testing.T, r *harness) error {
			r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
			return nil
		},
		"a new session":    func(t *testing.T, r *harness) error { return r.NewSession(t.Context(), NewSessionOptions{}) },
		"a failed attempt": func(t *testing.T, r *harness) error { return failedPrompt(t, r) },
	}
	for name, between := range tests {
		t.Run(name, func(t *testing.T) {
			hook := &named{hook: "one", context: inserting(0, always("same"))}
			r := newHarness(t, Options{Listeners: hook.listeners()}, say("1"), say("2"))
			if name == "a failed attempt" {
				r.model.replies = []reply{say("1"), fail(errors.New("no")), say("2")}
			}
			r.prompt("one")
			if err := between(t, r); err != nil {
				t.Fatal(err)
			}
			r.prompt("two")
			if got := r.Meter().PrefixBreak(); got != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

func failedPrompt(t *testing.T, r *harness) error {
	if err := r.Prompt(t.Context(), Prompt{Text: "fails"}); err == nil {
		t.Error("the prompt did not fail")
	}
	return nil
}

func TestANewSessionHasNoPrefixBreak(t *testing.T) {
	hook := &named{hook: "one", context: inserting(0, counting)}
	r := newHarness(t, Options{Listeners: hook.listeners()}, say("1"), say("2"))
	r.prompt("one")
	r.prompt("two")
	if r.Meter().PrefixBreak() == nil {
		t.Fatal("there was no break to begin with")
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := r.Meter().PrefixBreak(); got != nil {
		t.Errorf("the new session has %+v", got)
	}
}
