package llm

import (
	"strings"
	"testing"
)

func TestScopeIsWhatThePatternsMean(t *testing.T) {
	m := newShelf(manyModels)
	for _, c := range []struct{ patterns, want, problems string }{
		{"openai/gpt-5:low", "openai/gpt-5:low", ""},
		{"openai/gpt-5* *flash*:high", "openai/gpt-5 openai/gpt-5-mini gemini/gemini-2.5-flash-lite:high", ""},
		{"router/*coder*", "router/qwen/qwen3-coder:free router/qwen/qwen3-coder", ""}, // a slash is a character
		{"google/*lite openai/gpt-5-min?", "gemini/gemini-2.5-flash-lite openai/gpt-5-mini", ""},
		{"*CODER:free:low", "router/qwen/qwen3-coder:free:low", ""},
		{"o3:h*", "openai/o3:high", ""},
		{"openai/gpt-5 gpt-5-mini openai/gpt-5 openai/gpt-5:low", "openai/gpt-5 openai/gpt-5-mini openai/gpt-5:low", ""},
		{"claude-opus* nothing/at-all openai/gpt-5", "openai/gpt-5", `"claude-opus*" fits no model that can be used|no such model: "nothing/at-all"`},
		{"anthropic/claude-opus-4", "", "no key for anthropic yet"},
		{"[ openai/gpt-5", "openai/gpt-5", `"[" is no pattern`},
		{"gpt-5-mini:loud", "", "no thinking level"},
		{"mini", "", "may be any of"},
	} {
		choices, problems := m.Scope(strings.Fields(c.patterns))
		var got []string
		for _, choice := range choices {
			got = append(got, strings.TrimSuffix(choice.Model.Ref()+":"+choice.Level, ":"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.patterns, got, c.want)
		}
		wanted := strings.FieldsFunc(c.problems, func(r rune) bool { return r == '|' })
		if len(problems) != len(wanted) {
			t.Errorf("%s: problems %v, want %q", c.patterns, problems, wanted)
			continue
		}
		for i, want := range wanted {
			if !strings.Contains(problems[i].Error(), want) {
				t.Errorf("%s: problem %v, want %q", c.patterns, problems[i], want)
			}
		}
	}
}

func TestNoPatternsMeanWhatCanBeUsedAndDoesNotStandAside(t *testing.T) {
	m := newShelf("a key x y\n b z\n c key w")
	m.Register(ProviderSpec{Name: "aside", ByNameOnly: true, Models: Listed(&Model{Provider: "aside", ID: "v"})})
	choices, problems := m.Scope(nil)
	var got []string
	for _, c := range choices {
		got = append(got, c.Model.Ref()+c.Level)
	}
	if strings.Join(got, " ") != "a/x a/y c/w" || len(problems) != 0 {
		t.Errorf("%q %v", got, problems)
	}
}
