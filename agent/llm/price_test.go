package llm

import (
	"math"
	"testing"

	"pi/session/message"
)

func TestAPriceCoversWhatItNames(t *testing.T) {
	cases := []struct {
		name  string
		price *Price
		used  message.Usage
		want  bool
	}{
		{"none", nil, message.Usage{Input: 1}, false},
		{"all", &Price{1, 2, 3, 4}, message.Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1}, true},
		{"free", &Price{}, message.Usage{Input: 1, Output: 1}, true},
		{"an unknown one that is not used", &Price{1, 2, 3, -1}, message.Usage{Input: 1, CacheRead: 1}, true},
		{"an unknown one that is used", &Price{1, 2, 3, -1}, message.Usage{Input: 1, CacheWrite: 1}, false},
		{"an unknown input", &Price{-1, 2, 3, 4}, message.Usage{Input: 1}, false},
	}
	for _, c := range cases {
		if got := c.price.Covers(&c.used); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestPriceIsPerMillionTokens(t *testing.T) {
	used := message.Usage{Input: 1000, Output: 200, CacheRead: 5000, CacheWrite: 300}
	u := (&Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}).Of(used)
	if u.TotalTokens != 6500 || math.Abs(u.Cost.Total-(0.003+0.003+0.0015+0.001125)) > 1e-12 || u.Cost.Output != 0.003 {
		t.Errorf("%+v", u)
	}
	var unknown *Price
	if u := unknown.Of(used); u.Cost != (message.Cost{}) || u.TotalTokens != 6500 {
		t.Errorf("unknown price: %+v", u)
	}
}
