package agent

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/instructions"
	"pi/agent/llm"
)

func TestSystemPromptHasNamedSections(t *testing.T) {
	tools := []Tool{&fakeTool{spec: llm.ToolSpec{Name: "look", Snippet: "looks", Guidelines: []string{"look twice"}}}, echo("say")}
	files := []instructions.File{{Path: "/p/AGENTS.md", Text: "\nbe kind\n\n"}}
	usual := usualRole + "\n\nTools:\n- look: looks\n- say: say things\n\nGuidelines:\n- " + strings.Join(commonGuidelines(), "\n- ") + "\n- look twice"
	rest := "\n\n# Project instructions\n\n## /p/AGENTS.md\n\nbe kind\n\n\nDate: 2026-03-04\nWorking directory: /p"
	for _, c := range []struct {
		name   string
		prompt SystemPrompt
		tools  []Tool
		want   string
		names  string
	}{
		{"all", SystemPrompt{Append: "and more", Files: files}, tools, usual + "\n\nand more" + rest, "role tools guidelines append instructions environment"},
		{"nothing", SystemPrompt{}, nil, usualRole + "\n\nGuidelines:\n- " + strings.Join(commonGuidelines(), "\n- ") + "\n\nDate: 2026-03-04\nWorking directory: /p", "role guidelines environment"},
		{"replaced", SystemPrompt{Replace: "You are a poet.", Append: "and more", Files: files}, tools, "You are a poet.\n\nand more" + rest, "role append instructions environment"},
	} {
		r := newHarness(t, Options{Prompt: &c.prompt, Tools: c.tools})
		var names []string
		for _, s := range r.prompts.sections() {
			names = append(names, s.Name)
		}
		if got := r.SystemPrompt(); got != c.want || strings.Join(names, " ") != c.names {
			t.Errorf("%s: sections %v\n%s\nwant\n%s", c.name, names, got, c.want)
		}
	}
}

func TestListenersChangeSectionsOfTheSystemPrompt(t *testing.T) {
	value := func(s string) *string { return &s }
	sections := []Section{{Name: "role", Text: "R"}, {Name: "tools", Text: "T"}, {Name: "environment", Text: "E"}}
	for _, c := range []struct {
		name    string
		changed map[string]*string
		whole   string // instead of the text
		want    string
	}{
		{"nothing", nil, "", "R\n\nT\n\nE"},
		{"replaced, removed, added in the order of their names", map[string]*string{"role": value("r"), "tools": nil, "z": value("Z"), "a": value("A"), "gone": nil}, "", "r\n\nE\n\nA\n\nZ"},
		{"the whole text wins", map[string]*string{"role": value("r")}, "all", "all"},
	} {
		e := &BeforeAgentStart{SystemPrompt: joinSections(sections), Sections: sections, Changed: c.changed}
		if c.whole != "" {
			e.SystemPrompt = c.whole
		}
		if got, _ := e.Prompts(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestChangedSystemPromptIsOfOnePromptAndShownDuringIt(t *testing.T) {
	var r *harness
	var seen []string
	change := on(func(e *BeforeAgentStart) {
		if e.Prompt == "kindly" {
			note := "Be kind."
			e.Changed = map[string]*string{"kindness": &note, sectionTools: nil}
		}
	})
	look := tool("look", func(context.Context) (Result, error) {
		seen = append(seen, r.SystemPrompt())
		return TextResult("ok"), nil
	})
	r = newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{change}}, use(call{"a", "look", `{}`}), say("b"), say("c"))
	usual := r.SystemPrompt()
	r.prompt("kindly")
	r.prompt("go")
	var sent []string
	for _, q := range r.model.requests {
		sent = append(sent, q.System)
	}
	kind := strings.Replace(usual, "\n\nTools:\n- look: look things", "", 1) + "\n\nBe kind."
	if !reflect.DeepEqual(sent, []string{kind, kind, usual}) || !reflect.DeepEqual(seen, []string{kind}) || r.SystemPrompt() != usual {
		t.Errorf("sent %q, seen %q", sent, seen)
	}
}

func TestTheDateOfASystemPromptIsThatOfTheBeginning(t *testing.T) {
	at := func(text string) func() time.Time {
		return func() time.Time {
			when, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Error(err)
			}
			return when
		}
	}
	for _, c := range []struct {
		began func() time.Time
		now   string
		want  string
	}{
		{at("2026-01-02T23:59:00Z"), "2026-01-02T23:59:59Z", "2026-01-02"},
		{at("2026-01-02T23:59:00Z"), "2026-01-03T00:01:00Z", "2026-01-02"},
		{at("2026-01-02T23:59:00Z"), "2026-03-03T00:01:00Z", "2026-01-02"},
		{at("2026-01-02T23:59:00Z"), "2026-01-03T00:01:00+01:00", "2026-01-03"}, // as it was there
		{func() time.Time { return time.Time{} }, "2026-03-03T00:01:00Z", "2026-03-03"},
	} {
		p := systemPrompts{source: &SystemPrompt{Replace: "Hi."}, tools: &toolset{}, mode: noMode, cwd: "/p", began: c.began, now: at(c.now)}
		if got := joinSections(p.sections()); got != "Hi.\n\nDate: "+c.want+"\nWorking directory: /p" {
			t.Errorf("at %s: %q", c.now, got)
		}
	}
}

func TestTheSkillsOfASystemPromptStayForASession(t *testing.T) {
	asked := 0
	skills := func() string { asked++; return fmt.Sprintf("Skills, version %d.", asked) }
	reads := &toolset{}
	p := systemPrompts{source: &SystemPrompt{Replace: "Hi.", Skills: skills}, tools: reads, mode: noMode, began: time.Now, now: time.Now}
	if got := joinSections(p.sections()); strings.Contains(got, "Skills") || asked > 0 {
		t.Errorf("a model that can read nothing: %q", got)
	}
	reads.set([]Tool{echo("read")}, "")
	want := func(version string) {
		t.Helper()
		for range 2 {
			if got := joinSections(p.sections()); !strings.HasPrefix(got, "Hi.\n\nSkills, version "+version+".\n\nDate: ") {
				t.Errorf("%q, want version %s", got, version)
			}
		}
	}
	want("1")
	p.forgetSession()
	want("2")
}

func TestTheLastSystemPromptIsThatOfTheRunThenThatOfTheLastRequest(t *testing.T) {
	p := systemPrompts{source: &SystemPrompt{Replace: "Hi."}, tools: &toolset{}, mode: noMode, began: time.Now, now: time.Now}
	next := plainPrompt(p.sections())
	sent := &sentRequest{system: promptText{base: next.base, text: "as a hook left it"}}
	if got := p.last(nil).text; got != next.text {
		t.Errorf("nothing was sent: %q", got)
	}
	if got := p.last(sent).text; got != "as a hook left it" {
		t.Errorf("it was sent: %q", got)
	}
	if got := p.last(&sentRequest{system: promptText{base: "another one", text: "x"}}).text; got != next.text {
		t.Errorf("another one was sent: %q", got)
	}
	p.setOfRun(promptText{text: "running"})
	if got := p.last(sent).text; got != "running" || p.ofRun().text != got {
		t.Errorf("in a run: %q", got)
	}
}

// noMode is the section of a mode where none is on.
func noMode() string { return "" }

// Only a model that can run commands can read the guides, and a user who replaced the text
// has said all there is to say.
func TestTheGuidesAreNamedToAModelThatCanReadThem(t *testing.T) {
	t.Parallel()
	bash, read := []llm.ToolSpec{{Name: "bash", Description: "runs"}}, []llm.ToolSpec{{Name: "read", Description: "reads"}}
	for _, c := range []struct {
		name  string
		from  SystemPrompt
		tools []llm.ToolSpec
		want  bool
	}{
		{"with bash", SystemPrompt{Docs: "d"}, bash, true},
		{"without bash", SystemPrompt{Docs: "d"}, read, false},
		{"without guides", SystemPrompt{}, bash, false},
		{"replaced", SystemPrompt{Docs: "d", Replace: "r"}, bash, false},
	} {
		all := c.from.sections(c.tools, func() string { return "" }, "2026-01-02", "/p")
		if got := slices.Contains(all, Section{sectionDocs, "d"}); got != c.want {
			t.Errorf("%s: %v", c.name, all)
		}
	}
}
