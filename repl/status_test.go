package repl

import (
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

func TestWhatMattersLeastLeavesTheStatusLineFirst(t *testing.T) {
	x := newStage(80)
	x.status = status{model: "opus-5.5:medium", full: "34% of 200k", part: 0.34, cost: "$0.068", branch: "master*"}
	x.status.set("b", "todo\x1b[31m\r\n\t1/3\x07")
	x.status.set("a", "hook")
	x.status.set("c", "gone")
	x.status.set("c", "")
	for columns, want := range map[int]string{
		200: "opus-5.5:medium ▕██░░░░▏ 34% of 200k · $0.068 · master* · hook · todo 1/3",
		60:  "opus-5.5:medium ▕██░░░░▏ 34% of 200k · $0.068 · master*",
		50:  "opus-5.5:medium ▕██░░░░▏ 34% of 200k · $0.068",
		40:  "opus-5.5:medium ▕██░░░░▏ 34% of 200k",
		30:  "opus-5.5:medium · 34% of 200k",
		20:  "opus-… · 34% of 200k",
		12:  "34% of 200k",
		5:   "34% …",
	} {
		if got := x.statusRows(columns); len(got) != 1 || got[0] != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	x.status.mode = "plan mode"
	for columns, want := range map[int]string{
		200: "plan mode · opus-5.5:medium ▕██░░░░▏ 34% of 200k · $0.068 · master* · hook · todo 1/3",
		30:  "plan mode · opu… · 34% of 200k",
		20:  "plan … · 34% of 200k",
	} {
		if got := x.statusRows(columns); len(got) != 1 || got[0] != want {
			t.Errorf("in a mode, %d columns: %q, want %q", columns, got, want)
		}
	}
	x.status.mode = ""
	x.plain = true
	if got := x.statusRows(200)[0]; got != "opus-5.5:medium · 34% of 200k · $0.068 · master* · hook · todo 1/3" {
		t.Errorf("plain: %q", got)
	}
	x.status.model = ""
	if got := x.statusRows(80); got != nil {
		t.Errorf("before it is known: %q", got)
	}
}

func paid(model string, cost float64) message.Message {
	return message.Message{Role: message.RoleAssistant, Provider: "p", Model: model,
		Usage: &message.Usage{Input: 900, Output: 100, CacheRead: 500, Cost: message.Cost{Total: cost}}}
}

func TestTheStatusIsThatOfTheSession(t *testing.T) {
	models := llm.NewModels(nil)
	free := &llm.Model{Provider: "p", ID: "free\u202e", ContextWindow: 4000}
	models.Register(llm.ProviderSpec{Name: "p", Models: llm.Listed(&llm.Model{Provider: "p", ID: "paid",
		Cost: &llm.Price{Input: 1, Output: 1, CacheRead: -1, CacheWrite: -1}}, free)})
	for _, c := range []struct {
		name       string
		spent      bool
		used       []message.Message
		full, cost string
	}{
		{"new", true, nil, "", ""},
		{"of all that was asked", true, []message.Message{paid("paid", 0.5), paid("paid", 0.25)}, "38% of 4k", "$0.750"},
		{"what has no price is not in it", true, []message.Message{paid("paid", 0.5), paid("free\u202e", 0)}, "38% of 4k", "≥ $0.500"},
		{"nobody went on with it yet", false, []message.Message{paid("paid", 0.5)}, "38% of 4k", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session.New(session.Options{})
			for _, m := range c.used {
				if _, err := s.AppendMessage(&m); err != nil {
					t.Fatal(err)
				}
			}
			a := agent.New(agent.Options{Session: s, Models: models, Model: free, Cwd: "/nowhere"})
			f := readStatus(a, c.spent, func(dir string) string { return "branch of " + dir })
			if f.full != c.full || f.cost != c.cost || f.branch != "branch of /nowhere" {
				t.Errorf("%+v", f)
			}
			if want := printable.Line(free.Ref()) + ":off"; f.model != want {
				t.Errorf("model %q, want %q", f.model, want)
			}
		})
	}
}

func TestTheContextIsSmallAfterACompaction(t *testing.T) {
	s := session.New(session.Options{})
	m := paid("paid", 1)
	if _, err := s.AppendMessage(&m); err != nil {
		t.Fatal(err)
	}
	if got := contextTokens(s.Branch()); got != 1500 {
		t.Errorf("%d tokens", got)
	}
	if _, err := s.Append(session.TypeCompaction, session.Compaction{Summary: "s"}); err != nil {
		t.Fatal(err)
	}
	if got := contextTokens(s.Branch()); got != 0 {
		t.Errorf("after a compaction %d tokens", got)
	}
}

func TestWhatWasUsedBesideTheConversationIsSpent(t *testing.T) {
	s := session.New(session.Options{})
	r := New(Options{})
	for _, c := range []struct {
		entryType string
		body      any
		want      bool
	}{
		{session.TypeModelChange, session.ModelChange{Provider: "acme", ModelID: "one"}, false},
		{session.TypeUsage, session.UsageEntry{Kind: agent.KindAgent, Usage: &message.Usage{Cost: message.Cost{Total: 0.5}}}, true},
	} {
		e, err := s.Append(c.entryType, c.body)
		if err != nil {
			t.Fatal(err)
		}
		told := &agent.EntryAppended{Entry: e}
		if !r.Wants(told.Kind()) || r.Handle(t.Context(), told) != nil || r.screen.status.spent != c.want {
			t.Errorf("with %s: spent %v, want %v", c.entryType, r.screen.status.spent, c.want)
		}
	}
}

func TestWhatTheSummaryOfABranchCostIsSpent(t *testing.T) {
	s := session.New(session.Options{})
	e, err := s.Append(session.TypeBranchSummary, session.BranchSummary{Summary: "s", Usage: &message.Usage{Cost: message.Cost{Total: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{})
	for _, c := range []struct {
		e    *agent.SessionTree
		want bool
	}{{&agent.SessionTree{}, false}, {&agent.SessionTree{SummaryEntry: e}, true}} {
		if !r.Wants(c.e.Kind()) || r.Handle(t.Context(), c.e) != nil || r.screen.status.spent != c.want {
			t.Errorf("spent %v, want %v", r.screen.status.spent, c.want)
		}
	}
}
