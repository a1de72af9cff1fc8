package compaction

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// built makes a branch from words: "u" a prompt, "a" an answer, "f" a failed
// one, "c" an answer with calls, "r" a result of the last answer's next call, "x"
// a command, "h" a hook's message, "s" the summary of a branch, "n" a new name
// for the session, "C3" a compaction that keeps from the third entry on, "C" one
// that keeps nothing. "u:400" has so many characters; "c2" has two calls.
func built(t testing.TB, words string) *session.Session {
	t.Helper()
	s := session.New(session.Options{})
	var open []string
	var all []*session.Entry
	for i, w := range strings.Fields(words) {
		kind, size, _ := strings.Cut(w, ":")
		text := fmt.Sprintf("%s%d.", kind[:1], i+1)
		chars, n := 0, 1
		fmt.Sscan(size, &chars)
		fmt.Sscan(kind[1:], &n)
		if len(text) < chars {
			text += strings.Repeat("-", chars-len(text))
		}
		m := &message.Message{Content: []message.Block{message.TextBlock(text)}}
		var typ string
		var body any
		switch kind[0] {
		case 'u':
			m.Role = message.RoleUser
		case 'a', 'f':
			m.Role, m.StopReason = message.RoleAssistant, message.StopEnd
			if kind[0] == 'f' {
				m.StopReason = message.StopError
			}
		case 'c':
			m.Role, m.StopReason, open = message.RoleAssistant, message.StopToolUse, nil
			for j := range n {
				open = append(open, fmt.Sprintf("call%d.%d", i, j))
				m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: open[j], Name: "t", Arguments: json.RawMessage("{}")})
			}
		case 'r':
			m.Role, m.ToolName, m.ToolCallID, open = message.RoleToolResult, "t", open[0], open[1:]
		case 'x':
			m.Role, m.Content, m.Command, m.Output = message.RoleBashExecution, nil, text, "x"
		case 'h':
			typ, body = session.TypeCustomMessage, session.CustomMessage{CustomType: "hook", Content: m.Content}
		case 's':
			typ, body = session.TypeBranchSummary, session.BranchSummary{FromID: "root", Summary: text, Details: json.RawMessage(`{"readFiles":["s.go"]}`)}
		case 'n':
			typ, body = session.TypeSessionInfo, session.SessionInfo{Name: "n"}
		case 'C':
			c := session.Compaction{Summary: text, FirstKeptEntryID: "none", Details: json.RawMessage(`{"readFiles":["old.go","both.go"],"modifiedFiles":["new.go"]}`)}
			if len(kind) > 1 {
				c.FirstKeptEntryID = all[n-1].ID
			}
			typ, body = session.TypeCompaction, c
		default:
			t.Fatalf("word %q", w)
		}
		var e *session.Entry
		var err error
		if typ == "" {
			e, err = s.AppendMessage(m)
		} else {
			e, err = s.Append(typ, body)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return s
}

// names are the first words of items: u1 a2.
func names(items []session.Item) string {
	var out []string
	for _, it := range items {
		text := it.Message.Text() + it.Message.Summary + it.Message.Command
		name, _, _ := strings.Cut(text, ".")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// planned is a plan in one line: the summarised turns | the prefix | the first that
// is kept.
func planned(p *Plan, err error) string {
	if err != nil {
		return err.Error()
	}
	kept := "nothing"
	if p.FirstKept != nil {
		kept = names([]session.Item{{Message: p.FirstKept.Message()}})
	}
	return fmt.Sprintf("%s | %s | %s", names(p.Summarize), names(p.TurnPrefix), kept)
}

func TestWhereTheCutFalls(t *testing.T) {
	for _, c := range []struct {
		name, words string
		limits      Limits
		before      int
		want        string
	}{
		{"empty", "", Limits{Keep: 100}, 0, "nothing to compact"},
		{"empty, asked for", "", Limits{Keep: 100, All: true}, 0, "nothing to compact"},
		{"less than is kept", "u:40 a:40", Limits{Keep: 100}, 20, "nothing to compact"},
		{"less than is kept, asked for", "u:40 a:40", Limits{Keep: 100, All: true}, 20, "u1 a2 |  | nothing"},
		{"less than is kept, and yet too much", "u:40 a:40 u:40", Limits{Keep: 100}, 5000, "u1 a2 |  | u3"},
		{"whole turns", "u:40 a:400 u:40 a:400 u:40 a:400", Limits{Keep: 200}, 0, "u1 a2 |  | u3"},
		{"the cut is where enough is kept", "u:400 a:400 u:400 a:400", Limits{Keep: 200}, 0, "u1 a2 |  | u3"},
		{"a turn is split", "u:400 c:400 r:400 c:400 r:400 a:400", Limits{Keep: 250}, 0, " | u1 c2 r3 | c4"},
		{"complete turns and a split one", "u a:400 u:400 c:400 r:400 c:400 r:400 a:400", Limits{Keep: 250}, 0, "u1 a2 | u3 c4 r5 | c6"},
		{"a small beginning of a turn stays", "u a:400 u:20 c:400 r:400", Limits{Keep: 150}, 0, "u1 a2 |  | u3"},
		{"if it has room", "u a:400 u:80 c:400 r:400", Limits{Keep: 200, Room: 230}, 0, "u1 a2 |  | u3"},
		{"and not if it has none", "u a:400 u:80 c:400 r:400", Limits{Keep: 200, Room: 210}, 0, "u1 a2 | u3 | c4"},
		{"where all is to be shortened it stays", "u a:400 u:80 c:400 r:4000", Limits{Keep: 200, Room: 210}, 0, "u1 a2 |  | u3"},
		{"unless nothing is before it", "u:20 c:400 r:400 a:400", Limits{Keep: 250}, 0, " | u1 | c2"},
		{"parallel calls stay together", "u:400 c3:400 r:400 r:400 r:400", Limits{Keep: 50}, 0, " | u1 | c2"},
		{"also with something between them", "u:400 a u c2:40 r:400 h:400 u:400 r:400 a", Limits{Keep: 110}, 0, "u1 a2 |  | u3"},
		{"an unanswered prompt is kept", "u:400 a:400 u:4000", Limits{Keep: 10}, 0, "u1 a2 |  | u3"},
		{"with what came after it", "u:400 a:400 u:40 h:4000", Limits{Keep: 10}, 0, "u1 a2 |  | u3"},
		{"and a failed answer", "u:400 a:400 u:40 f:4000", Limits{Keep: 10}, 0, "u1 a2 |  | u3"},
		{"also when asked for", "u:40 a:40 u:40", Limits{Keep: 1000, All: true}, 0, "u1 a2 |  | u3"},
		{"of several prompts that failed the last", "u:400 f u:400 f u:40", Limits{Keep: 5}, 0, "u1 u3 |  | u5"},
		{"of prompts that wait all", "u:400 a:400 u:400 u:400", Limits{Keep: 5}, 0, "u1 a2 |  | u3"},
		{"calls that are not over are kept", "u:400 c:400 r:40 c:40 r:400", Limits{Keep: 5}, 0, " | u1 c2 r3 | c4"},
		{"a prompt while tools work", "u:400 c:400 r:40 u:40", Limits{Keep: 5}, 0, " | u1 | c2"},
		{"nothing but what is kept", "u:400 c:400 r:400", Limits{Keep: 5, All: true}, 0, " | u1 | c2"},
		{"one prompt", "u:4000", Limits{Keep: 5, All: true}, 5000, "nothing to compact"},
		{"a turn too large for the room", "u:40 a:40 u:40 c:40 r:8000 a:400", Limits{Keep: 200, Room: 1000}, 0, "u1 a2 | u3 c4 r5 | a6"},
		{"failed answers and unknown entries", "u:400 f:400 n u:400 a:400 u:40 a:40", Limits{Keep: 20}, 0, "u1 u4 a5 |  | u6"},
		{"a command begins a turn", "u:400 a:400 x:400 u:400 a:400", Limits{Keep: 250}, 0, "u1 a2 |  | x3"},
		{"a hook's message between tools does not", "u:40 c:400 r:400 h:40 c:400 r:40", Limits{Keep: 100}, 0, " | u1 c2 r3 h4 | c5"},
		{"nor does a command", "u:40 c:400 r:400 x:40 c:400 r:40", Limits{Keep: 100}, 0, " | u1 c2 r3 x4 | c5"},
		{"summary of a branch", "u:400 s:400 u:400 a:400", Limits{Keep: 200}, 0, "u1 s2 |  | u3"},
		{"just compacted", "u:400 a:400 C n", Limits{Keep: 5, All: true}, 5000, "already compacted"},
		{"just compacted with something kept", "u:400 a:400 u a C3", Limits{Keep: 5}, 5000, "already compacted"},
		{"what an earlier compaction kept", "u:400 a:400 u:400 a:400 C3 u:400 a:400", Limits{Keep: 200}, 0, "u3 a4 |  | u6"},
		{"is kept once more", "u:400 a:400 u:400 a:400 C3 u:40 a:400", Limits{Keep: 400}, 0, "nothing to compact"},
		{"in part", "u:400 a:400 u:400 a:400 u:40 a:400 C3 u:40 a:400", Limits{Keep: 205}, 0, "u3 a4 |  | u5"},
		{"the rest of a turn that was split", "u:400 c:40 r:40 c:400 r:400 a:40 C4 u:40 a:40", Limits{Keep: 20}, 0, "c4 r5 a6 |  | u8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := built(t, c.words)
			if got := planned(NewPlan(s.Branch(), s.Context(), c.before, c.limits)); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.words, got, c.want)
			}
		})
	}
}

func TestSecondResultOfACallIsNotSummarised(t *testing.T) {
	s := built(t, "u:400 c:400")
	id := s.Branch()[1].Message().ToolCalls()[0].ID
	for _, text := range []string{"first.", "second."} {
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleToolResult, ToolCallID: id, Content: []message.Block{message.TextBlock(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []message.Role{message.RoleAssistant, message.RoleUser} {
		if _, err := s.AppendMessage(&message.Message{Role: role, Content: []message.Block{message.TextBlock(string(role) + ".")}}); err != nil {
			t.Fatal(err)
		}
	}
	got := planned(NewPlan(s.Branch(), s.Context(), 0, Limits{Keep: 2}))
	if want := "u1 c2 first assistant |  | user"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTwentyTurnsAndTwoLargeResults(t *testing.T) {
	const keep, reserve, summary = 20000, 16384, 2000
	s := built(t, strings.Repeat("u:200 a:800 ", 20)+"u:200 c2:100 r:50000 r:50000")
	seen := s.Context()
	before, _ := contextTokens(seen)
	p, err := NewPlan(s.Branch(), seen, before, Limits{Keep: keep, Room: keep + reserve - summary})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Summarize) != 40 || len(p.TurnPrefix) != 0 || names([]session.Item{{Message: p.FirstKept.Message()}}) != "u41" {
		t.Errorf("%s", planned(p, err))
	}
	if len(p.Shorten) != 0 || p.KeptTokens >= keep+reserve-summary {
		t.Errorf("%d tokens kept, %d results shortened", p.KeptTokens, len(p.Shorten))
	}
}

func TestNoPlanIsOfATypeThatSaysWhy(t *testing.T) {
	if _, err := NewPlan(nil, nil, 0, Limits{All: true}); !errors.Is(err, ErrNothingToCompact) {
		t.Error(err)
	}
	s := built(t, "u a C")
	if _, err := NewPlan(s.Branch(), s.Context(), 0, Limits{All: true}); !errors.Is(err, ErrJustCompacted) {
		t.Error(err)
	}
}

// Of text that counts more than is estimated, less is kept.
func TestEstimatesFollowWhatAnswersCounted(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, count int // tokens that the first answer counted, and each turn after it
		kept         int // messages of 500 estimated tokens
	}{
		{"as estimated", 500, 1000, 20},
		{"with much besides the conversation", 30000, 1000, 20},
		{"half as many", 500, 500, 20},
		{"four times as many", 500, 4000, 5},
		{"more than is possible", 500, 90000, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session.New(session.Options{})
			for i := range 40 {
				s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(strings.Repeat("u", 2000))}})
				s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock(strings.Repeat("a", 2000))}, Usage: &message.Usage{Input: c.first + i*c.count}})
			}
			before, _ := contextTokens(s.Context())
			p, err := NewPlan(s.Branch(), s.Context(), before, Limits{Keep: 10000, Room: 16000})
			if err != nil {
				t.Fatal(err)
			}
			got := len(s.Branch()) - p.FirstKeptIndex
			if got != c.kept {
				t.Errorf("%d messages are kept, want %d", got, c.kept)
			}
			if want := got * min(max(c.count, 1000), 8000) / 2; p.KeptTokens < want*9/10 || p.KeptTokens > want*11/10 {
				t.Errorf("%d tokens are said to be kept, want about %d", p.KeptTokens, want)
			}
		})
	}
}

func TestAnEmptyBranchIsNotCompactedWhateverHooksAddToIt(t *testing.T) {
	added := []session.Item{{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("a note of a hook")}}, Index: -1}}
	for name, branch := range map[string][]*session.Entry{"no entries": nil, "no messages": {{Type: session.TypeModelChange, ID: "1"}}} {
		if _, err := NewPlan(branch, added, 5, Limits{Keep: 100, All: true}); !errors.Is(err, ErrNothingToCompact) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPlanThatSavesNothingIsToldWhereTheProviderHasCounted(t *testing.T) {
	const beside = 2000
	long := strings.Repeat("word ", 80) // 100 tokens
	for _, c := range []struct {
		name    string
		prompt  string
		counted int // by the answer; 0: not at all
		smaller bool
	}{
		{"short", "hi", 2010, false}, {"long", long, 2110, true}, {"not counted", "hi", 0, true},
		{"counted as more", "hi", 9000, true}, {"counted as less than there is", "hi", 15, true},
	} {
		s := session.New(session.Options{})
		for _, m := range []*message.Message{
			{Role: message.RoleUser, Content: []message.Block{message.TextBlock(c.prompt)}},
			{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("hello")}, Usage: &message.Usage{TotalTokens: c.counted}, StopReason: message.StopEnd},
		} {
			if _, err := s.AppendMessage(m); err != nil {
				t.Fatal(err)
			}
		}
		tokens := c.counted
		if tokens == 0 {
			tokens = beside + 10
		}
		l := Limits{Keep: 1000, Room: 2000, All: true, Beside: beside}
		p, err := NewPlan(s.Branch(), s.Context(), tokens, l)
		if err != nil || p.IsSmaller() != c.smaller {
			t.Errorf("%s: smaller is not %v; %v", c.name, c.smaller, err)
		}
		l.Smaller = true
		if _, err := NewPlan(s.Branch(), s.Context(), tokens, l); errors.Is(err, ErrNotSmaller) == c.smaller {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
