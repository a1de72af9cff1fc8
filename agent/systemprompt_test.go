package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestSystemPromptHoldsItsPartsInOrder(t *testing.T) {
	look, edit := echo("look"), echo("edit")
	look.spec.Snippet, look.spec.Guidelines = "look at things", []string{"Look first.", "Be quick."}
	edit.spec.Description, edit.spec.Guidelines = "edit things\nin detail", []string{"Be quick."}
	files := []instructions.File{{Path: "/a/AGENTS.md", Text: "use tabs\n\n"}, {Path: "/p/AGENTS.md", Text: "use spaces"}}
	for _, c := range []struct {
		name   string
		prompt SystemPrompt
		want   []string
		not    string
	}{
		{"all", SystemPrompt{Append: "Appended.", Files: files}, []string{"You are", "- look: look at things\n", "- edit: edit things\n", "- Look first.", "- Be quick.",
			"Appended.", "## /a/AGENTS.md\n\nuse tabs\n", "## /p/AGENTS.md", "use spaces", "Date: 2026-03-04", "Working directory: /p"}, "in detail"},
		{"replaced", SystemPrompt{Replace: "Be a poet.", Files: files}, []string{"Be a poet.", "use tabs", "Date:", "/p"}, "- look"},
	} {
		r := newHarness(t, Options{Tools: []Tool{look, edit}, Prompt: &c.prompt})
		got := r.SystemPrompt()
		rest := got
		for _, part := range c.want {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: no %q in its place in\n%s", c.name, part, got)
			}
			rest = after
		}
		if strings.Contains(got, c.not) || strings.Count(got, "Be quick.") > 1 {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

func TestDateStaysThatOfTheBeginningOfTheSession(t *testing.T) {
	now := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	r := newHarness(t, Options{Now: func() time.Time { return now }})
	first := r.SystemPrompt()
	now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if r.SystemPrompt() != first {
		t.Error("the date changed within the session")
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil || !strings.Contains(r.SystemPrompt(), "Date: 2027-01-01") {
		t.Errorf("%v: the next session has the old date", err)
	}
}

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
		none := func() string { return "" }
		all := c.from.sections(c.tools, none, none, "2026-01-02", "/p")
		if got := slices.Contains(all, Section{sectionDocs, "d"}); got != c.want {
			t.Errorf("%s: %v", c.name, all)
		}
	}
}

// calendar is a clock that tests turn.
type calendar struct{ at time.Time }

func newCalendar() *calendar { return &calendar{testTime()} }

func (c *calendar) now() time.Time { return c.at }
func (c *calendar) nextDay()       { c.at = c.at.AddDate(0, 0, 1) }

const (
	changed5 = "custom: The date has changed: it is 2026-03-05 now."
	changed6 = "custom: The date has changed: it is 2026-03-06 now."
)

// wantDate wants the system prompts of all requests so far to have the date of the
// beginning.
func (r *harness) wantDate(date string) {
	r.t.Helper()
	for i, q := range r.model.requests {
		if !strings.Contains(q.System, "Date: "+date+"\n") {
			r.t.Errorf("request %d has not the date %s:\n%s", i+1, date, q.System)
		}
	}
}

func TestTheModelIsToldOnceThatTheDayHasChanged(t *testing.T) {
	day := newCalendar()
	shown := 0
	r := newHarness(t, Options{Now: day.now, Listeners: []Listener{on(func(*CustomShow) { shown++ })}}, say("a"), say("b"), say("c"), say("d"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	r.prompt("three")
	day.nextDay()
	r.prompt("four")
	r.wantTalk("user: one", "assistant: a", "user: two", changed5, "assistant: b", "user: three", "assistant: c", "user: four", changed6, "assistant: d")
	r.wantDate("2026-03-04")
	if shown > 0 {
		t.Error("what the model is told is shown to the person")
	}
	sent := r.model.requests[1].Messages
	if last := sent[len(sent)-1]; last.Role != message.RoleUser || last.Text() != "The date has changed: it is 2026-03-05 now." || sent[len(sent)-2].Text() != "two" {
		t.Errorf("sent: %q", last.Text())
	}
}

func TestAResumedSessionHasTheDateOfItsBeginning(t *testing.T) {
	day := newCalendar()
	first := newHarness(t, Options{Now: day.now}, say("a"))
	first.prompt("one")
	file := first.Session().File()
	resume := func(replies ...reply) *harness {
		t.Helper()
		if err := first.Session().Close(); err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(file, session.Options{Dir: filepath.Dir(file), Now: day.now})
		if err != nil {
			t.Fatal(err)
		}
		first = newHarness(t, Options{Now: day.now, Session: s}, replies...)
		return first
	}
	day.nextDay()
	r := resume(say("b"))
	r.prompt("two")
	r.wantDate("2026-03-04")
	r = resume(say("c"))
	r.prompt("three")
	r.wantTalk("user: one", "assistant: a", "user: two", changed5, "assistant: b", "user: three", "assistant: c")
	r.wantDate("2026-03-04")
}

func TestWhatIsUndoneIsToldAgain(t *testing.T) {
	day := newCalendar()
	r := newHarness(t, Options{Now: day.now}, say("a"), say("b"), say("c"), say("d"), say("e"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	if _, err := r.Undo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.prompt("instead")
	r.wantTalk("user: one", "assistant: a", "user: instead", changed5, "assistant: c")

	// A branch keeps the day of what it has of the other session.
	day.nextDay()
	if err := r.Interrupting().Clone(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.prompt("on")
	r.wantTalk("user: one", "assistant: a", "user: instead", changed5, "assistant: c", "user: on", changed6, "assistant: d")
	r.wantDate("2026-03-04")

	// A new session begins today.
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	r.model.requests = r.model.requests[:0]
	r.model.replies = []reply{say("e")}
	r.prompt("new")
	r.wantTalk("user: new", "assistant: e")
	r.wantDate("2026-03-06")
}

func TestWhatACompactionTookAwayIsToldAgain(t *testing.T) {
	day := newCalendar()
	r := newHarness(t, Options{Now: day.now}, say("a"), say("b"), say("c"), say("d"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far"}); err != nil {
		t.Fatal(err)
	}
	r.conversation.refresh(t.Context())
	r.prompt("three")
	r.prompt("four")
	r.wantTalk("compactionSummary", "user: three", changed5, "assistant: c", "user: four", "assistant: d")
}

func TestQueuedAndSentPromptsSayThatTheDayHasChangedToo(t *testing.T) {
	day := newCalendar()
	var r *harness
	midnight := func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		day.nextDay()
		for _, text := range []string{"and", "also"} {
			if accepted, err := r.Enqueue(ctx, Prompt{Text: text}, FollowUp); err != nil || !accepted {
				t.Error(err)
			}
		}
		say("a")(ctx, q, yield)
	}
	r = newHarness(t, Options{Now: day.now}, midnight, say("b"), say("c"), say("d"))
	r.prompt("one")
	r.wantTalk("user: one", "assistant: a", "user: and", changed5, "assistant: b", "user: also", "assistant: c")
	day.nextDay()
	by := &message.Message{Role: message.RoleCustom, CustomType: "hook", Content: []message.Block{message.TextBlock("wake up")}}
	if err := r.Prompt(t.Context(), Prompt{Custom: by}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(r.talk(), "\n"); !slices.Equal(got[len(got)-3:], []string{"custom: wake up", changed6, "assistant: d"}) {
		t.Errorf("%q", got)
	}
}

func TestTheServersAreNamedToAModelThatCanFindTheirTools(t *testing.T) {
	t.Parallel()
	asked, tools := 0, &toolset{}
	p := systemPrompts{source: &SystemPrompt{Replace: "Hi.", Servers: func() string { asked++; return fmt.Sprintf("Servers, version %d.", asked) }},
		tools: tools, mode: noMode, began: time.Now, now: time.Now}
	tools.set([]Tool{echo("read")}, "")
	if got := joinSections(p.sections()); strings.Contains(got, "Servers") || asked > 0 {
		t.Errorf("without the tool: %q", got)
	}
	tools.set([]Tool{echo("mcp")}, "")
	for _, version := range []string{"1", "2"} {
		for range 2 {
			if got := joinSections(p.sections()); !strings.HasPrefix(got, "Hi.\n\nServers, version "+version+".\n\nDate: ") {
				t.Errorf("version %s: %q", version, got)
			}
		}
		p.forgetSession()
	}
}
