package session

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

func TestEstimateIsFourCharactersAToken(t *testing.T) {
	text := func(r Role, s string) *Message { return &Message{Role: r, Content: []Block{TextBlock(s)}} }
	x := strings.Repeat
	for _, c := range []struct {
		name string
		m    *Message
		want int
	}{
		{"nothing", nil, 0},
		{"empty", text(RoleUser, ""), 0},
		{"one character", text(RoleUser, "a"), 1},
		{"four", text(RoleUser, "abcd"), 1},
		{"five", text(RoleUser, "abcde"), 2},
		{"characters, not bytes", text(RoleUser, "äöü€"), 1},
		{"an answer with a thought", &Message{Role: RoleAssistant, Content: []Block{{Type: BlockThinking, Text: x("t", 40)}, TextBlock(x("a", 40))}}, 20},
		{"a call", &Message{Role: RoleAssistant, Content: []Block{{Type: BlockToolCall, Name: "bash", Arguments: json.RawMessage(`{"a":1}_`)}}}, 3},
		{"an image", &Message{Role: RoleToolResult, Content: []Block{TextBlock(x("r", 8)), {Type: BlockImage, Data: x("A", 90000)}}}, 1202},
		{"a hook's message", text(RoleCustom, x("h", 400)), 100},
		{"a failed answer", &Message{Role: RoleAssistant, StopReason: StopError, Content: []Block{TextBlock(x("f", 400))}}, 0},
		{"an excluded command", &Message{Role: RoleBashExecution, ExcludeFromContext: true, Output: x("o", 400)}, 0},
		{"a system message", text(RoleSystem, "s"), 0},
	} {
		if got := EstimateTokens(c.m); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
	command := &Message{Role: RoleBashExecution, Command: x("c", 100), Output: x("o", 100)}
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
func measured(words string) []Item {
	var items []Item
	for i, w := range strings.Fields(words) {
		word, at, placed := strings.Cut(w, "@")
		n, it := 0, Item{Message: &Message{}, Index: i}
		for _, c := range word[1:] {
			n = n*10 + int(c-'0')
		}
		if placed {
			it.Index = int(at[0] - '0')
		}
		m := it.Message
		switch word[0] {
		case 'u':
			m.Role, m.Content = RoleUser, []Block{TextBlock(strings.Repeat("x", n))}
		case 'C':
			m.Role, m.Summary = RoleCompactionSummary, ""
		default:
			m.Role, m.Usage, m.Content = RoleAssistant, &Usage{Input: n}, []Block{TextBlock("text")}
			m.StopReason = map[byte]StopReason{'a': StopEnd, 'e': StopError, 'b': StopAborted}[word[0]]
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
		tokens, ok := ContextTokens(measured(c.items))
		if tokens != c.tokens || ok != c.measured {
			t.Errorf("%s: %d tokens, measured %v; want %d, %v", c.name, tokens, ok, c.tokens, c.measured)
		}
	}
	all := &Message{Role: RoleAssistant, Usage: &Usage{Input: 1000, Output: 500, CacheRead: 200, CacheWrite: 100, TotalTokens: 1}}
	if n, _ := ContextTokens([]Item{{Message: all, Index: 0}}); n != 1800 {
		t.Errorf("%d tokens of all four classes, want 1800", n)
	}
	total := &Message{Role: RoleAssistant, Usage: &Usage{TotalTokens: 700}}
	if n, _ := ContextTokens([]Item{{Message: total, Index: 0}}); n != 700 {
		t.Errorf("%d tokens of a total alone, want 700", n)
	}
}
