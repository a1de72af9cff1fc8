package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/testing/acptest"
)

// askingAsServer is a host with the command /ask, which asks a question of a server and says what
// became of it.
func askingAsServer(q mcp.Question) *host {
	return asking(func(ctx context.Context, ui agent.UI) string {
		r, err := ui.(mcp.Asker).AskQuestion(ctx, q)
		return fmt.Sprintf("%s %s %v", r.Action, asJSON(r.Values), err)
	})
}

func number(n float64) *float64 { return &n }

// allFields is a question with a field of each type.
func allFields() mcp.Question {
	choices := []mcp.FieldChoice{{Value: "red", Label: "Red"}, {Value: "green", Label: "Green"}}
	return mcp.Question{Server: "s", Message: "Who are you?", Fields: []mcp.Field{
		{Name: "name", Title: "Your name", Description: "as it\nis", Type: mcp.FieldText, Required: true, Min: number(1), Max: number(9), Pattern: "^A", Default: json.RawMessage(`"Ada"`)},
		{Name: "mail", Type: mcp.FieldText, Format: "email", Default: json.RawMessage(`7`), Min: number(-1)},
		{Name: "other", Type: mcp.FieldText, Format: "strange"},
		{Name: "age", Type: mcp.FieldInteger, Min: number(1), Max: number(1.5), Default: json.RawMessage(`2.5`)},
		{Name: "size", Type: mcp.FieldNumber, Max: number(1.5), Default: json.RawMessage(`1e-3`)},
		{Name: "sure", Type: mcp.FieldYesNo, Default: json.RawMessage(`true`)},
		{Name: "colour", Type: mcp.FieldChoose, Choices: choices, Default: json.RawMessage(`"green"`)},
		{Name: "colours", Type: mcp.FieldChooseMany, Choices: choices, Max: number(2), Default: json.RawMessage(`["red"]`)},
	}}
}

func TestAQuestionOfAServerIsTheClientsForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer any
		failed *acptest.Error
		got    string
	}{
		{object{"action": "accept", "content": object{"name": "Bea", "age": 3, "sure": false, "colours": []string{"red"}, "mail": nil}}, nil, `accept {"age":3,"colours":["red"],"name":"Bea","sure":false} <nil>`},
		{object{"action": "accept"}, nil, `accept {} <nil>`},
		{object{"action": "decline"}, nil, `decline null <nil>`},
		{object{"action": "cancel"}, nil, `cancel null <nil>`},
		{object{"action": "_later"}, nil, `cancel null <nil>`},
		{7, nil, `cancel null <nil>`},
		{nil, &acptest.Error{Code: -32603, Message: "no"}, `cancel null <nil>`},
	} {
		r := serve(t, askingAsServer(allFields()))
		r.Initialize(object{"elicitation": object{"form": object{}}})
		r.Handle("elicitation/create", func(l acptest.Line) (any, *acptest.Error) {
			want := `{"type":"object","properties":{` +
				`"age":{"minimum":1,"type":"integer"},` +
				`"colour":{"default":"green","oneOf":[{"const":"red","title":"Red"},{"const":"green","title":"Green"}],"type":"string"},` +
				`"colours":{"default":["red"],"items":{"anyOf":[{"const":"red","title":"Red"},{"const":"green","title":"Green"}]},"maxItems":2,"type":"array"},` +
				`"mail":{"format":"email","type":"string"},` +
				`"name":{"default":"Ada","description":"as it is","maxLength":9,"minLength":1,"pattern":"^A","title":"Your name","type":"string"},` +
				`"other":{"type":"string"},` +
				`"size":{"default":0.001,"maximum":1.5,"type":"number"},` +
				`"sure":{"default":true,"type":"boolean"}},"required":["name"]}`
			if string(l.Params.Schema) != want || l.Params.Message != "MCP server s: Who are you?" {
				t.Errorf("%q\n%s\nwant\n%s", l.Params.Message, l.Params.Schema, want)
			}
			return c.answer, c.failed
		})
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
			t.Fatal(ends)
		}
		if got := r.Texts(id, agentChunk); got != c.got {
			t.Errorf("%s, want %s", got, c.got)
		}
	}
}

func TestAPageIsTheClientsToOpenWhereItDoesThat(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"accept": "accept {} <nil>", "decline": "decline null <nil>", "cancel": "cancel null <nil>"} {
		seen := make(chan struct{})
		h := askingAsServer(mcp.Question{Server: "s", Message: "Sign in", URL: "https://example.com/a?b=c", Done: seen})
		r := serve(t, h)
		r.Initialize(object{"elicitation": object{"url": object{}}})
		r.Handle("elicitation/create", func(l acptest.Line) (any, *acptest.Error) {
			if !strings.Contains(string(l.Raw), `"mode":"url","message":"MCP server s: Sign in","url":"https://example.com/a?b=c","elicitationId":"`) {
				t.Errorf("%s", l.Raw)
			}
			return object{"action": action}, nil
		})
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
			t.Fatal(ends)
		}
		if got := r.Texts(id, agentChunk); got != want || !h.ui.(mcp.Asker).OpensPages() {
			t.Errorf("%s, want %s", got, want)
		}
		if action != "accept" {
			continue
		}
		asked := r.Wait("the question", func(l acptest.Line) bool { return l.Method == "elicitation/create" })
		close(seen)
		done := r.Wait("that the page was seen", func(l acptest.Line) bool { return l.Method == "elicitation/complete" })
		_, of, _ := strings.Cut(string(asked.Raw), `"elicitationId":`)
		_, is, _ := strings.Cut(string(done.Raw), `"elicitationId":`)
		if of[:38] != is[:38] {
			t.Errorf("%s completes %s", done.Raw, asked.Raw)
		}
	}
}

// Without forms a question that a permission can answer is one; another one has no answer, and
// the client is asked nothing.
func TestAClientWithoutFormsIsAskedForPermissions(t *testing.T) {
	t.Parallel()
	selected := func(id string) any { return object{"outcome": object{"outcome": "selected", "optionId": id}} }
	left := object{"outcome": object{"outcome": "cancelled"}}
	page := mcp.Question{Server: "s", Message: "Sign in", URL: "https://example.com/a"}
	plain := mcp.Question{Server: "s", Message: "Go on?"}
	sure := mcp.Question{Server: "s", Message: "Go on?", Fields: []mcp.Field{{Name: "sure", Title: "Are you sure", Type: mcp.FieldYesNo, Required: true}}}
	choice := mcp.Question{Server: "s", Message: "Which?", Fields: []mcp.Field{{Name: "colour", Type: mcp.FieldChoose, Choices: []mcp.FieldChoice{{Value: "r", Label: "Red"}, {Value: "g", Label: "Green"}}}}}
	for _, c := range []struct {
		question mcp.Question
		answer   any
		got      string
		shown    string // what the user reads; "": nothing was asked
	}{
		{page, selected("allow"), "accept null <nil>", "MCP server s: Sign in\nIt wants a page opened, where it may ask for more: https://example.com/a"},
		{page, selected("reject"), "decline null <nil>", "MCP server s: Sign in\nIt wants"},
		{page, left, "cancel null <nil>", "MCP server s: Sign in\nIt wants"},
		{plain, selected("allow"), "accept null <nil>", "MCP server s: Go on?"},
		{plain, selected("reject"), "decline null <nil>", "MCP server s: Go on?"},
		{plain, selected("allow_always"), "cancel null <nil>", "MCP server s: Go on?"}, // it was not offered
		{sure, selected("allow"), `accept {"sure":true} <nil>`, "MCP server s: Go on?\nAre you sure"},
		{sure, selected("reject"), `accept {"sure":false} <nil>`, "MCP server s: Go on?\nAre you sure"},
		{sure, left, "cancel null <nil>", "MCP server s: Go on?\nAre you sure"},
		{choice, selected("choice-2"), `accept {"colour":"g"} <nil>`, "MCP server s: Which?\ncolour"},
		{choice, selected("reject"), "cancel null <nil>", "MCP server s: Which?\ncolour"},
		{allFields(), selected("allow"), "cancel null <nil>", ""},
	} {
		r := serve(t, askingAsServer(c.question))
		r.Initialize(object{"session": object{"notices": object{}}})
		r.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
			if c.shown == "" || !strings.HasPrefix(l.Params.ToolCall.Text(), c.shown) {
				t.Errorf("asked %q, want %q", l.Params.ToolCall.Text(), c.shown)
			}
			return c.answer, nil
		})
		id := r.New(r.cwd)
		if ends := r.Prompt(id, "/ask"); ends != "end_turn" {
			t.Fatal(ends)
		}
		if got := r.Texts(id, agentChunk); got != c.got {
			t.Errorf("%s: %s, want %s", c.question.Message, got, c.got)
		}
		told := slices.ContainsFunc(r.Lines(), func(l acptest.Line) bool {
			return strings.Contains(string(l.Raw), "which this client cannot show")
		})
		if told != (c.shown == "") {
			t.Errorf("%s: told that it cannot be shown: %v", c.question.Message, told)
		}
	}
}
