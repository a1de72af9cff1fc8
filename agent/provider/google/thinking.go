package google

import (
	"strconv"

	"pi/agent/llm"
	"pi/agent/provider"
)

type thinking struct {
	Include bool   `json:"includeThoughts"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// generating limits the answer and asks for thinking, by a budget or by a word; nil if
// there is nothing to say. Thoughts count as part of the limit, so where less than all
// was asked for, they come on top of it.
func (c *compat) generating(r *llm.Request) *generating {
	g := &generating{MaxOutputTokens: provider.AnswerLimit(r)}
	level := r.Thinking
	budget, err := strconv.Atoi(c.budgets[level])
	if level != "" && (r.Model.Reasoning || r.Off) && c.thinkingFormat != "none" {
		g.MaxOutputTokens = provider.LimitWithThoughts(r, budget)
		g.Thinking = &thinking{Include: level != "off"}
		switch {
		case c.thinkingFormat == "level":
			g.Thinking.Level = c.levels[level]
		case err == nil:
			if most := g.MaxOutputTokens - smallestAnswer; g.MaxOutputTokens > 0 && budget > most {
				budget = max(most, min(budget, smallestBudget)) // something has to be left for the answer
			}
			g.Thinking.Budget = &budget
		}
	}
	if *g == (generating{}) {
		return nil
	}
	return g
}

const (
	smallestAnswer = 1024 // that has to be left besides the thinking
	smallestBudget = 512  // that any model takes
)
