package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
)

// player is a user that answers what it was given, in order.
type player struct {
	agent.NoUI
	answers [][]string // nil: the dialog is left
	titles  []string
	choices [][]agent.Choice
	told    []string
}

func (p *player) Notify(text string, _ agent.Level) { p.told = append(p.told, text) }

func (*player) HasUI() bool { return true }

func (p *player) next(title string) ([]string, bool) {
	p.titles = append(p.titles, title)
	if len(p.answers) == 0 {
		return nil, false
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, a != nil
}

func (p *player) Select(_ context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	p.choices = append(p.choices, choices)
	a, ok := p.next(title)
	if slices.Equal(a, []string{"default"}) {
		a = o.Default
	}
	return a, ok, nil
}

func (p *player) Input(_ context.Context, title, _ string, _ agent.DialogOptions) (string, bool, error) {
	a, ok := p.next(title)
	return strings.Join(a, ""), ok, nil
}

func TestTheUserAnswersFieldByField(t *testing.T) {
	field := func(name, schema string, required bool) Field {
		f, err := newField(name, []byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		f.Required = required
		return f
	}
	form := []Field{
		field("name", `{"type":"string","title":"Your name"}`, true),
		field("age", `{"type":"integer","minimum":1}`, false),
		field("sure", `{"type":"boolean","default":true}`, false),
		field("colour", `{"type":"string","enum":["red","green"]}`, false),
		field("tags", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, false),
	}
	for _, test := range []struct {
		name    string
		answers [][]string
		want    map[string]any // nil: cancelled
		titles  int
	}{
		{"all", [][]string{{"answer"}, {"Ada"}, {"36"}, {"true"}, {"green"}, {"a", "b"}}, map[string]any{"name": "Ada", "age": 36.0, "sure": true, "colour": "green", "tags": 2}, 6},
		{"the least", [][]string{{"answer"}, {"Ada"}, {""}, {chooseNone}, {chooseNone}, {}}, map[string]any{"name": "Ada"}, 6},
		{"what is wrong is asked again", [][]string{{"answer"}, {"Ada"}, {"0"}, {"x"}, {"2"}, {"default"}, {chooseNone}, {}}, map[string]any{"name": "Ada", "age": 2.0, "sure": true}, 8},
		{"a required one left empty is asked again", [][]string{{"answer"}, {""}, {"Ada"}, {""}, {chooseNone}, {chooseNone}, {}}, map[string]any{"name": "Ada"}, 7},
		{"a required one left empty, again and again", slices.Concat([][]string{{"answer"}}, slices.Repeat([][]string{{""}}, 20)), nil, 1 + maxTries},
		{"declined", [][]string{{"decline"}}, nil, 1},
		{"left at once", [][]string{nil}, nil, 1},
		{"left", [][]string{{"answer"}, {"Ada"}, nil}, nil, 3},
	} {
		p := &player{answers: test.answers}
		r, err := Dialogs(p, nil)(t.Context(), Question{Server: "s", Message: "Who are you?", Fields: form})
		if err != nil {
			t.Fatal(err)
		}
		if tags, ok := r.Values["tags"].([]any); ok {
			r.Values["tags"] = len(tags)
		}
		if (r.Action == Accept) != (test.want != nil) || !maps.Equal(r.Values, test.want) || len(p.titles) != test.titles {
			t.Errorf("%s: %+v after %q", test.name, r, p.titles)
		}
		if p.titles[0] != "MCP server s: Who are you?\nIt wants to know: Your name, age (optional), sure (optional), colour (optional), tags (optional)" ||
			len(p.titles) > 1 && p.titles[1] != "MCP server s: Who are you?\nYour name" {
			t.Errorf("%s: asked %q", test.name, p.titles)
		}
		if is := (r.Action == Decline); is != (test.name == "declined") {
			t.Errorf("%s: %s", test.name, r.Action)
		}
		if test.name == "a required one left empty is asked again" && p.titles[2] != "MCP server s: Who are you?\nYour name\na value is wanted" {
			t.Errorf("asked again: %q", p.titles[2])
		}
	}
}

func TestTheUserSeesAPageBeforeItIsOpened(t *testing.T) {
	for answer, want := range map[string]Action{chooseYes: Accept, chooseNo: Decline, "": Cancel} {
		opened := ""
		p := &player{}
		if answer != "" {
			p.answers = [][]string{{answer}}
		}
		r, err := Dialogs(p, func(_ context.Context, url string) error { opened = url; return nil })(t.Context(), Question{Server: "s", Message: "Open it", URL: "https://example.com/a?b=c"})
		if err != nil || r.Action != want || (opened == "https://example.com/a?b=c") != (want == Accept) || !strings.Contains(p.titles[0], "https://example.com/a?b=c") {
			t.Errorf("%q: %+v, %v, opened %q", answer, r, err, opened)
		}
	}
	for name, open := range map[string]func(context.Context, string) error{
		"open this page: https://example.com (no browser)": func(context.Context, string) error { return errors.New("no browser") },
		"open this page: https://example.com":              nil,
	} {
		p := &player{answers: [][]string{{chooseYes}}}
		r, err := Dialogs(p, open)(t.Context(), Question{URL: "https://example.com"})
		if err != nil || r.Action != Accept || !slices.Equal(p.told, []string{name}) {
			t.Errorf("%+v, %v, told %q, want %q", r, err, p.told, name)
		}
	}
	if r, err := Dialogs(agent.NoUI{}, nil)(t.Context(), Question{URL: "https://example.com"}); err != nil || r.Action != Cancel {
		t.Errorf("without a user: %+v, %v", r, err)
	}
}

func TestOneChoiceIsAskedAtOnce(t *testing.T) {
	for _, schema := range []string{`{"type":"boolean"}`, `{"type":"string","enum":["true","false"]}`} {
		f, err := newField("sure", []byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		f.Required = true
		for answer, want := range map[string]Action{"true": Accept, "\x00decline": Decline, "": Cancel} {
			p := &player{}
			if answer != "" {
				p.answers = [][]string{{answer}}
			}
			r, err := Dialogs(p, nil)(t.Context(), Question{Server: "s", Message: "Sure?", Fields: []Field{f}})
			if err != nil || r.Action != want || want == Accept && fmt.Sprint(r.Values["sure"]) != "true" || len(p.titles) != 1 {
				t.Errorf("%s, %q: %+v, %v, asked %q", schema, answer, r, err, p.titles)
			}
			if last := p.choices[0][len(p.choices[0])-1]; last.Label != "decline" || len(p.choices[0]) != 3 {
				t.Errorf("%s: chosen from %+v", schema, p.choices[0])
			}
		}
	}
}

// program is a player that is a program, which has one answer for a choice.
type program struct{ player }

func (*program) IsClient() bool { return true }

func TestAProgramChoosesSeveralInWords(t *testing.T) {
	f, err := newField("tags", []byte(`{"type":"array","items":{"type":"string","enum":["a","b","c"]},"minItems":1,"default":["c"]}`))
	if err != nil {
		t.Fatal(err)
	}
	f.Required = true
	p := &program{player{answers: [][]string{{"answer"}, {"a, x"}, {" a ,b,"}}}}
	r, err := Dialogs(p, nil)(t.Context(), Question{Server: "s", Message: "Which?", Fields: []Field{f}})
	if err != nil || r.Action != Accept || !slices.Equal(r.Values["tags"].([]any), []any{"a", "b"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if !strings.HasSuffix(p.titles[1], "with commas between them: a, b, c") || !strings.Contains(p.titles[2], "expected one of") {
		t.Errorf("asked %q", p.titles)
	}
	p = &program{player{answers: [][]string{{"answer"}, {""}}}}
	if r, _ := Dialogs(p, nil)(t.Context(), Question{Fields: []Field{f}}); !slices.Equal(r.Values["tags"].([]any), []any{"c"}) {
		t.Errorf("the usual one: %+v", r)
	}
}

// asker answers whole questions with what it was given, in order.
type asker struct {
	player
	replies []Reply
	asked   []Question
	opens   bool
}

func (a *asker) OpensPages() bool { return a.opens }

func (a *asker) AskQuestion(_ context.Context, q Question) (Reply, error) {
	a.asked = append(a.asked, q)
	r := a.replies[0]
	if len(a.replies) > 1 {
		a.replies = a.replies[1:]
	}
	return r, nil
}

func TestTheAnswerOfAFrontEndIsCheckedAsAWhole(t *testing.T) {
	q, err := newQuestion("s", &sdk.ElicitParams{Message: "Who are you?", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":1}},"required":["name"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]any{"name": "Ada", "age": 36.0}
	for _, test := range []struct {
		name    string
		replies []Reply
		want    Action
		wrong   []string // what the question says when it comes again
	}{
		{"good", []Reply{{Accept, map[string]any{"name": "Ada", "age": 36, "more": "x"}}}, Accept, nil},
		{"declined", []Reply{{Action: Decline}}, Decline, nil},
		{"left", []Reply{{}}, "", nil},
		{"mended", []Reply{{Accept, map[string]any{"age": 36}}, {Accept, map[string]any{"name": "Ada", "age": 0}}, {Accept, good}}, Accept,
			[]string{"Your name: a value is wanted", "age: "}},
		{"never good", []Reply{{Accept, nil}}, Cancel, slices.Repeat([]string{"Your name: a value is wanted"}, maxTries-1)},
	} {
		a := &asker{replies: test.replies}
		r, err := Dialogs(a, nil)(t.Context(), q)
		if err != nil || r.Action != test.want || test.want == Accept && !maps.Equal(r.Values, good) || len(a.asked) != 1+len(test.wrong) {
			t.Errorf("%s: %+v, %v, asked %d times", test.name, r, err, len(a.asked))
			continue
		}
		for i, wrong := range test.wrong {
			if !strings.HasPrefix(a.asked[i+1].Message, "Who are you?\n"+wrong) {
				t.Errorf("%s: asked again with %q", test.name, a.asked[i+1].Message)
			}
		}
	}
	for _, opens := range []bool{true, false} {
		opened := false
		a := &asker{replies: []Reply{{Action: Accept}}, opens: opens}
		r, err := Dialogs(a, func(context.Context, string) error { opened = true; return nil })(t.Context(), Question{URL: "https://example.com"})
		if err != nil || r.Action != Accept || opened == opens {
			t.Errorf("a front end that opens pages: %v; %+v, %v, opened %v", opens, r, err, opened)
		}
	}
}

func TestOnlyPagesAreOpened(t *testing.T) {
	for address, isPage := range map[string]bool{
		"https://example.com/a?b=c": true, "http://localhost:1/": true,
		"file:///etc/passwd": false, "javascript:alert(1)": false, "x-terminal:run": false, "https:": false, "": false, "\x00": false,
	} {
		_, err := newQuestion("s", pageQuestion(address))
		if (err == nil) != isPage {
			t.Errorf("%q: %v", address, err)
		}
	}
}
