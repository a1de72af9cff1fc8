package compaction

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

var compactionRuns = flag.Int("compactions", 40, "how many random sessions are compacted again and again")

// tale tells a random session. Each message begins with a mark of its own.
type tale struct {
	t     *testing.T
	r     *rand.Rand
	s     *session.Session
	marks int
}

func (l *tale) text(chars int) []message.Block {
	l.marks++
	return []message.Block{message.TextBlock(fmt.Sprintf("<%d>%s", l.marks, strings.Repeat("x", l.r.IntN(chars+1))))}
}

func (l *tale) say(m *message.Message) {
	if _, err := l.s.AppendMessage(m); err != nil {
		l.t.Fatal(err)
	}
}

func (l *tale) note(typ string, body any) {
	if _, err := l.s.Append(typ, body); err != nil {
		l.t.Fatal(err)
	}
}

func (l *tale) one(in int) bool { return l.r.IntN(in) == 0 }

// turn is a prompt and what came of it.
func (l *tale) turn() {
	l.say(&message.Message{Role: message.RoleUser, Content: l.text(400)})
	if l.one(3) {
		l.note(session.TypeCustomMessage, session.CustomMessage{CustomType: "hook", Content: l.text(200)})
	}
	for l.r.IntN(3) > 0 {
		l.step()
	}
	stop := []message.StopReason{message.StopEnd, message.StopEnd, message.StopEnd, message.StopLength, message.StopError, message.StopAborted}[l.r.IntN(6)]
	l.say(&message.Message{Role: message.RoleAssistant, Content: l.text(800), StopReason: stop, Usage: &message.Usage{Input: l.r.IntN(3000)}})
	l.aside()
}

// step is an answer with calls and their results, now and then in disorder.
func (l *tale) step() {
	answer := &message.Message{Role: message.RoleAssistant, Content: l.text(300), StopReason: message.StopToolUse}
	var results []*message.Message
	for range 1 + l.r.IntN(3) {
		id := fmt.Sprintf("c%d.%d", l.marks, len(results))
		answer.Content = append(answer.Content, message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"f"}`)})
		chars := 600
		if l.one(6) {
			chars = 60000
		}
		m := &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", Content: l.text(chars)}
		if l.one(8) {
			m.Content = append(m.Content, message.Block{Type: message.BlockImage, Data: "AAAA", MimeType: "image/png"})
		}
		results = append(results, m)
	}
	l.say(answer)
	for _, m := range results {
		switch l.r.IntN(16) {
		case 0:
			l.say(&message.Message{Role: message.RoleUser, Content: l.text(100)})
		case 1:
			l.note(session.TypeCustomMessage, session.CustomMessage{CustomType: "hook", Content: l.text(100)})
		case 2:
			continue // the result was never written
		}
		l.say(m)
	}
}

// aside is what happens between turns.
func (l *tale) aside() {
	switch l.r.IntN(12) {
	case 0, 1:
		l.marks++
		l.say(&message.Message{Role: message.RoleBashExecution, Command: fmt.Sprintf("<%d>", l.marks), Output: "o", ExcludeFromContext: l.one(3)})
	case 2:
		l.note(session.TypeBranchSummary, session.BranchSummary{FromID: "root", Summary: l.text(200)[0].Text})
	case 3:
		l.note(session.TypeSessionInfo, session.SessionInfo{Name: "n"})
	case 4, 5:
		items := l.s.Context()
		it := items[l.r.IntN(len(items))]
		edit := session.ContextEdit{TargetID: it.Entry.ID}
		if l.one(2) {
			edit.Replacement = &session.Replacement{Content: []message.Block{message.TextBlock(mark(it.Message) + " edited")}}
		}
		l.note(session.TypeContextEdit, edit)
	}
}

func mark(m *message.Message) string {
	text := m.Text() + m.Summary + m.Command
	return text[:strings.IndexByte(text, '>')+1]
}

// hooked is what a hook makes of a list: by the entry it drops some, replaces
// some, adds some of its own before some, and moves some to the front. It does
// the same with the same entry each time.
func hooked(items []session.Item, mood uint32) []session.Item {
	var front, out []session.Item
	for _, it := range items {
		if it.Message.Role == message.RoleCompactionSummary || mood == 0 {
			out = append(out, it)
			continue
		}
		h := fnv.New32a()
		fmt.Fprint(h, mood, mark(it.Message))
		switch n := h.Sum32() % 24; {
		case n == 0:
			continue
		case n == 1 && len(it.Message.Content) > 0:
			m := it.Message.Clone()
			m.Content = append(m.Content, message.TextBlock(" replaced"))
			it.Message = m
		case n == 2:
			made := "<m" + mark(it.Message)[1:]
			out = append(out, session.Item{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(made)}}, Index: -1})
		case n == 3 && mood%2 == 0:
			front = append(front, it)
			continue
		}
		out = append(out, it)
	}
	return append(front, out...)
}

// compacted again and again, a session loses nothing.
func TestCompactionsLoseNothing(t *testing.T) {
	for seed := range uint64(*compactionRuns) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			l := &tale{t: t, r: r, s: session.New(session.Options{})}
			mood := uint32(seed % 5)
			for round := range 6 {
				for range 1 + r.IntN(8) {
					l.turn()
				}
				if l.one(2) {
					l.say(&message.Message{Role: message.RoleUser, Content: l.text(400)})
					if l.one(2) {
						l.step()
					}
				}
				l.compact(fmt.Sprintf("S%d", round), mood)
				if t.Failed() {
					t.Fatalf("seed %d, round %d", seed, round)
				}
			}
		})
	}
}

// compact plans one compaction, carries it out and checks what became of it.
func (l *tale) compact(summary string, mood uint32) {
	t := l.t
	before := hooked(l.s.Context(), mood)
	keep := 50 + l.r.IntN(4000)
	limits := Limits{Keep: keep, Room: keep + l.r.IntN(2000), All: l.one(2)}
	tokens, _ := contextTokens(before)
	branch := l.s.Branch()
	p, err := NewPlan(branch, before, tokens, limits)
	if err != nil {
		if !errors.Is(err, ErrNothingToCompact) && !errors.Is(err, ErrJustCompacted) {
			t.Fatal(err)
		}
		return
	}
	if want := previousSummary(l.s.Context()); p.PreviousSummary != want {
		t.Errorf("previous summary %q, want %q", p.PreviousSummary, want)
	}
	for _, e := range p.Shorten {
		l.note(session.TypeContextEdit, e)
	}
	c := session.Compaction{Summary: summary, FirstKeptEntryID: "none", TokensBefore: tokens, Details: p.Files.Details()}
	if p.FirstKept != nil {
		c.FirstKeptEntryID = p.FirstKept.ID
	}
	l.note(session.TypeCompaction, c)
	after := hooked(l.s.Context(), mood)
	l.nothingLost(p, before, after)
	l.together(before, after)
	l.fits(p, limits, after, mood)
	if _, err := NewPlan(l.s.Branch(), after, tokens, limits); !errors.Is(err, ErrJustCompacted) {
		t.Errorf("a second plan at once: %v", err)
	}
}

// nothingLost: what the model saw before, it sees after, or it was summarised;
// not both. Messages are found by their marks.
func (l *tale) nothingLost(p *Plan, before, after []session.Item) {
	l.t.Helper()
	input := Transcript(p.Summarize) + Transcript(p.TurnPrefix)
	sees := marksOf(after)
	for _, it := range sentOf(before) {
		m := mark(it.Message)
		summarised := strings.Contains(input, m)
		if it.Entry == nil {
			continue // the hook made it, and may make it again
		}
		if summarised == sees[m] {
			l.t.Errorf("%s of entry %d (first kept %d): summarised %v and in the context %v", m, it.Index, p.FirstKeptIndex, summarised, sees[m])
		}
	}
	l.synthetic(p, before, input)
}

// synthetic: what a hook made is summarised if it stands before what is kept.
func (l *tale) synthetic(p *Plan, before []session.Item, input string) {
	kept := false
	for _, it := range sentOf(before) {
		kept = kept || it.Index >= p.FirstKeptIndex
		if it.Entry == nil && kept == strings.Contains(input, mark(it.Message)) {
			l.t.Errorf("%s made by a hook: kept before it %v", mark(it.Message), kept)
		}
	}
}

// sentOf leaves out what no request has: failed answers, results without a call,
// and the summary.
func sentOf(items []session.Item) []session.Item {
	items = withoutSummary(items)
	answers := answersOf(items)
	var sent []session.Item
	for i, it := range items {
		if EstimateTokens(it.Message) > 0 && (it.Message.Role != message.RoleToolResult || answers[i] >= 0) {
			sent = append(sent, it)
		}
	}
	return sent
}

func marksOf(items []session.Item) map[string]bool {
	marks := map[string]bool{}
	for _, it := range sentOf(items) {
		marks[mark(it.Message)] = true
	}
	return marks
}

// together: a call that had its result has it still, or is gone with it.
func (l *tale) together(before, after []session.Item) {
	had := paired(before)
	for id, result := range paired(after) {
		if was, ok := had[id]; ok && was != "interrupted" && result == "interrupted" {
			l.t.Errorf("call %s has lost its result", id)
		}
	}
}

func paired(items []session.Item) map[string]string {
	results := map[string]string{}
	for _, m := range session.ForModel(items) {
		if m.Role == message.RoleToolResult {
			results[m.ToolCallID] = m.Text()
		}
	}
	return results
}

// fits: what is kept has room, unless nothing is left to cut or to shorten. How
// much it is, was known before; what hooks add to it was not.
func (l *tale) fits(p *Plan, limits Limits, after []session.Item, mood uint32) {
	kept, shrinks := 0, false
	for _, it := range sentOf(after) {
		if it.Entry == nil || it.Message.Role == message.RoleToolResult && strings.HasSuffix(it.Message.Text(), " replaced") {
			continue
		}
		kept += EstimateTokens(it.Message)
		shrinks = shrinks || it.Message.Role == message.RoleToolResult && tokensOf(characters(it.Message.Text())) > shortest+30
	}
	if kept != p.KeptTokens && mood == 0 {
		l.t.Errorf("%d tokens are kept, %d were planned", kept, p.KeptTokens)
	}
	reorders := mood%2 == 0 && mood > 0 // by which results get or lose their call
	if kept > limits.Room && shrinks && !reorders {
		l.t.Errorf("%d tokens are kept, there is room for %d", kept, limits.Room)
	}
}
