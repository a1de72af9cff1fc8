package compaction

import "pi/session"

// Difference returns by how many estimated tokens now is larger than then. Only what
// follows the common beginning of the lists is estimated, which is nearly nothing as a
// rule.
func Difference(then, now []session.Item) int {
	n := 0
	for n < len(then) && n < len(now) && then[n].Message == now[n].Message {
		n++
	}
	return EstimateAll(now[n:]) - EstimateAll(then[n:])
}

// EstimateAll returns about how many tokens the messages have.
func EstimateAll(items []session.Item) (tokens int) {
	for _, it := range items {
		tokens += EstimateTokens(it.Message)
	}
	return tokens
}
