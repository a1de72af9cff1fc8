package llm

import (
	"fmt"
	"slices"
	"strings"
)

// thinkingLevels are the levels a request may ask for, lowest first.
var thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// ValidThinking reports whether level is one of the thinking levels.
func ValidThinking(level string) bool { return slices.Contains(thinkingLevels, level) }

// CheckThinking returns an error for a text that is not a thinking level.
func CheckThinking(level string) error {
	if ValidThinking(level) {
		return nil
	}
	return fmt.Errorf("unknown thinking level %q; levels are %s", level, strings.Join(thinkingLevels, ", "))
}

// ThinkingLevels returns the thinking levels, lowest first.
func ThinkingLevels() []string { return slices.Clone(thinkingLevels) }

// Clamp returns the thinking level that is used with m if level is wanted: that one if m
// offers it, else the highest below it, else the lowest. Of low, high and max, though, the
// one in the middle is what others call medium. A wanted level other than "off" becomes
// "off" only if m offers nothing else.
func Clamp(m *Model, level string) string {
	offered := m.Levels
	switch {
	case !m.Reasoning:
		return "off"
	case len(offered) == 0 || slices.Contains(offered, level):
		return level
	}
	if level == "medium" && slices.Contains(offered, "high") && slices.Contains(offered, "max") {
		return "high"
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

// AsksOff reports whether a request is to say that m shall not think where a user wishes
// for that level, though nobody knows whether it can be told. Models that are known not to
// think are told nothing: they may refuse it.
func AsksOff(m *Model, wish string) bool {
	return wish == "off" && (m.MayThink && !m.Reasoning || m.Reasoning && len(m.Levels) == 0)
}

// OfferedLevels are the levels that m offers, lowest first: all of them where
// that is not known.
func OfferedLevels(m *Model) []string {
	switch {
	case !m.Reasoning:
		return []string{"off"}
	case len(m.Levels) == 0:
		return ThinkingLevels()
	}
	return slices.Clone(m.Levels)
}

// Clamped returns a sentence for the user that m does not offer level, and which one is
// used instead; "" if it does.
func Clamped(m *Model, level string) string {
	is := Clamp(m, level)
	switch offers := OfferedLevels(m); {
	case is == level:
		return ""
	case len(offers) == 1 && offers[0] == "off":
		return fmt.Sprintf("thinking: %s, but %s is not known to think: off", level, m.ID)
	case level == "off":
		return fmt.Sprintf("thinking: off, but %s always thinks: %s", m.ID, is)
	case slices.Index(thinkingLevels, is) < slices.Index(thinkingLevels, level) && is == offers[len(offers)-1]:
		return fmt.Sprintf("thinking: %s, but %s offers up to %s: %s", level, m.ID, is, is)
	default:
		return fmt.Sprintf("thinking: %s, but %s offers %s: %s", level, m.ID, strings.Join(offers, ", "), is)
	}
}

// WishLeft returns the level that is wanted after a session is resumed whose last model
// and level are these. That is level, unless level is what model makes of wish, the level
// wanted so far: then the wish stays, if the session does not say that level was wished.
func WishLeft(model *Model, level string, wished bool, wish string) string {
	if Clamp(model, wish) == level && !wished {
		return wish
	}
	return level
}
