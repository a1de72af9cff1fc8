package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

// player is a user that answers what it was given, in order.
type player struct {
	agent.NoUI
	answers [][]string // nil: the dialog is left
	titles  []string
	choices [][]agent.Choice
}

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
		{"all", [][]string{{"Ada"}, {"36"}, {"true"}, {"green"}, {"a", "b"}}, map[string]any{"name": "Ada", "age": 36.0, "sure": true, "colour": "green", "tags": 2}, 5},
		{"the least", [][]string{{"Ada"}, {""}, {chooseNone}, {chooseNone}, {}}, map[string]any{"name": "Ada"}, 5},
		{"what is wrong is asked again", [][]string{{"Ada"}, {"0"}, {"x"}, {"2"}, {"default"}, {chooseNone}, {}}, map[string]any{"name": "Ada", "age": 2.0, "sure": true}, 7},
		{"left", [][]string{{"Ada"}, nil}, nil, 2},
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
		if !strings.HasPrefix(p.titles[0], "MCP server s: Who are you?\nYour name") {
			t.Errorf("%s: asked %q", test.name, p.titles[0])
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
	p := &player{answers: [][]string{{chooseYes}}}
	if _, err := Dialogs(p, func(context.Context, string) error { return errors.New("no browser") })(t.Context(), Question{URL: "https://example.com"}); err == nil {
		t.Error("a page that was not opened")
	}
	if r, err := Dialogs(agent.NoUI{}, nil)(t.Context(), Question{URL: "https://example.com"}); err != nil || r.Action != Cancel {
		t.Errorf("without a user: %+v, %v", r, err)
	}
}
