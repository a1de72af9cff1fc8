package compaction

import (
	"slices"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// seenAs makes of a context what a hook gives: the names of the messages in its
// order. A name with a star is the same message with other words in it, one that
// begins with a plus comes from no entry, and the summary is S.
func seenAs(t *testing.T, s *session.Session, words string) []session.Item {
	t.Helper()
	var seen []session.Item
	for _, w := range strings.Fields(words) {
		if made, ok := strings.CutPrefix(w, "+"); ok {
			size := strings.Repeat("-", 400-len(made))
			seen = append(seen, session.Item{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(made + "." + size)}}, Index: -1})
			continue
		}
		name, replaced := strings.CutSuffix(w, "*")
		i := slices.IndexFunc(s.Context(), func(it session.Item) bool {
			return names([]session.Item{it}) == name || name == "S" && it.Message.Role == message.RoleCompactionSummary
		})
		if i < 0 {
			t.Fatalf("no message %s", name)
		}
		it := s.Context()[i]
		if replaced {
			it.Message = it.Message.Clone()
			it.Message.Content = []message.Block{message.TextBlock(name + "*." + strings.Repeat("-", 400))}
		}
		seen = append(seen, it)
	}
	return seen
}

func TestWhatHooksMadeOfTheContextIsCut(t *testing.T) {
	const four = "u:400 a:400 u:400 a:400 u:400 a:400"
	for _, c := range []struct {
		name, words, seen string
		keep              int
		want              string
	}{
		{"untouched", four, "u1 a2 u3 a4 u5 a6", 200, "u1 a2 u3 a4 |  | u5"},
		{"what was taken out is not summarised", four, "u1 a4 u5 a6", 200, "u1 a4 |  | u5"},
		{"the first kept one was taken out", four, "u1 a2 u3 a4 a6", 100, "u1 a2 | u3 a4 | a6"},
		{"the end was taken out", four, "u1 a2 u3 a4", 200, "u1 a2 |  | u3"},
		{"all was", four, "", 10, "nothing to compact"},
		{"what is changed is summarised as it was seen", four, "u1* a2 u3 a4 u5 a6", 200, "u1* a2 u3 a4 |  | u5"},
		{"made by a hook before the cut", four, "+p u1 a2 u3 a4 +q u5 a6", 200, "p u1 a2 u3 a4 q |  | u5"},
		{"made by a hook behind it", four, "u1 a2 u3 a4 u5 +q a6", 300, "u1 a2 u3 a4 |  | u5"},
		{"it counts for what is kept", four, "u1 a2 u3 a4 u5 +q a6", 400, "u1 a2 | u3 | a4"},
		{"never the first kept one", four, "u1 a2 u3 a4 +q u5 a6", 300, "u1 a2 | u3 | a4"},
		{"nothing but what a hook made", four, "+p +q", 100, "nothing to compact"},
		{"an older message behind a kept one", four, "u5 u1 a2 a6", 200, "u1 a2 |  | u5"},
		{"a kept message before an older one", four, "u1 a2 u5 a6 u3 a4", 200, "u1 a2 u3 a4 |  | u5"},
		{"the answer is gone, its result is not sent", "u:400 c:400 r:400 u:400 a:400", "u1 r3 u4 a5", 200, "u1 |  | u4"},
		{"the result is gone", "u:400 c:400 r:400 u:400 a:400", "u1 c2 u4 a5", 200, "u1 c2 |  | u4"},
		{"a call and its result apart on the branch", "u:400 c:400 u:400 r:400 a:400 u a", "u1 c2 r4 u3 a5 u6 a7", 210, " | u1 | c2"},
		{"a call and its result moved apart", "u:400 c:400 r:400 u:400 a:400 u a", "u1 c2 u4 r3 a5 u6 a7", 210, " | u1 | c2"},
		{"a result that is gone, apart from its call", "u:400 c:400 u:400 r:400 a:400", "u1 c2 u3 a5", 200, " | u1 | c2"},
		{"a summary and what was kept", "u:400 a:400 u:400 a:400 C3 u:400 a:400", "S u3 a4 u6 a7", 200, "u3 a4 |  | u6"},
		{"a message from before the summary", "u:400 a:400 u:400 a:400 C3 u:400 a:400", "S u3 a4 +u1 u6 a7", 200, "u3 a4 u1 |  | u6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := built(t, c.words)
			got := planned(NewPlan(s.Branch(), seenAs(t, s, c.seen), 0, Limits{Keep: c.keep}))
			if got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.seen, got, c.want)
			}
		})
	}
}

func TestAnUnansweredPromptThatAHookTookOutIsKept(t *testing.T) {
	s := built(t, "u:400 a:400 u:400 a:400 u:400")
	for _, seen := range []string{"u1 a2 u3 a4", "u1 a2 u3 a4 +u5"} {
		p, err := NewPlan(s.Branch(), seenAs(t, s, seen), 0, Limits{Keep: 10000, All: true})
		if err != nil || p.FirstKeptIndex > 4 {
			t.Errorf("%s: %s", seen, planned(p, err))
		}
	}
}

func TestCallsThatTheModelSeesLastAreKept(t *testing.T) {
	s := built(t, "u:400 c:400 r:400 a:400")
	got := planned(NewPlan(s.Branch(), seenAs(t, s, "u1 c2 r3"), 0, Limits{Keep: 1000, All: true}))
	if want := " | u1 | c2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResultThatAHookMadeStaysWithItsCall(t *testing.T) {
	s := built(t, "u:400 c:400 r:400 u:400 a:400")
	seen := seenAs(t, s, "u1 c2 u4 r3 a5")
	made := *seen[3].Message
	seen[3] = session.Item{Message: &made, Index: -1}
	got := planned(NewPlan(s.Branch(), seen, 0, Limits{Keep: 300}))
	if want := " | u1 | c2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMessageFromBeforeTheSummaryDoesNotBringBackOthers(t *testing.T) {
	s := built(t, "u:400 a:400 u:400 a:400 C3 u:400 a:400")
	seen := s.Context()
	old := session.Item{Message: s.Branch()[1].Message(), Entry: s.Branch()[1], Index: 1}
	seen = slices.Insert(seen, 1, old)
	got := planned(NewPlan(s.Branch(), seen, 10000, Limits{Keep: 200}))
	if want := "a2 u3 a4 |  | u6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestItemThatIsNotWhereItSaysComesFromNowhere(t *testing.T) {
	s := built(t, "u:400 a:400 u:400 a:400")
	other := built(t, "u:400 a:400 u:400 a:400")
	seen := append(other.Context(), s.Context()...)
	seen = append(seen, session.Item{Message: seen[0].Message, Entry: seen[0].Entry, Index: 99})
	p, err := NewPlan(s.Branch(), seen, 0, Limits{Keep: 250})
	if got, want := planned(p, err), "u1 a2 u3 a4 u1 a2 |  | u3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheSummaryAsItWasSeenReachesTheNext(t *testing.T) {
	s := built(t, "u:400 a:400 C u:400 a:400 u:400 a:400")
	limits := Limits{Keep: 200}
	for _, c := range []struct {
		name   string
		change func([]session.Item) []session.Item
		want   string
	}{
		{"as it is", func(l []session.Item) []session.Item { return l }, "C3."},
		{"with other words", func(l []session.Item) []session.Item {
			m := l[0].Message.Clone()
			m.Summary = "other"
			l[0].Message = m
			return l
		}, "other"},
		{"two of them", func(l []session.Item) []session.Item {
			return append(l, session.Item{Message: &message.Message{Role: message.RoleCompactionSummary, Summary: "more"}, Index: -1})
		}, "C3.\n\nmore"},
		{"taken out", func(l []session.Item) []session.Item { return l[1:] }, ""},
	} {
		p, err := NewPlan(s.Branch(), c.change(s.Context()), 0, limits)
		if err != nil || p.PreviousSummary != c.want {
			t.Errorf("%s: %v, %q", c.name, err, p.PreviousSummary)
		}
		if got, want := planned(p, err), "u4 a5 |  | u6"; got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
}
