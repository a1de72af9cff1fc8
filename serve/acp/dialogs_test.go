package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/testing/acptest"
	"pi/session/message"
)

// asking is a host with the command /ask, which asks something of the client.
func asking(ask func(ctx context.Context, ui agent.UI) string) *host {
	h := &host{}
	var ui agent.UI
	h.hooks = func(o SessionRequest) agent.Listener {
		ui = o.UI
		return listening(func(context.Context, agent.Event) error { return nil })
	}
	h.more = func(*agent.Agent) []command.Command {
		return []command.Command{{Name: "ask", Hook: "h", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
			return command.Outcome{Status: ask(ctx, ui)}, nil
		}}}
	}
	return h
}

func TestOnlyAnOfferedAllowIsAYes(t *testing.T) {
	t.Parallel()
	selected := func(option string) object {
		return object{"outcome": object{"outcome": "selected", "optionId": option}}
	}
	for _, c := range []struct {
		name   string
		always bool
		answer any
		failed *acptest.Error
		want   agent.Answer
	}{
		{"allow", false, selected("allow"), nil, agent.Yes},
		{"reject", false, selected("reject"), nil, agent.No},
		{"always", true, selected("allow_always"), nil, agent.Always},
		{"always, which was not offered", false, selected("allow_always"), nil, agent.No},
		{"something else", true, selected("yes"), nil, agent.No},
		{"cancelled", true, object{"outcome": object{"outcome": "cancelled"}}, nil, agent.No},
		{"a cancelled allow", true, object{"outcome": object{"outcome": "cancelled", "optionId": "allow"}}, nil, agent.No},
		{"an error", true, nil, &acptest.Error{Code: -32603, Message: "no"}, agent.No},
		{"nonsense", true, "allow", nil, agent.No},
		{"a list", true, []any{selected("allow")}, nil, agent.No},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, asking(func(ctx context.Context, ui agent.UI) string {
				o := agent.DialogOptions{From: "gate"}
				if c.always {
					o.Always = "key"
				}
				answer, err := ui.Confirm(ctx, "Really?", "It is\nlarge.", o)
				return fmt.Sprint(answer, err)
			}))
			r.Initialize(object{})
			r.Handle("session/request_permission", func(acptest.Line) (any, *acptest.Error) { return c.answer, c.failed })
			id := r.New(r.cwd)
			if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
				t.Fatal(ends)
			}
			if got := r.Texts(id, agentChunk); got != fmt.Sprint(c.want, "<nil>") && got != fmt.Sprint(c.want, error(nil)) {
				t.Errorf("%s, not %d", got, c.want)
			}
			asked := r.Wait("the question", func(l acptest.Line) bool { return l.Method == "session/request_permission" }).Params
			var kinds []string
			ids := map[string]bool{}
			for _, o := range asked.Options {
				kinds, ids[o.ID] = append(kinds, o.Kind), true
			}
			want := "allow_once reject_once"
			if c.always {
				want = "allow_once allow_always reject_once"
				if name := asked.Options[1].Name; name != "Always allow in this session: key" {
					t.Error(name)
				}
			}
			if strings.Join(kinds, " ") != want || len(ids) != len(kinds) {
				t.Errorf("%v", asked.Options)
			}
			if !strings.HasPrefix(asked.ToolCall.CallID, "dialog-") || asked.ToolCall.Title != "Really?" || asked.ToolCall.Text() != "Really?\nIt is\nlarge.\n(hook gate asks)" {
				t.Errorf("%+v", asked.ToolCall)
			}
			if s := statuses(seen(r, id, asked.ToolCall.CallID)); s != "pending completed" && s != "pending failed" {
				t.Error(s)
			}
		})
	}
}

// A gate asks about its call, while that is pending.
func TestAGateAsksAboutItsCall(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"allow", "reject"} {
		h := &host{model: callTools(calling("c", "bash", `{"command":"echo ran"}`)), hooks: func(o SessionRequest) agent.Listener {
			return listening(func(ctx context.Context, e agent.Event) error {
				if e, ok := e.(*agent.ToolCall); ok {
					answer, err := o.UI.Confirm(ctx, "Run it?", "", agent.DialogOptions{})
					e.Block, e.Reason = answer == agent.No, "the person does not want it"
					return err
				}
				return nil
			})
		}}
		r := serve(t, h)
		r.Initialize(object{})
		r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
			return object{"outcome": object{"outcome": "selected", "optionId": option}}, nil
		})
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "go"); ends != "end_turn" {
			t.Error(ends)
		}
		var order []string
		for _, l := range r.Lines() {
			switch u := l.Params.Update; {
			case l.Method == "session/request_permission":
				call := l.Params.ToolCall
				order = append(order, fmt.Sprintf("asked %s %s %s %q %s", call.CallID, call.Status, call.Title, call.Text(), call.RawInput))
			case u.CallID != "":
				order = append(order, u.CallID+" "+u.Status)
			}
		}
		want := `c pending|c pending|asked c pending echo ran "Run it?" {"command":"echo ran"}|c in_progress|c completed`
		if option == "reject" {
			want = `c pending|c pending|asked c pending echo ran "Run it?" {"command":"echo ran"}|c failed`
		}
		got := strings.Join(order, "|")
		if got = strings.Replace(got, "c in_progress|c |", "c in_progress|", 1); got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
}

// A question about an edit shows what it would change, until it is made.
func TestAGateShowsTheChange(t *testing.T) {
	t.Parallel()
	h := &host{model: callTools(calling("c", "edit", `{"path":"a.txt","oldText":"one","newText":"two"}`)), hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindToolCall {
				_, err := o.UI.Confirm(ctx, "Change it?", "", agent.DialogOptions{})
				return err
			}
			return nil
		})
	}}
	r := serve(t, h)
	r.Initialize(object{})
	r.write(t, "a.txt", "0\n1\n2\n3\nthe one line\n5\n6\n7\n8\n")
	var asked string
	r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
		asked = l.Params.ToolCall.Title + ": " + shownContent(t, l.Params.ToolCall.Content)
		return object{"outcome": object{"outcome": "selected", "optionId": "allow"}}, nil
	})
	id := r.New(r.cwd)
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var shown acptest.Update
	for _, u := range seen(r, id, "c") {
		merge(&shown, u)
	}
	const was, is, end = "1\n2\n3\nthe one line\n5\n6\n7\n", "1\n2\n3\nthe two line\n5\n6\n7\n", "8\n"
	if want := "Change it?: <" + was + "|" + is + ">Change it?"; asked != want {
		t.Errorf("%q, not %q", asked, want)
	}
	if last := shownContent(t, shown.Content); shown.Title != "edit `a.txt`" || last != "<0\n"+was+end+"|0\n"+is+end+">" {
		t.Errorf("%s: %q", shown.Title, last)
	}
}

// A question that nobody answers ends with its time, with the prompt, and with the client;
// what comes later changes nothing.
func TestQuestionsEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"time", "cancel", "end"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			answers := make(chan agent.Answer, 1)
			r := serve(t, asking(func(ctx context.Context, ui agent.UI) string {
				o := agent.DialogOptions{}
				if how == "time" {
					o.TimeoutMS = 50
				}
				answer, _ := ui.Confirm(ctx, "Really?", "", o)
				answers <- answer
				return "asked"
			}))
			r.Initialize(object{"_meta": object{"$/cancel_request": true}})
			r.Handle("session/request_permission", func(acptest.Line) (any, *acptest.Error) { return nil, nil })
			id := r.New(r.cwd)
			prompt := r.StartPrompt(id, "/ask")
			asked := r.Wait("the question", func(l acptest.Line) bool { return l.Method == "session/request_permission" })
			want := "cancelled"
			switch how {
			case "time":
				want = "end_turn"
			case "cancel":
				r.Notify("session/cancel", object{"sessionId": id})
			case "end":
				r.Close()
			}
			if ends := r.Ending(prompt); ends != want || <-answers != agent.No {
				t.Error(ends)
			}
			if how == "end" {
				return
			}
			cancelled := r.Wait("that the question is taken back", func(l acptest.Line) bool { return l.Method == "$/cancel_request" })
			if string(cancelled.Params.RequestID) != string(asked.ID) {
				t.Errorf("%s", cancelled.Raw)
			}
			r.Answer(asked, object{"outcome": object{"outcome": "selected", "optionId": "allow"}}, nil)
			if ends := r.Prompt(id, "go"); ends != "end_turn" {
				t.Error(ends)
			}
		})
	}
}

func TestOtherQuestionsAreForms(t *testing.T) {
	t.Parallel()
	accept := func(v any) object { return object{"action": "accept", "content": object{"value": v}} }
	choices := []agent.Choice{{Value: "a", Label: "One", Description: "the\nfirst"}, {Value: "b", Label: "One"}, {Value: "c"}}
	choose := func(o agent.DialogOptions) func(context.Context, agent.UI) string {
		return func(ctx context.Context, ui agent.UI) string {
			values, ok, err := ui.Select(ctx, "Which?", choices, o)
			return fmt.Sprint(values, ok, err)
		}
	}
	input := func(o agent.DialogOptions) func(context.Context, agent.UI) string {
		return func(ctx context.Context, ui agent.UI) string {
			text, ok, err := ui.Input(ctx, "Name?", "a name", o)
			return fmt.Sprintf("%q %v %v", text, ok, err)
		}
	}
	edit := func(ctx context.Context, ui agent.UI) string {
		text, ok, err := ui.Editor(ctx, "Text?", "before", agent.DialogOptions{})
		return fmt.Sprintf("%q %v %v", text, ok, err)
	}
	one := `{"type":"object","properties":{"value":{"default":"b","oneOf":[{"const":"a","description":"the first","title":"One"},{"const":"b","title":"One (2)"},{"const":"c","title":"c"}],"type":"string"}},"required":["value"]}`
	for _, c := range []struct {
		name   string
		ask    func(context.Context, agent.UI) string
		forms  bool
		answer any
		schema string // "": nothing is asked
		got    string
	}{
		{"select", choose(agent.DialogOptions{Default: []string{"b", "x"}}), true, accept("c"), one, "[c] true <nil>"},
		{"select nothing", choose(agent.DialogOptions{Default: []string{"b"}}), true, object{"action": "decline"}, one, "[] false <nil>"},
		{"select what is not there", choose(agent.DialogOptions{Default: []string{"b"}}), true, accept("d"), one, "[] false <nil>"},
		{"select a number", choose(agent.DialogOptions{Default: []string{"b"}}), true, accept(7), one, "[] false <nil>"},
		{"several", choose(agent.DialogOptions{Multi: true}), true, accept([]string{"a", "c"}),
			`{"type":"object","properties":{"value":{"items":{"anyOf":[{"const":"a","description":"the first","title":"One"},{"const":"b","title":"One (2)"},{"const":"c","title":"c"}]},"type":"array"}},"required":["value"]}`, "[a c] true <nil>"},
		{"none of several", choose(agent.DialogOptions{Multi: true}), true, accept([]string{}), `{"type"`, "[] true <nil>"},
		{"input", input(agent.DialogOptions{}), true, accept("me"), `{"type":"object","properties":{"value":{"description":"a name","type":"string"}},"required":["value"]}`, `"me" true <nil>`},
		{"an empty input", input(agent.DialogOptions{}), true, accept(""), `{`, `"" true <nil>`},
		{"an input that is cancelled", input(agent.DialogOptions{}), true, object{"action": "cancel", "content": object{"value": "x"}}, `{`, `"" false <nil>`},
		{"an input without content", input(agent.DialogOptions{}), true, object{"action": "accept"}, `{`, `"" false <nil>`},
		{"a secret", input(agent.DialogOptions{Secret: true, From: "gate"}), true, accept("x"), "", "[pi] hook gate asks \"Name?\", which this client cannot show: it has no answer\n\n\"\" false <nil>"},
		{"editor", edit, true, accept("after"), `{"type":"object","properties":{"value":{"default":"before","type":"string"}},"required":["value"]}`, `"after" true <nil>`},
		{"without forms", edit, false, accept("after"), "", "[pi] the question \"Text?\", which this client cannot show: it has no answer\n\n\"\" false <nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, asking(c.ask))
			capabilities := object{"elicitation": object{}}
			if c.forms {
				capabilities = object{"elicitation": object{"form": object{}}}
			}
			r.Initialize(capabilities)
			r.Handle("elicitation/create", func(acptest.Line) (any, *acptest.Error) { return c.answer, nil })
			id := r.New(r.cwd)
			if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
				t.Fatal(ends)
			}
			if got := r.Texts(id, agentChunk); got != c.got {
				t.Errorf("%s, not %s", got, c.got)
			}
			schema := ""
			for _, l := range r.Lines() {
				if l.Method == "elicitation/create" {
					schema = string(l.Params.Schema)
				}
				if l.Method == "session/request_permission" {
					t.Error("a permission was asked for")
				}
			}
			if (schema == "") != (c.schema == "") || !strings.HasPrefix(schema, c.schema) {
				t.Errorf("%s\nnot\n%s", schema, c.schema)
			}
		})
	}
}

// A client that has not announced that it knows requests that are taken back gets none.
func TestAQuestionIsTakenBackOnlyWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	for _, uses := range []bool{true, false} {
		r := serve(t, asking(func(ctx context.Context, ui agent.UI) string {
			_, _ = ui.Confirm(ctx, "Really?", "", agent.DialogOptions{TimeoutMS: 20})
			return "asked"
		}))
		r.Initialize(object{})
		if uses {
			r.Notify("$/cancel_request", object{"requestId": 99})
		}
		r.Handle("session/request_permission", func(acptest.Line) (any, *acptest.Error) { return nil, nil })
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
			t.Fatal(ends)
		}
		told := slices.ContainsFunc(r.Lines(), func(l acptest.Line) bool { return l.Method == "$/cancel_request" })
		if told != uses {
			t.Errorf("it was told: %v", told)
		}
	}
}

// Without forms a choice of few is a permission that has the choices as its options, but not
// for a gate: a client that allows everything would take the first one.
func TestAChoiceIsAPermissionWithoutForms(t *testing.T) {
	t.Parallel()
	choices := func(n int) (all []agent.Choice) {
		for i := range n {
			all = append(all, agent.Choice{Value: fmt.Sprint("v", i+1), Label: "One", Description: fmt.Sprint("the ", i+1)})
		}
		return all
	}
	const unasked = "[pi] the question \"Which?\", which this client cannot show: it has no answer\n\n[] false <nil>"
	for _, c := range []struct {
		name, option string
		n            int
		multi, gate  bool
		got          string
	}{
		{"the second", "choice-2", 8, false, false, "[v2] true <nil>"},
		{"none of them", "reject", 8, false, false, "[] false <nil>"},
		{"what is not offered", "choice-9", 8, false, false, "[] false <nil>"},
		{"too many", "choice-1", 9, false, false, unasked},
		{"several", "choice-1", 2, true, false, unasked},
		{"a gate", "choice-1", 2, false, true, unasked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, asking(func(ctx context.Context, ui agent.UI) string {
				if c.gate {
					ctx = agent.AtGate(ctx)
				}
				values, ok, err := ui.Select(ctx, "Which?", choices(c.n), agent.DialogOptions{Multi: c.multi})
				return fmt.Sprint(values, ok, err)
			}))
			r.Initialize(object{})
			var asked acptest.Line
			r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
				asked = l
				return object{"outcome": object{"outcome": "selected", "optionId": c.option}}, nil
			})
			id := r.New(r.cwd)
			if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
				t.Fatal(ends)
			}
			if got := r.Texts(id, agentChunk); got != c.got {
				t.Errorf("%s, not %s", got, c.got)
			}
			if c.got == unasked {
				return
			}
			names := []string{}
			for _, o := range asked.Params.Options {
				names = append(names, o.Name+" "+o.Kind)
			}
			if len(names) != c.n+1 || names[0] != "One allow_once" || names[1] != "One (2) allow_once" || names[c.n] != "None of these reject_once" {
				t.Error(names)
			}
			if text := shownContent(t, asked.Params.ToolCall.Content); asked.Params.ToolCall.Title != "Which?" || !strings.HasPrefix(text, "Which?\nOne: the 1\nOne (2): the 2") {
				t.Errorf("%s: %s", asked.Params.ToolCall.Title, text)
			}
		})
	}
}

// What hooks show has its place: notices in the conversation where the client shows none.
func TestWhatHooksShow(t *testing.T) {
	t.Parallel()
	show := func(_ context.Context, ui agent.UI) string {
		ui.Notify("all\x1b[2J is well\nreally", agent.LevelInfo)
		ui.Notify("hm", agent.LevelWarning)
		ui.Notify(" ", agent.LevelError)
		ui.SetStatus("k", "v")
		ui.SetWidget(agent.Above, "k", []string{"w"})
		ui.SetPlan([]agent.PlanItem{{Content: "one", Status: "completed", Priority: "high"}, {Content: "two", Status: "in_progress"}, {Content: "three", Status: "soon", Priority: "very"}})
		ui.SetPlan(nil)
		return ""
	}
	for _, can := range []bool{true, false} {
		r := serve(t, asking(show))
		capabilities := object{}
		if can {
			capabilities = object{"session": object{"notices": object{}}}
		}
		r.Initialize(capabilities)
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
			t.Fatal(ends)
		}
		var got []string
		for _, u := range r.Updates(id) {
			switch u.Kind {
			case "notice":
				got = append(got, u.Severity+" "+u.Title)
			case "plan":
				got = append(got, string(u.Entries))
			case agentChunk:
				got = append(got, u.Text())
			}
		}
		plan := `[{"content":"one","priority":"high","status":"completed"},{"content":"two","priority":"medium","status":"in_progress"},{"content":"three","priority":"medium","status":"pending"}]`
		want := "[pi] all is well\nreally\n\n|[pi] hm\n\n|" + plan
		if can {
			want = "info all is well|warning hm|" + plan
		}
		if text := strings.Join(got, "|"); text != want {
			t.Error(text)
		}
	}
}

// A hook cannot put another session instead of the one that the client knows.
func TestTheSessionStays(t *testing.T) {
	t.Parallel()
	h := &host{}
	h.more = func(a *agent.Agent) []command.Command {
		return []command.Command{{Name: "other", Hook: "h", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
			was := a.Session().ID()
			err := a.NewSession(ctx, agent.NewSessionOptions{})
			return command.Outcome{Status: fmt.Sprint(err, " ", a.Session().ID() == was)}, nil
		}}}
	}
	r, id := openedIn(t, h, object{"session": object{"notices": object{}}})
	if ends := r.Prompt(id, "/other"); ends != "end_turn" {
		t.Fatal(ends)
	}
	if got := r.Texts(id, agentChunk); got != "cancelled by hook true" {
		t.Error(got)
	}
	r.WaitUpdate("a notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(u.Title, "the session stays")
	})
}

func TestCompactionsAndUsageAreTold(t *testing.T) {
	t.Parallel()
	h := &host{model: func(_ context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		for _, d := range []llm.Delta{text("an answer"), {Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 300, Output: 20}}, stop(message.StopEnd)} {
			if !yield(d, nil) {
				return
			}
		}
	}}
	r, id := openedIn(t, h, object{"session": object{"compaction": object{}}})
	for _, sent := range []string{"one", "two", "/compact"} {
		if ends := r.Prompt(id, sent); ends != "end_turn" {
			t.Fatalf("%s: %s", sent, ends)
		}
	}
	var got []string
	for _, l := range r.Lines() {
		switch u := l.Params.Update; u.Kind {
		case "usage_update":
			got = append(got, fmt.Sprint(u.Used > 0, " ", u.Size))
		case "compaction_update":
			got = append(got, u.Status)
		}
	}
	if text := strings.Join(got, "|"); !strings.HasPrefix(text, "true 1000|") || !strings.Contains(text, "in_progress|") || !strings.Contains(text, "completed") {
		t.Error(text)
	}
}

// What can be chosen is said, checked and told again when it changes.
func TestOptions(t *testing.T) {
	t.Parallel()
	h := &host{}
	r := serve(t, h)
	r.Initialize(object{})
	var opened struct {
		SessionID     string
		Modes         json.RawMessage
		ConfigOptions json.RawMessage
	}
	r.Must("session/new", object{"cwd": r.cwd, "mcpServers": []any{}}, &opened)
	id := opened.SessionID
	model := `{"id":"model","name":"Model","category":"model","type":"select","currentValue":"test/one","options":[{"value":"test/one","name":"One","description":"test/one"},{"value":"test/two","name":"two","description":"test/two"}]}`
	if got := string(opened.ConfigOptions); !strings.HasPrefix(got, "["+model+`,{"id":"thinking","name":"Thinking","category":"thought_level","type":"select","currentValue":"off"`) || opened.Modes != nil {
		t.Errorf("%s, modes %s", got, opened.Modes)
	}
	for _, c := range []struct {
		params object
		says   string
	}{
		{object{"configId": "model", "value": "test/two"}, ""},
		{object{"configId": "thinking", "value": "off"}, ""},
		{object{"configId": "model", "value": "test/two", "type": "id"}, ""},
		{object{"configId": "model", "value": "test/three"}, `-32602 "value": the option model has no value "test/three"`},
		{object{"configId": "model"}, `-32602 "value" is missing`},
		{object{"configId": "model", "value": true}, `-32602 "value" must be a string`},
		{object{"configId": "model", "value": true, "type": "boolean"}, `-32602 "type"`},
		{object{"configId": "speed", "value": "high"}, `-32602 "configId": there is no option "speed"`},
		{object{"value": "high"}, `-32602 "configId" is missing`},
		{object{"configId": "mode", "value": "plan"}, `-32602 "configId": there is no option "mode"`},
	} {
		c.params["sessionId"] = id
		if _, failed := r.Request("session/set_config_option", c.params); c.says == "" && failed != nil || c.says != "" && (failed == nil || !strings.HasPrefix(failed.Error(), c.says)) {
			t.Errorf("%v: %v", c.params, failed)
		}
	}
	if m := h.agent(0).Model().Ref(); m != "test/two" {
		t.Error(m)
	}
	if _, failed := r.Request("session/set_mode", object{"sessionId": id, "modeId": "plan"}); failed == nil || failed.Code != codeParams {
		t.Error(failed)
	}
	r.Forget()
	if ends := r.Prompt(id, "/model test/one"); ends != "end_turn" {
		t.Error(ends)
	}
	r.WaitUpdate("the options", func(u acptest.Update) bool {
		return u.Kind == "config_option_update" && strings.Contains(string(u.ConfigOptions), model)
	})
}

// A change is told once, though it brings another with it: the second model does not think.
func TestAChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{}, object{})
	r.Must("session/set_config_option", object{"sessionId": id, "configId": "thinking", "value": "high"}, nil)
	for _, change := range []string{"/model test/two", "/model test/one"} {
		r.Forget()
		if ends := r.Prompt(id, change); ends != "end_turn" {
			t.Fatal(ends)
		}
		told := 0
		for _, u := range r.Updates(id) {
			if u.Kind == "config_option_update" {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", change, told)
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	h := &host{}
	h.hooks = func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionStart {
				h.agent(0).Modes().Offer(ctx, []agent.Mode{{Name: "plan", Description: "only look"}, {Name: "ask"}}, nil)
			}
			return nil
		})
	}
	r := serve(t, h)
	r.Initialize(object{})
	var opened struct {
		SessionID     string
		Modes         json.RawMessage
		ConfigOptions json.RawMessage
	}
	r.Must("session/new", object{"cwd": r.cwd, "mcpServers": []any{}}, &opened)
	want := `{"currentModeId":"default","availableModes":[{"id":"default","name":"Default","description":"no mode is on"},{"id":"plan","name":"plan","description":"only look"},{"id":"ask","name":"ask"}]}`
	option := `{"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":"default","options":[{"value":"default","name":"Default","description":"no mode is on"},{"value":"plan","name":"plan","description":"only look"},{"value":"ask","name":"ask"}]}`
	if string(opened.Modes) != want || !strings.Contains(string(opened.ConfigOptions), option) {
		t.Errorf("%s\n%s", opened.Modes, opened.ConfigOptions)
	}
	id := opened.SessionID
	r.Must("session/set_mode", object{"sessionId": id, "modeId": "plan"}, nil)
	r.WaitUpdate("the mode", func(u acptest.Update) bool { return u.ModeID == "plan" })
	r.Must("session/set_config_option", object{"sessionId": id, "configId": "mode", "value": "default"}, nil)
	if m := h.agent(0).Modes().Current(); m != "" {
		t.Error(m)
	}
	if err := h.agent(0).Modes().Select(t.Context(), "ask", "hook"); err != nil {
		t.Fatal(err)
	}
	r.WaitUpdate("the mode", func(u acptest.Update) bool { return u.ModeID == "ask" })
	r.WaitUpdate("the options", func(u acptest.Update) bool {
		return u.Kind == "config_option_update" && strings.Contains(string(u.ConfigOptions), `"currentValue":"ask"`)
	})
	if _, failed := r.Request("session/set_mode", object{"sessionId": id, "modeId": "fast"}); failed == nil || !strings.HasPrefix(failed.Error(), `-32602 "modeId": there is no mode "fast"`) {
		t.Error(failed)
	}
}
