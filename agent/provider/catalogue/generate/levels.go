package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// levelsOf names the thinking levels of a model that reasons, lowest first; nil
// if they are not known. Catwalk names the efforts that a server takes, but
// seldom says whether thinking can be off, and nothing of models whose thinking
// has a budget.
func (p *provider) levelsOf(api, id string, efforts []string) []string {
	name := baseName(id)
	if levels := familyLevels(api, name, len(efforts) > 0); levels != nil {
		return levels
	}
	if len(efforts) == 0 {
		return nil
	}
	levels := slices.DeleteFunc(slices.Clone(efforts), func(effort string) bool { return effort == "none" })
	if p.Switch {
		levels = words("high")
	}
	if canBeOff(name, p.SaysOff || p.Switch || len(levels) < len(efforts)) {
		levels = slices.Insert(levels, 0, "off")
	}
	return levels
}

// canBeOff reports whether a model thinks only if it is told to, or can be told
// not to.
func canBeOff(id string, canBeTold bool) bool {
	asked := strings.HasPrefix(id, "claude-") || matches(`(openai-)?gpt-5[.-]?[1-9]\d?(-mini|-nano)?`, id)
	return !alwaysThinks(id) && (asked || canBeTold)
}

// baseName is the model's own name: without the maker before it, without the
// variant behind it.
func baseName(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	name, _, _ := strings.Cut(id, ":")
	return name
}

// familyLevels knows the families that are asked over the API of their maker,
// where each level means something of its own. Elsewhere the server translates,
// and its own list counts.
func familyLevels(api, id string, listed bool) []string {
	switch api {
	case "anthropic-messages":
		return claudeLevels(id)
	case "openai-responses":
		return gptLevels(id)
	case "google-generative-ai":
		if !listed {
			return geminiLevels(id)
		}
	}
	return nil
}

var claude = regexp.MustCompile(`^claude-[a-z]+-(\d)(?:[-.](\d)(?:-|$))?`)

// claudeLevels: up to 4.5 thinking has a budget, which has five sizes; from 4.6
// on there is an effort. The largest models always think.
func claudeLevels(id string) []string {
	m := claude.FindStringSubmatch(id)
	if m == nil {
		return nil
	}
	minor, _ := strconv.Atoi(m[2])
	switch {
	case alwaysThinks(id):
		return words("low medium high xhigh max")
	case m[1] >= "5" || m[1] == "4" && minor >= 7:
		return words("off low medium high xhigh max")
	case m[1] == "4" && minor == 6:
		return words("off low medium high max")
	}
	return words("off minimal low medium high xhigh")
}

// gptLevels knows the efforts that the servers of OpenAI accept. Those of models
// that are newer than it are catwalk's.
func gptLevels(id string) []string {
	for _, family := range []struct{ name, levels string }{
		{`gpt-5-pro`, "high"},
		{`gpt-5-codex|gpt-5\.1-codex|gpt-5\.1-codex-mini`, "low medium high"},
		{`gpt-5|gpt-5-mini|gpt-5-nano`, "minimal low medium high"},
		{`gpt-5\.1`, "off low medium high"},
		{`gpt-5\.1-codex-max|gpt-5\.[23]-codex|gpt-5\.3-codex-spark`, "low medium high xhigh"},
		{`gpt-5\.[245]-pro`, "medium high xhigh"},
		{`gpt-5\.[245]|gpt-5\.4-mini|gpt-5\.4-nano`, "off low medium high xhigh"},
		{`gpt-5\.6-.*`, "off low medium high xhigh max"},
		{`o1|o3|o4-mini|o3-mini|o3-pro|o1-pro|codex-mini-latest`, "low medium high"},
	} {
		if matches(family.name, id) {
			return words(family.levels)
		}
	}
	return nil
}

// geminiLevels names the levels of the models whose thinking has a budget, for each of
// which there is a size; nil for others.
func geminiLevels(id string) []string {
	switch {
	case strings.HasPrefix(id, "gemini-2.5-flash"):
		return words("off minimal low medium high")
	case strings.HasPrefix(id, "gemini-2.5-pro"):
		return words("minimal low medium high")
	}
	return nil
}

// alwaysThinks knows the models that cannot be kept from thinking, wherever they
// are served.
func alwaysThinks(id string) bool {
	for _, family := range []string{
		`claude-(mythos|fable).*`, `claude-opus-5[.-]5.*`,
		`(openai-)?gpt-5(\.0)?(-mini|-nano|-pro|-codex)?`, `(openai-)?gpt-5[.\d]*-(codex|pro).*`,
		`(openai-)?gpt-oss.*`, `(openai-)?(o1|o3|o4)(-.*)?`, `codex-mini.*`,
		`gemini-2\.5-pro.*`, `gemini-3.*`,
		`grok-[34].*`, `grok-(code|build).*`,
		`minimax-m[12].*`, `deepseek-r1.*`, `.*-(thinking|thinker|reasoner|reasoning)(-.*)?`,
		`magistral.*`, `kimi-k2\.7-code.*`, `qwq.*`,
	} {
		if matches(family, id) {
			return !strings.Contains(id, "non-reasoning")
		}
	}
	return false
}

func matches(pattern, id string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(id)
}

func words(s string) []string { return strings.Fields(s) }
