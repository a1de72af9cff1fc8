package main

import (
	"strings"
	"testing"
)

func TestLevelsFollowTheFamilyTheServerAndTheList(t *testing.T) {
	const three = "low medium high"
	plain, saying, switching := &provider{}, &provider{SaysOff: true}, &provider{Switch: true}
	for _, c := range []struct {
		why     string
		p       *provider
		api, id string
		listed  string
		want    string
	}{
		{"nothing is known", plain, chatAPI, "acme-1", "", ""},
		{"nothing is known, though it could be told", saying, chatAPI, "glm-4.6", "", ""},
		{"the server cannot be told", plain, chatAPI, "glm-5", three, three},
		{"the server can be told", saying, chatAPI, "glm-5", three, "off " + three},
		{"the server has a word for it", plain, chatAPI, "glm-5", "none " + three, "off " + three},
		{"on or off", switching, chatAPI, "glm-5.2", "high xhigh", "off high"},
		{"always on", switching, chatAPI, "qwen3-235b-a22b-thinking-2507", three, "high"},
		{"thinks when told to", plain, chatAPI, "claude-sonnet-4.6", three, "off " + three},
		{"thinks when told to, by a later number", plain, chatAPI, "openai/gpt-5.4-mini", three, "off " + three},
		{"always thinks", saying, chatAPI, "openai/gpt-5-mini", three, three},
		{"always thinks, for its size", saying, chatAPI, "openai/gpt-5.4-pro", three, three},
		{"always thinks, whatever is listed", saying, chatAPI, "anthropic/claude-fable-5", "none " + three, three},
		{"always thinks, in a variant", saying, chatAPI, "openai/gpt-oss-120b:nitro", three, three},
		{"a name that only looks like one that always thinks", saying, chatAPI, "grok-4.20-non-reasoning", three, "off " + three},
		{"Claude with a budget", plain, claudeAPI, "claude-opus-4-1-20250805", "", "off minimal low medium high xhigh"},
		{"a date is no version", plain, claudeAPI, "claude-sonnet-4-20250514", "", "off minimal low medium high xhigh"},
		{"Claude with an effort", plain, claudeAPI, "claude-sonnet-5", three, "off low medium high xhigh max"},
		{"Claude that always thinks", plain, claudeAPI, "claude-opus-5-5", three, "low medium high xhigh max"},
		{"another model over Claude's API", plain, claudeAPI, "qwen3.6-plus", three, three},
		{"GPT, corrected", plain, responsesAPI, "gpt-5.1", "minimal low medium high", "off low medium high"},
		{"GPT, of the future", plain, responsesAPI, "gpt-7", "none low", "off low"},
		{"Gemini with a budget", plain, geminiAPI, "gemini-2.5-flash", "", "off minimal low medium high"},
		{"Gemini with levels", plain, geminiAPI, "gemini-3-pro-preview", "low high", "low high"},
	} {
		if got := strings.Join(c.p.levelsOf(c.api, c.id, words(c.listed)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
