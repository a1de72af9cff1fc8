package google

import (
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/provider"
)

type thinking struct {
	Include bool   `json:"includeThoughts"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// generating limits the answer and asks for thinking. Thoughts count as part of
// the limit, so where less than all was asked for, they come on top of it.
func (c *compat) generating(r *agent.Request) *generating {
	g := &generating{MaxOutputTokens: provider.AnswerLimit(r)}
	if !r.Model.Reasoning {
		return orNil(g)
	}
	level := r.Thinking
	if level == "" {
		level = "off"
	}
	switch c.thinkingFormat {
	case "budget":
		b := budget(level, r.Model)
		g.makeRoom(b, r)
		if most := g.MaxOutputTokens - smallestAnswer; g.MaxOutputTokens > 0 && b > most {
			b = max(most, min(b, smallestBudget))
		}
		g.Thinking = &thinking{Include: level != "off", Budget: &b}
	case "level":
		g.makeRoom(budgets[level], r)
		g.Thinking = &thinking{Include: level != "off", Level: word(level, r.Model)}
	}
	return orNil(g)
}

func orNil(g *generating) *generating {
	if *g == (generating{}) {
		return nil
	}
	return g
}

// makeRoom lets an answer that was asked to be short keep its length beside the
// thoughts, as far as the model goes.
func (g *generating) makeRoom(thoughts int, r *agent.Request) {
	own := r.Model.MaxTokens
	if g.MaxOutputTokens == 0 || r.MaxTokens <= 0 || own > 0 && r.MaxTokens >= own {
		return
	}
	g.MaxOutputTokens += thoughts
	if own > 0 {
		g.MaxOutputTokens = min(g.MaxOutputTokens, own)
	}
}

// budgets are the tokens of a thinking level. It is never written to.
var budgets = map[string]int{
	"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768,
}

const (
	smallestAnswer = 1024 // what thinking has to leave
	smallestBudget = 512  // of the models that are the most particular about it
)

// budget is the thinking budget of a level. The larger models cannot be kept from
// thinking and may think longest.
func budget(level string, m *agent.Model) int {
	if strings.Contains(strings.ToLower(m.ID), "pro") {
		return max(budgets[level], 128)
	}
	return min(budgets[level], 24576)
}

// words are what the service calls the levels, lowest first.
var words = []string{"minimal", "low", "medium", "high"}

// word is the nearest word to a level among those that the model takes: that one,
// else the next one below, else the lowest.
func word(level string, m *agent.Model) string {
	offered := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !takes(m, w) })
	if len(offered) == 0 {
		return ""
	}
	all := agent.ThinkingLevels()
	nearest := offered[0]
	for _, w := range offered {
		if slices.Index(all, w) <= slices.Index(all, level) {
			nearest = w
		}
	}
	return strings.ToUpper(nearest)
}

// takes goes by the model's own list. Without one, what all models of the first
// generation with levels took is what a larger model is asked for.
func takes(m *agent.Model, word string) bool {
	if len(m.Levels) > 0 {
		return slices.Contains(m.Levels, word)
	}
	return word == "low" || word == "high" || !strings.Contains(strings.ToLower(m.ID), "pro")
}
