package compaction

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"pi/session"
	"pi/session/message"
)

func TestEstimateIsFourCharactersAToken(t *testing.T) {
	text := func(r message.Role, s string) *message.Message {
		return &message.Message{Role: r, Content: []message.Block{message.TextBlock(s)}}
	}
	x := strings.Repeat
	for _, c := range []struct {
		name string
		m    *message.Message
		want int
	}{
		{"nothing", nil, 0},
		{"empty", text(message.RoleUser, ""), 0},
		{"one character", text(message.RoleUser, "a"), 1},
		{"four", text(message.RoleUser, "abcd"), 1},
		{"five", text(message.RoleUser, "abcde"), 2},
		{"characters, not bytes", text(message.RoleUser, "äöü€"), 1},
		{"an answer with a thought", &message.Message{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockThinking, Text: x("t", 40)}, message.TextBlock(x("a", 40))}}, 20},
		{"a call", &message.Message{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockToolCall, Name: "bash", Arguments: json.RawMessage(`{"a":1}_`)}}}, 3},
		{"an image", &message.Message{Role: message.RoleToolResult, Content: []message.Block{message.TextBlock(x("r", 8)), {Type: message.BlockImage, Data: x("A", 90000)}}}, 1202},
		{"a hook's message", text(message.RoleCustom, x("h", 400)), 100},
		{"a failed answer", &message.Message{Role: message.RoleAssistant, StopReason: message.StopError, Content: []message.Block{message.TextBlock(x("f", 400))}}, 0},
		{"an excluded command", &message.Message{Role: message.RoleBashExecution, ExcludeFromContext: true, Output: x("o", 400)}, 0},
		{"a system message", text(message.RoleSystem, "s"), 0},
	} {
		if got := EstimateTokens(c.m); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
	command := &message.Message{Role: message.RoleBashExecution, Command: x("c", 100), Output: x("o", 100)}
	if got := EstimateTokens(command); got < 50 || got > 70 {
		t.Errorf("a command: %d tokens", got)
	}
}

func TestCharactersAreRunes(t *testing.T) {
	same := func(s string) bool {
		return characters(s) == utf8.RuneCountInString(s) && characters(json.RawMessage(s)) == len([]rune(s))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

// measured makes items: "u40" a prompt of 40 characters, "a1800" an answer that
// counted so many tokens, "e" and "b" the same but failed and aborted, "C" a
// summary; "a1800@3" comes from the third entry.
func measured(words string) []session.Item {
	var items []session.Item
	for i, w := range strings.Fields(words) {
		word, at, placed := strings.Cut(w, "@")
		n, it := 0, session.Item{Message: &message.Message{}, Index: i}
		for _, c := range word[1:] {
			n = n*10 + int(c-'0')
		}
		if placed {
			it.Index = int(at[0] - '0')
		}
		m := it.Message
		switch word[0] {
		case 'u':
			m.Role, m.Content = message.RoleUser, []message.Block{message.TextBlock(strings.Repeat("x", n))}
		case 'C':
			m.Role, m.Summary = message.RoleCompactionSummary, ""
		default:
			m.Role, m.Usage, m.Content = message.RoleAssistant, &message.Usage{Input: n}, []message.Block{message.TextBlock("text")}
			m.StopReason = map[byte]message.StopReason{'a': message.StopEnd, 'e': message.StopError, 'b': message.StopAborted}[word[0]]
		}
		items = append(items, it)
	}
	return items
}

func TestContextIsWhatTheLastGoodAnswerCounted(t *testing.T) {
	for _, c := range []struct {
		name, items string
		tokens      int
		measured    bool
	}{
		{"nothing", "", 0, false},
		{"all is estimated", "u40 u40", 20, false},
		{"an answer counts all before it", "u40000 a1800", 1800, true},
		{"what follows it is estimated", "u40000 a1800 u400 u40", 1910, true},
		{"the last one counts", "u40 a1800 u40 a2500 u4", 2501, true},
		{"a failed answer does not", "u40 a190000 u400 e5", 190100, true},
		{"nor one that was aborted", "u40 a190000 u400 b5 u400", 190200, true},
		{"nor one that counted nothing", "u40 a1800 u40 a0", 1811, true},
		{"nor one from before the compaction", "C@5 u400@2 a90000@3 u400@6", 201, false},
		{"but one from after it", "C@5 u400@2 a90000@3 u400@6 a300@7 u40@8", 310, true},
	} {
		tokens, ok := contextTokens(measured(c.items))
		if tokens != c.tokens || ok != c.measured {
			t.Errorf("%s: %d tokens, measured %v; want %d, %v", c.name, tokens, ok, c.tokens, c.measured)
		}
	}
	all := &message.Message{Role: message.RoleAssistant, Usage: &message.Usage{Input: 1000, Output: 500, CacheRead: 200, CacheWrite: 100, TotalTokens: 1}}
	if n, _ := contextTokens([]session.Item{{Message: all, Index: 0}}); n != 1800 {
		t.Errorf("%d tokens of all four classes, want 1800", n)
	}
	total := &message.Message{Role: message.RoleAssistant, Usage: &message.Usage{TotalTokens: 700}}
	if n, _ := contextTokens([]session.Item{{Message: total, Index: 0}}); n != 700 {
		t.Errorf("%d tokens of a total alone, want 700", n)
	}
}

// contextTokens says at once how full a context is, for which [Gauge] needs a state: what its last good answer counted,
// and an estimate for what follows that. An answer from before the compaction
// that is in force says nothing about what is left. Where no answer counts, all
// is estimated, and measured is false.
func contextTokens(items []session.Item) (tokens int, measured bool) {
	at := lastMeasured(items)
	if at >= 0 {
		tokens = items[at].Message.Usage.ContextTokens()
	}
	for _, it := range items[at+1:] {
		tokens += EstimateTokens(it.Message)
	}
	return tokens, at >= 0
}

// FuzzGaugeMeasuresAsAtOnce lets a context grow and shrink as the bytes
// say and holds a Gauge that is asked now and then against a count from nothing.
func FuzzGaugeMeasuresAsAtOnce(f *testing.F) {
	for _, seed := range []string{"umvuvmv", "umcuvamv", "uavuavuav", "umvdvuv", "cuvcmvuv", "umuvCvumv", "v", "uvivmv"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 300 {
			return
		}
		var items []session.Item
		var g Gauge
		for i, op := range append(ops, 'v') {
			it := session.Item{Index: i, Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("some words")}}}
			switch op {
			case 'm', 'a': // an answer, counted or not
				it.Message.Role, it.Message.StopReason = message.RoleAssistant, message.StopEnd
				if op == 'm' {
					it.Message.Usage = &message.Usage{Input: 100 * i}
				}
			case 'c', 'C': // a summary, at the end or in front
				it.Message = &message.Message{Role: message.RoleCompactionSummary, Summary: "so far"}
				if op == 'C' {
					items = append([]session.Item{it}, items...)
					continue
				}
			case 'i': // a hook's
				it.Index = -1
			case 'd':
				items = append([]session.Item{}, items[:len(items)/2]...)
				continue
			case 'v':
				tokens, measured := contextTokens(items)
				if r := g.Read(items[:len(items):len(items)]); r.Counted+r.Rest != tokens || r.At >= 0 != measured {
					t.Fatalf("%s: %+v, want %d (measured: %t)", ops[:min(i+1, len(ops))], r, tokens, measured)
				}
				continue
			}
			items = append(items, it)
		}
	})
}
