package compaction

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/session"
	"pi/session/message"
)

// shortenedTo is what a plan makes of the results, by their names, in tokens.
func shortenedTo(s *session.Session, p *Plan) map[string]int {
	sizes := map[string]int{}
	for _, e := range p.Shorten {
		m := s.Entry(e.TargetID).Message()
		sizes[names([]session.Item{{Message: m}})] = tokensOf(characters(e.Replacement.Content[0].Text))
	}
	return sizes
}

func TestResultsThatAreTooLargeAreShortened(t *testing.T) {
	for _, c := range []struct {
		name, words string
		room        int
		shortened   string // names
		over        bool   // and still there is more than has room
	}{
		{"one", "u:40 c r:40000", 1000, "r3", false},
		{"only the larger one", "u:40 c2 r:40000 r:400", 1000, "r3", false},
		{"the largest first, to the same length", "u:40 c3 r:8000 r:400 r:40000", 1000, "r3 r5", false},
		{"there is room", "u:40 c2 r:4000 r:4000", 2100, "", false},
		{"no limit", "u:40 c2 r:40000 r:40000", 0, "", false},
		{"down to a beginning and an end", "u:40 c2 r:4000 r:4000", 10, "r3 r4", true},
		{"short ones stay", "u:40 c4 r:300 r:300 r:300 r:300", 10, "", true},
		{"nobody shortens what a person or a model says", "u:40 c:40000 r:40 u:40000", 1000, "", true},
		{"an earlier turn is summarised instead", "u:40 c r:8000 a:40 u:40 c r:8000", 2100, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := built(t, c.words)
			p, err := NewPlan(s.Branch(), s.Context(), 100000, Limits{Keep: 10, Room: c.room})
			if err != nil {
				t.Fatal(err)
			}
			sizes := shortenedTo(s, p)
			if got := len(sizes); got != len(strings.Fields(c.shortened)) {
				t.Errorf("shortened %v, want %s", sizes, c.shortened)
			}
			for _, name := range strings.Fields(c.shortened) {
				if sizes[name] == 0 || sizes[name] > max(c.room, shortest+10) {
					t.Errorf("%s has %d tokens", name, sizes[name])
				}
			}
			if over := c.room > 0 && p.KeptTokens > c.room; over != c.over {
				t.Errorf("%d tokens are kept", p.KeptTokens)
			}
			if !c.over && c.shortened != "" && p.KeptTokens < c.room*9/10 {
				t.Errorf("%d tokens are kept where %d have room", p.KeptTokens, c.room)
			}
		})
	}
}

func TestShorteningIsAllThatIsLeftToDo(t *testing.T) {
	s := built(t, "u:400 a:400 C c r:40000")
	p, err := NewPlan(s.Branch(), s.Context(), 11000, Limits{Keep: 1000, Room: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Summarize)+len(p.TurnPrefix) > 0 || len(p.Shorten) != 1 || p.PreviousSummary != "C3." {
		t.Errorf("%s, %d shortened", planned(p, err), len(p.Shorten))
	}
	s = built(t, "u:400 a:400 C c r:400")
	if p, err := NewPlan(s.Branch(), s.Context(), 11000, Limits{Keep: 1000, Room: 2000}); err == nil {
		t.Errorf("nothing is too large, and yet %s", planned(p, err))
	}
}

func TestShortenedResultHasBeginningEndAndNote(t *testing.T) {
	long := "begin " + strings.Repeat("€", 20000) + " end"
	image := message.Block{Type: message.BlockImage, Data: "AAAA", MimeType: "image/png"}
	got := shortened(&message.Message{Role: message.RoleToolResult, Content: []message.Block{message.TextBlock(long[:100]), image, message.TextBlock(long[100:])}}, 1000)
	if len(got) != 2 || got[1].Type != message.BlockImage {
		t.Fatalf("%d blocks", len(got))
	}
	text := got[0].Text
	if !strings.HasPrefix(text, "begin €") || !strings.HasSuffix(text, "€ end") || !utf8.ValidString(text) {
		t.Errorf("%q", text)
	}
	total, kept := 20010, 900
	if note := fmt.Sprintf("[… %d of %d characters left out to make room in the context …]", total-kept, total); !strings.Contains(text, note) {
		t.Errorf("no %q in %q", note, text)
	}
	if n := characters(text); n > 1000 {
		t.Errorf("%d characters", n)
	}
}

func TestWhatAHookMadeSmallIsNotShortened(t *testing.T) {
	s := built(t, "u:40 c2 r:40000 r:4000")
	seen := s.Context()
	m := seen[2].Message.Clone()
	m.Content = []message.Block{message.TextBlock("r3. pruned")}
	seen[2].Message = m
	p, err := NewPlan(s.Branch(), seen, 100000, Limits{Keep: 100000, Room: 500})
	if err != nil {
		t.Fatal(err)
	}
	if sizes := shortenedTo(s, p); len(sizes) != 1 || sizes["r4"] == 0 {
		t.Errorf("shortened %v", sizes)
	}
}

func TestAnEditedResultIsShortenedAsItIsNow(t *testing.T) {
	s := built(t, "u:40 c2 r:40000 r:4000")
	edit := session.ContextEdit{TargetID: s.Branch()[2].ID, Replacement: &session.Replacement{Content: []message.Block{message.TextBlock(strings.Repeat("e", 8000))}}}
	if _, err := s.Append(session.TypeContextEdit, edit); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(s.Branch(), s.Context(), 100000, Limits{Keep: 100000, Room: 1500})
	if err != nil {
		t.Fatal(err)
	}
	text := p.Shorten[0].Replacement.Content[0].Text
	if len(p.Shorten) != 2 || !strings.HasPrefix(text, "eee") || !strings.Contains(text, "of 8000 characters") {
		t.Errorf("%d shortened: %.80q", len(p.Shorten), text)
	}
}
