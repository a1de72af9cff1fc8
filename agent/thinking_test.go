package agent

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
