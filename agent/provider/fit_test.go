package provider

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/agent/llm"
	"pi/session/message"
)

func TestCallIDsFitTheRuleAndStayApart(t *testing.T) {
	long := strings.Repeat("x", 450)
	ids := []string{"call_1", "call_1", "a.b", "a:b", "", "", "gSIMJiOkT", long + "1", long + "2", "call_x|fc_y", "日本", "\x00", "call_1_2", "call_1"}
	for name, c := range idRules() {
		calls, again, seen := NewCallIDs(c.rule), NewCallIDs(c.rule), map[string]bool{}
		for _, id := range ids {
			got := calls.Call(id)
			if !c.form.MatchString(got) || seen[got] {
				t.Errorf("%s: %.20q became %q", name, id, got)
			}
			seen[got] = true
			if calls.Result(id) != got || again.Call(id) != got {
				t.Errorf("%s: the result of %.20q, or a second run, has another id", name, id)
			}
		}
	}
}

func TestResultsOfCallsWithOneIDAreThoseOfTheCallsInOrder(t *testing.T) {
	c := NewCallIDs(WordIDs(64))
	first, second := c.Call("c"), c.Call("c")
	if a, b, again := c.Result("c"), c.Result("c"), c.Result("c"); a != first || b != second || again != second {
		t.Errorf("calls %q and %q have results %q, %q, and one more %q", first, second, a, b, again)
	}
	if third := c.Call("c"); c.Result("c") != third {
		t.Error("the result of a later call is that of an earlier one")
	}
	if got := c.Result("unknown"); got != "unknown" {
		t.Errorf("a result without a call is of %q", got)
	}
}

func TestSchemaNamesTypeAndProperties(t *testing.T) {
	for in, want := range map[string]string{
		``:                                  `{"type":"object","properties":{}}`,
		`null`:                              `{"type":"object","properties":{}}`,
		`{}`:                                `{"type":"object","properties":{}}`,
		` {"type":"object"}`:                `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{}}}`:           `{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{}}`: `{"type":"object","properties":{}}`,
	} {
		if got := string(Schema(json.RawMessage(in))); got != want {
			t.Errorf("%s: %s; want %s", in, got, want)
		}
	}
}

func TestAnswerLimitLeavesRoomForThePrompt(t *testing.T) {
	long := []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock(strings.Repeat("x", 300_000))}}}
	counted := append(long[:1:1], &message.Message{Role: message.RoleAssistant, Usage: &message.Usage{TotalTokens: 60_000}})
	byAnother := append(long[:1:1], &message.Message{Role: message.RoleAssistant, Model: "other", Usage: &message.Usage{TotalTokens: 60_000}})
	compacted := []*message.Message{{Role: message.RoleAssistant, Usage: &message.Usage{TotalTokens: 120_000}, Content: []message.Block{message.TextBlock(strings.Repeat("x", 300))}}}
	cases := []struct {
		name               string
		asked, own, window int
		messages           []*message.Message
		want               int
	}{
		{"unknown", 0, 0, 100_000, nil, 0},
		{"own", 0, 8000, 0, nil, 8000},
		{"asked", 1000, 8000, 0, nil, 1000},
		{"asked for more than there is", 9000, 8000, 0, nil, 8000},
		{"asked, own unknown", 1000, 0, 0, nil, 1000},
		{"estimated", 0, 64_000, 128_000, long, 128_000 - 100_004 - 15_000},
		{"counted", 0, 100_000, 128_000, counted, 128_000 - 60_000 - smallestMargin},
		{"counted by another model", 0, 64_000, 128_000, byAnother, 128_000 - 100_008 - 15_001},
		{"counted, and near the end of the window", 0, 128_000, 70_000, counted, 70_000 - 60_000 - smallestMargin},
		{"counted, with a long result behind it", 0, 128_000, 200_000, append(counted[:2:2], long...), 200_000 - 160_004 - 15_000},
		{"counted before a compaction", 0, 64_000, 128_000, compacted, 64_000},
		{"behind a short prompt", 0, 64_000, 20_000, compacted, 20_000 - 104 - 4096},
		{"full", 0, 64_000, 50_000, long, smallestAnswer},
	}
	for _, c := range cases {
		r := &llm.Request{Model: &llm.Model{MaxTokens: c.own, ContextWindow: c.window}, MaxTokens: c.asked, Messages: c.messages}
		if got := AnswerLimit(r); got != c.want {
			t.Errorf("%s: %d; want %d", c.name, got, c.want)
		}
	}
}

func TestThoughtsComeOnTopOfAnAnswer(t *testing.T) {
	for _, c := range []struct{ asked, own, thoughts, want int }{
		{1000, 8000, 2000, 3000}, {1000, 8000, -1, 1000}, {7000, 8000, 2000, 8000}, {0, 8000, 2000, 8000}, {1000, 0, 2000, 3000}, {0, 0, 2000, 0},
	} {
		if got := LimitWithThoughts(&llm.Request{Model: &llm.Model{MaxTokens: c.own}, MaxTokens: c.asked}, c.thoughts); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestHalvesOfSurrogatePairsAreReplaced(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`:  `"\ud83d\ude00"`,
		`"\ud83d\u0041"`:  `"\ufffd\u0041"`,
		`"\ud83dA\ude00"`: `"\ufffdA\ufffd"`,
		`"\ude00\ud83d"`:  `"\ufffd\ufffd"`,
		`"\\ud83d"`:       `"\\ud83d"`,
		`"\uD83D\uDE00é"`: `"\uD83D\uDE00é"`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("%s became %s; want %s", in, got, want)
		}
	}
}

func FuzzCleanJSON(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `"\\ud83d"`, `"\udc00\ud800"`, "\"\xff\"", `"\u12`, `\`, `"\ud83d\u0041"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := CleanJSON([]byte(in))
		if !utf8.Valid(out) {
			t.Errorf("%q is not UTF-8", out)
		}
		if string(CleanJSON(out)) != string(out) {
			t.Errorf("%q changes again", out)
		}
		var before, after any
		if json.Unmarshal([]byte(in), &before) != nil {
			return
		}
		// Decoding replaces the same things.
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		x, _ := json.Marshal(before)
		y, _ := json.Marshal(after)
		if collapse(x) != collapse(y) {
			t.Errorf("%q became %q", in, out)
		}
	})
}

// collapse takes a row of replacements for one: how many bytes one stands for is
// a matter of taste.
func collapse(b []byte) string {
	return regexp.MustCompile(`(\x{fffd}|\\ufffd)+`).ReplaceAllString(string(b), "?")
}
