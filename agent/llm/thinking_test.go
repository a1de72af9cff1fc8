package llm

import (
	"strings"
	"testing"
)

func TestThinkingIsClampedToWhatTheModelOffers(t *testing.T) {
	cases := []struct{ offers, wants, gets string }{
		{"off low medium high", "medium", "medium"},
		{"off low medium high", "max", "high"},
		{"off low medium high", "minimal", "low"},
		{"off low medium high", "off", "off"},
		{"low high", "medium", "low"},
		{"low high max", "medium", "high"},
		{"off low high max", "medium", "high"},
		{"low high max", "minimal", "low"},
		{"low high max", "xhigh", "high"},
		{"low high", "off", "low"},
		{"minimal low", "xhigh", "low"},
		{"off", "high", "off"},
		{"", "xhigh", "xhigh"}, // not known: the wire API does what it can
	}
	for _, c := range cases {
		m := &Model{Reasoning: true, Levels: strings.Fields(c.offers)}
		if got := Clamp(m, c.wants); got != c.gets {
			t.Errorf("of %q, %s is %s; want %s", c.offers, c.wants, got, c.gets)
		}
	}
	if got := Clamp(&Model{}, "high"); got != "off" {
		t.Errorf("a model that does not reason is asked for %s", got)
	}
}

func TestSessionLeftWithWhatAModelMadeOfTheWishKeepsTheWish(t *testing.T) {
	weak := &Model{ID: "weak", Reasoning: true, Levels: []string{"off", "low"}}
	for _, c := range []struct {
		model      *Model
		level      string
		wished     bool
		wish, want string
	}{
		{&Model{ID: "none"}, "off", false, "medium", "medium"},
		{weak, "low", false, "xhigh", "xhigh"},
		{weak, "off", false, "xhigh", "off"},
		{&Model{ID: "none", MayThink: true}, "off", false, "medium", "medium"},
		{&Model{ID: "none", MayThink: true}, "off", true, "medium", "off"},
		{&Model{ID: "free", Reasoning: true}, "off", false, "high", "off"},
		{&Model{ID: "free", Reasoning: true}, "high", false, "low", "high"},
	} {
		if got := WishLeft(c.model, c.level, c.wished, c.wish); got != c.want {
			t.Errorf("%s left with %s, wish %s: %s, want %s", c.model.ID, c.level, c.wish, got, c.want)
		}
	}
}

func TestUserIsToldWhatBecameOfALevel(t *testing.T) {
	m := func(levels string) *Model { return &Model{ID: "m", Reasoning: true, Levels: strings.Fields(levels)} }
	for _, c := range []struct {
		model *Model
		level string
		want  string
	}{
		{m("off low high"), "high", ""},
		{m(""), "max", ""},
		{m("off low high"), "xhigh", "thinking: xhigh, but m offers up to high: high"},
		{m("off low high"), "medium", "thinking: medium, but m offers off, low, high: low"},
		{m("low high max"), "medium", "thinking: medium, but m offers low, high, max: high"},
		{m("low high"), "off", "thinking: off, but m always thinks: low"},
		{m("low high"), "minimal", "thinking: minimal, but m offers low, high: low"},
		{&Model{ID: "m"}, "low", "thinking: low, but m is not known to think: off"},
	} {
		if got := Clamped(c.model, c.level); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.level, c.model.Levels, got, c.want)
		}
	}
}
