package catalogue

import (
	"iter"
	"path"
	"strings"
)

// Family is what is known of models by their ids, wherever they are served: the
// table families. It holds for the models of the catalogue, for ids that no list has,
// and for those that the settings or a server name. What their servers want to be
// asked with is in [Switches].
type Family struct {
	Thinks bool     // some way or other
	Always bool     // it cannot be kept from thinking
	Levels []string // thinking levels that it offers, lowest first; nil: not known
	Answer int      // tokens of the longest answer; 0: not known
	Window int      // tokens, where its maker serves it; 0: not known
	Images bool     // its maker's servers take them; false: not known
	Above  step     // from which length of a prompt on its maker charges more

	known         bool // there is a row for it
	thinkingKnown bool
}

// step is a price by the length of the prompt: with more tokens than these the whole
// request costs so many times as much.
type step struct {
	tokens        int // 0: there is none
	input, output float64
}

// FamilyOf returns what is known of a model by its id, in any form that services write
// it; the zero value if nothing is.
func FamilyOf(id string) Family {
	var f Family
	name := familyName(id)
	for i := range families {
		if row := &families[i]; anyGlob(row.ids, name) {
			f.add(row)
		}
	}
	return f
}

// add puts what a row says over what the rows above it said.
func (f *Family) add(row *familyRow) {
	f.known, f.thinkingKnown = true, f.thinkingKnown || row.levels != ""
	switch row.levels {
	case "":
	case "-", "?", "!":
		f.Thinks, f.Always, f.Levels = row.levels != "-", row.levels == "!", nil
	default:
		f.Levels = strings.Fields(row.levels)
		f.Thinks, f.Always = true, f.Levels[0] != "off"
	}
	if row.answer > 0 {
		f.Answer = row.answer
	}
	if row.window > 0 {
		f.Window = row.window
	}
	f.Images = f.Images || row.images
	if row.above.tokens > 0 {
		f.Above = row.above
	}
}

// Switch is a value of a switch of a wire API, for the servers that it holds for. The switches
// are described at the packages of the APIs.
type Switch struct {
	APIs    string // names of wire APIs, set apart by blanks; "": all
	Servers string // names of kinds of servers, as package provider has them; "": all
	Name    string
	Value   any // bool or string
}

// Switches yields the switches that families have for a model, later ones win.
func Switches(id string) iter.Seq[*Switch] {
	return func(yield func(*Switch) bool) {
		name := familyName(id)
		var family Family
		for i := range families {
			row := &families[i]
			if !anyGlob(row.ids, name) {
				continue
			}
			family.add(row)
			for j := range row.switches {
				if !yield(&row.switches[j]) {
					return
				}
			}
		}
		if family.Always {
			yield(&Switch{APIs: chatAPI, Name: "always_thinks", Value: true})
		}
	}
}

// AllSwitches yields the switches of all families.
func AllSwitches(yield func(*Switch) bool) {
	for i := range families {
		for j := range families[i].switches {
			if !yield(&families[i].switches[j]) {
				return
			}
		}
	}
}

// familyName is the name of a model as the patterns of the table are written: in lower
// case, without the maker before it, the variant, the date or the word for the newest behind
// it, and with a hyphen for each sign between its parts. "accounts/fireworks/models/glm-5p3"
// is glm-5-3, "us.anthropic.claude-opus-5-5-20260901-v1:0" is claude-opus-5-5.
func familyName(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	if colon := strings.IndexByte(id, ':'); colon > 0 {
		id = strings.TrimSuffix(id[:colon], "-v1")
	}
	b := []byte(id)
	for i := range b {
		between := i > 0 && i+1 < len(b) && isDigit(b[i-1]) && isDigit(b[i+1])
		if b[i] == '.' || b[i] == '@' || b[i] == '_' || b[i] == 'p' && between {
			b[i] = '-'
		}
	}
	name := string(b)
	for _, maker := range []string{"-claude-", "-gemini-"} { // behind whatever a service puts there
		if at := strings.LastIndex(name, maker); at >= 0 {
			name = name[at+1:]
		}
	}
	for prefix := range strings.FieldsSeq("us eu apac jp au global anthropic openai moonshotai z-ai zai deepseek-ai") {
		name = strings.TrimPrefix(name, prefix+"-")
	}
	return undated(name)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// anyGlob reports whether one of the globs, set apart by blanks, matches a name.
func anyGlob(globs, name string) bool {
	for glob := range strings.FieldsSeq(globs) {
		if ok, err := path.Match(glob, name); ok && err == nil {
			return true
		}
	}
	return false
}

// familyRow is a row of families. What is empty is as the rows above it have it.
type familyRow struct {
	ids    string // globs of names, see familyName
	levels string // thinking levels; where they are not known "?" if it thinks, "!" if it always does; "-" if it never does
	answer int
	window int
	images bool
	above  step

	switches []Switch
}

const (
	claudeLevels = "off low medium high xhigh max"
	alwaysClaude = "low medium high xhigh max"
	budgetLevels = "off minimal low medium high xhigh"
	threeLevels  = "low medium high"

	bothOpenAI = chatAPI + " " + responsesAPI // the APIs of OpenAI
)

// families has one row for each family that is known, from the general to the particular:
// of the rows that fit a name, the last that says something counts. It is never written to.
var families = []familyRow{
	// Claude. Up to 4.5 thinking has a budget, which has five sizes; then an effort. The
	// largest ones, and Opus from 5.5 on, always think. From 5.1 on a thought is bound to what
	// stands before it.
	{ids: "claude claude-*", switches: []Switch{
		{chatAPI, "openrouter vercel", "cache_control", true},
		{claudeAPI, "", "long_cache", "1h"}, // its makers say so of all places that serve it
	}},
	{ids: "claude-[a-z]*[a-z]-[4-9]*", levels: budgetLevels, answer: 64000, window: 200000},
	{ids: "claude-2* claude-3-*", levels: "-", answer: 8192, window: 200000},
	{ids: "claude-3-opus* claude-3-sonnet* claude-3-haiku*", answer: 4096},
	{ids: "claude-3-7*", levels: budgetLevels, answer: 64000, window: 200000},
	{ids: "claude-opus-4 claude-opus-4-0 claude-opus-4-1", answer: 32000},
	{ids: "claude-[a-z]*[a-z]-4-6*", levels: "off low medium high max", answer: 128000, window: 1000000, switches: []Switch{
		{claudeAPI, "", "adaptive_thinking", true},
		{claudeAPI, "", "reasoning_efforts", "xhigh=max"},
	}},
	{ids: "claude-[a-z]*[a-z]-4-[789]* claude-[a-z]*[a-z]-4-1[0-9]* claude-[a-z]*[a-z]-[5-9]* claude-[a-z]*[a-z]-[1-9][0-9] claude-[a-z]*[a-z]-[1-9][0-9]-*", levels: claudeLevels, answer: 128000, window: 1000000, switches: []Switch{
		{claudeAPI, "", "adaptive_thinking", true},
		{claudeAPI, "", "thinking_display", "summarized"}, // else their thoughts come empty
	}},
	{ids: "claude-fable-* claude-mythos-* claude-opus-5-[5-9]* claude-opus-[6-9]*", levels: alwaysClaude, switches: []Switch{{claudeAPI, "", "thinking_off", "low"}}},
	{ids: "claude-sonnet-5-[5-9]* claude-sonnet-[6-9]*", switches: []Switch{{claudeAPI, "", "thinking_off", "between_tools"}}},
	{ids: "claude-[a-z]*[a-z]-5-[1-9]* claude-[a-z]*[a-z]-[6-9]* claude-[a-z]*[a-z]-[1-9][0-9] claude-[a-z]*[a-z]-[1-9][0-9]-*", switches: []Switch{
		{claudeAPI, "", "block_binding", "drop_block"},
		{claudeAPI, "openrouter", "block_binding", ""}, // it does not hold the rule
	}},
	{ids: "claude-haiku-5-5*", above: step{100000, 5, 5}},

	// GPT and its relatives.
	{ids: "gpt-3-* gpt-4 gpt-4-* gpt-4o gpt-4o-*", levels: "-"},
	{ids: "gpt-3-5-turbo*", answer: 4096, window: 16385},
	{ids: "gpt-4-turbo*", answer: 4096, window: 128000},
	{ids: "gpt-4o gpt-4o-mini", answer: 16384, window: 128000},
	{ids: "gpt-4-1 gpt-4-1-mini gpt-4-1-nano", answer: 32768, window: 1047576},
	{ids: "o1 o1-pro o3 o3-mini o3-pro o4-mini", levels: threeLevels, answer: 100000, window: 200000},
	{ids: "o1-mini* o1-preview*", switches: []Switch{{chatAPI, "openai azure", "developer_role", false}}},
	{ids: "gpt-oss* o1-* o3-* o4-* codex-mini*", levels: threeLevels},
	{ids: "*gpt-oss*", switches: []Switch{
		{chatAPI, "together vllm", "thinking_format", "reasoning_effort"},
		{bothOpenAI, "ollama", "reasoning_efforts", "minimal=low low=low medium=medium high=high xhigh=high max=high"},
	}},
	{ids: "gpt-5 gpt-5-*", levels: "!", answer: 128000, window: 400000, switches: []Switch{
		{bothOpenAI, "openai azure", "reasoning_efforts", "minimal=minimal"},
	}},
	{ids: "gpt-5 gpt-5-mini gpt-5-nano", levels: "minimal low medium high"},
	{ids: "gpt-5-chat*", levels: "-", answer: 16384, window: 128000},
	{ids: "gpt-5-[1-9]*", switches: []Switch{
		{bothOpenAI, "openai azure", "reasoning_efforts", "off=none minimal=low xhigh=xhigh max=xhigh"},
	}},
	{ids: "gpt-5-pro", levels: "high"},
	{ids: "gpt-5-codex gpt-5-1-codex gpt-5-1-codex-mini", levels: threeLevels},
	{ids: "gpt-5-1", levels: "off low medium high"},
	{ids: "gpt-5-1-codex-max gpt-5-[23]-codex gpt-5-3-codex-spark", levels: "low medium high xhigh"},
	{ids: "gpt-5-[2-9]-pro", levels: "medium high xhigh"},
	{ids: "gpt-5-[245] gpt-5-4-mini gpt-5-4-nano", levels: "off low medium high xhigh"},
	{ids: "gpt-5-[6-9] gpt-5-[6-9]-*", levels: claudeLevels, switches: []Switch{
		{bothOpenAI, "openai azure", "reasoning_efforts", "max=max"},
		{bothOpenAI, "openai", "long_cache", "30m"},
	}},
	{ids: "gpt-5-6-cyber gpt-[6-9] gpt-[6-9]-*", levels: alwaysClaude, answer: 128000, switches: []Switch{
		{bothOpenAI, "openai azure", "reasoning_efforts", "off=low minimal=low xhigh=xhigh max=max"},
		{bothOpenAI, "openai", "long_cache", "30m"},
	}},
	{ids: "gpt-6-sol gpt-6-luna gpt-6-[1-9]-terra gpt-6-[1-9]-luna", levels: claudeLevels, switches: []Switch{
		{bothOpenAI, "openai azure", "reasoning_efforts", "off=none"},
	}},
	{ids: "gpt-*codex* gpt-*-pro", switches: []Switch{{bothOpenAI, "openai azure", "reasoning_efforts", "off= minimal=low"}}},
	{ids: "gpt-5-[1-9]-chat*", levels: "-", answer: 16384, window: 128000},
	{ids: "gpt-5-[45] gpt-5-[45]-pro gpt-5-[6-9] gpt-5-[6-9]-* gpt-[6-9] gpt-[6-9]-*", window: 1050000, above: step{272000, 2, 1.5}},

	// Gemini: up to 2.5 a budget, then a level. Pro, and what came after 3.6, does not go
	// below low. From 3 on calls are signed.
	{ids: "gemini-1-* gemini-2-0*", levels: "-", answer: 8192, window: 1048576},
	{ids: "gemini-1-* gemini-2-0* gemma*", switches: []Switch{{geminiAPI, "", "thinking_format", "none"}}},
	{ids: "gemini-2-5-*", answer: 65536, window: 1048576},
	{ids: "gemini-2-5-flash*", levels: "off minimal low medium high"},
	{ids: "gemini-2-5-flash-image*", levels: "-"},
	{ids: "gemini-2-5-pro*", levels: "minimal low medium high", above: step{200000, 2, 1.5}},
	{ids: "gemini-*pro*", switches: []Switch{{geminiAPI, "", "thinking_budgets", "off=128 xhigh=24576 max=32768"}}},
	{ids: "gemini-[3-9]* gemini-pro gemini-flash gemini-flash-lite", levels: threeLevels, answer: 65536, window: 1048576, switches: []Switch{
		{geminiAPI, "", "placeholder_signature", true},
		{geminiAPI, "", "tool_images", "response"},
		{geminiAPI, "", "thinking_format", "level"},
		{geminiAPI, "", "thinking_levels", "off=LOW minimal=LOW"},
	}},
	{ids: "gemini-3-flash* gemini-3-[156]-flash*", levels: "minimal low medium high", switches: []Switch{
		{geminiAPI, "", "thinking_levels", "off=MINIMAL minimal=MINIMAL"},
	}},
	{ids: "gemini-3-pro*", levels: "low high", switches: []Switch{{geminiAPI, "", "thinking_levels", "medium=HIGH"}}},
	{ids: "gemini-3-pro* gemini-3-1-pro*", above: step{200000, 2, 1.5}},

	// Grok. Most think as they like, and refuse to be told how much.
	{ids: "grok-[34]* grok-code* grok-build*", levels: "!"},
	{ids: "grok-*mini* grok-4-3* grok-4-[5-9]* grok-[5-9]*", switches: []Switch{
		{chatAPI, "xai", "thinking_format", "reasoning_effort"},
		{responsesAPI, "xai", "reasoning_efforts", "minimal=low low=low medium=medium high=high xhigh=high max=high"},
	}},
	{ids: "grok-*mini*", switches: []Switch{{bothOpenAI, "xai", "reasoning_efforts", "medium=high"}}},
	{ids: "grok-4-3*", levels: "off low medium high", window: 1000000, switches: []Switch{{bothOpenAI, "xai", "reasoning_efforts", "off=none"}}},
	{ids: "grok-4-[5-9]* grok-[5-9]*", levels: threeLevels, window: 500000, switches: []Switch{{bothOpenAI, "xai", "reasoning_efforts", "off=low"}}},
	{ids: "grok-4-[7-9]* grok-[5-9]*", levels: "low medium high xhigh", switches: []Switch{{bothOpenAI, "xai", "reasoning_efforts", "xhigh=xhigh max=xhigh"}}},
	{ids: "grok-4-[2-9]* grok-[5-9]*", above: step{200000, 2, 2}},

	{ids: "*deepseek*", switches: []Switch{
		{chatAPI, "fireworks", "reasoning_efforts", "xhigh=xhigh max=max"},
		{chatAPI, "opencode", "reasoning_efforts", "xhigh=max max=max"},
	}},
	{ids: "deepseek-v3*", window: 131072},
	{ids: "deepseek-v4* deepseek-flash*", levels: "off low high max", answer: 384000, window: 1000000, switches: []Switch{
		{chatAPI, "openrouter vercel", "reasoning_efforts", "max=xhigh"},
	}},
	{ids: "deepseek-v4-pro*", levels: "off high max", switches: []Switch{{chatAPI, "deepseek", "reasoning_efforts", "minimal=high low=high"}}},

	{ids: "*glm*", switches: []Switch{
		{chatAPI, "cerebras", "thinking_format", "none"},
		{chatAPI, "fireworks", "reasoning_efforts", "xhigh=xhigh max=max"},
		{chatAPI, "neuralwatt", "reasoning_efforts", "minimal=minimal xhigh=xhigh max=xhigh"},
	}},
	{ids: "glm-4-[5-9] glm-4-[5-9]-[a-z]* glm-4-[5-9]v* glm-5*", levels: "?", answer: 131072},
	{ids: "glm-4-5 glm-4-5-[a-z]*", answer: 98304},
	{ids: "glm-4-6v*", answer: 32768},
	{ids: "glm-4-5v*", answer: 16384},
	{ids: "glm-4-9b*", levels: "-"},
	{ids: "glm-5-2*", levels: "off high max", answer: 131072, window: 1000000, switches: []Switch{
		{chatAPI, "zai", "reasoning_efforts", "minimal=high low=high medium=high high=high xhigh=max max=max"},
	}},
	{ids: "glm-5-[3-9]* glm-[6-9]*", levels: "low high max", answer: 131072, window: 1000000, switches: []Switch{
		{chatAPI, "zai", "reasoning_efforts", "off=low minimal=low low=low medium=high high=high xhigh=max max=max"},
	}},

	{ids: "kimi-k2-[5-9]*", levels: "?", window: 262144},
	{ids: "kimi-k2-7-code* kimi-for-coding-highspeed", levels: "!"},
	{ids: "kimi-k[3-9]* k[3-9] k[3-9]-* kimi-for-coding", levels: "low high max", answer: 131072, window: 1048576, switches: []Switch{
		{chatAPI, "moonshot", "thinking_format", "reasoning_effort"},
		{chatAPI, "moonshot", "reasoning_efforts", "off=low minimal=low low=low medium=high high=high xhigh=max max=max"},
	}},
	{ids: "k3-256k*", window: 262144},

	{ids: "mistral-small mistral-small-26* mistral-medium mistral-medium-26* mistral-medium-3*", switches: []Switch{
		{chatAPI, "mistral", "thinking_format", "reasoning_effort"},
	}},
	// Its guide to reasoning has low, medium and high for Large 4, and none for the smaller ones alone.
	{ids: "mistral-large-[4-9] mistral-large-[4-9]-*", levels: threeLevels, answer: 262144, window: 1048576, switches: []Switch{
		{chatAPI, "mistral", "thinking_format", "reasoning_effort"},
		{chatAPI, "mistral", "reasoning_efforts", "off=low minimal=low low=low medium=medium"},
	}},
	{ids: "mistral-medium-2604 mistral-medium-3-5 mistral-medium mistral-small-2603 mistral-small", levels: "off high"},

	{ids: "minimax-m[12]*", levels: "!", answer: 131072, window: 204800},
	{ids: "minimax-m[3-9]*", levels: "?", answer: 524288, window: 1000000, images: true},
	{ids: "minimax-m3", above: step{512000, 2, 2}},
	// From 3.1 on it always thinks: its guide has no other levels, and a request that turns
	// thinking off is refused ("requires adaptive thinking").
	{ids: "minimax-m3-[1-9]*", levels: alwaysClaude, switches: []Switch{
		{claudeAPI, "", "adaptive_thinking", true},
		{claudeAPI, "", "thinking_off", "low"},
	}},

	{ids: "*qwen3*", switches: []Switch{
		{chatAPI, "groq", "reasoning_efforts", "off=none minimal=default low=default medium=default high=default xhigh=default max=default"},
	}},

	// Names that say it.
	{ids: "*-thinking *-thinking-* *-thinker *-thinker-* *-reasoner *-reasoner-* *-reasoning *-reasoning-* magistral* qwq* deepseek-r1*", levels: "!"},
	{ids: "*non-reasoning* *-nothink*", levels: "-"},
}
