package agent

import "slices"

// thinkingLevels are the levels a request may ask for, lowest first.
var thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// ValidThinking reports whether level is one of the thinking levels.
func ValidThinking(level string) bool { return slices.Contains(thinkingLevels, level) }

// ThinkingLevels returns the thinking levels, lowest first.
func ThinkingLevels() []string { return slices.Clone(thinkingLevels) }

// Clamp is the level that m is asked for when level is wanted: that one if m
// offers it, else the highest below it, else the lowest. Who wants the model to
// think is never given "off" by that, unless there is nothing else.
func Clamp(m *Model, level string) string {
	offered := m.Levels
	switch {
	case !m.Reasoning:
		return "off"
	case len(offered) == 0 || slices.Contains(offered, level):
		return level
	}
	if thinks := slices.DeleteFunc(slices.Clone(offered), func(l string) bool { return l == "off" }); len(thinks) > 0 {
		offered = thinks
	}
	clamped := offered[0]
	for _, l := range offered {
		if slices.Index(thinkingLevels, l) <= slices.Index(thinkingLevels, level) {
			clamped = l
		}
	}
	return clamped
}
