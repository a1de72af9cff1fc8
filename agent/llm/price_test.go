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
		{"all", &Price{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, message.Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1}, true},
		{"free", &Price{}, message.Usage{Input: 1, Output: 1}, true},
		{"an unknown one that is not used", &Price{Input: 1, Output: 2, CacheRead: 3, CacheWrite: -1}, message.Usage{Input: 1, CacheRead: 1}, true},
		{"an unknown one that is used", &Price{Input: 1, Output: 2, CacheRead: 3, CacheWrite: -1}, message.Usage{Input: 1, CacheWrite: 1}, false},
		{"a longer prompt whose price is not known", &Price{Above: &Step{10, Price{Input: -1}}}, message.Usage{Input: 5, CacheRead: 6}, false},
		{"a prompt that is not longer", &Price{Above: &Step{10, Price{Input: -1}}}, message.Usage{Input: 5, CacheRead: 5}, true},
		{"an unknown input", &Price{Input: -1, Output: 2, CacheRead: 3, CacheWrite: 4}, message.Usage{Input: 1}, false},
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

func TestALongerPromptPricesTheWholeRequest(t *testing.T) {
	p, err := (&Price{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5}).WithSteps([]Step{
		{100, Price{Input: 4, Output: 15, CacheRead: 0.4, CacheWrite: 5}}, {1000, Price{Input: 40, Output: 150, CacheRead: 4, CacheWrite: 50}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		used         message.Usage
		input, total float64 // dollars per million
	}{
		{message.Usage{Input: 100, Output: 500}, 200, 5200}, // the answer is no part of the prompt
		{message.Usage{Input: 101}, 404, 404},
		{message.Usage{Input: 1, CacheRead: 99, CacheWrite: 1, Output: 1}, 4, 4 + 39.6 + 5 + 15},
		{message.Usage{Input: 1001}, 40040, 40040},
	} {
		if u := p.Of(c.used); math.Abs(u.Cost.Input*1e6-c.input) > 1e-6 || math.Abs(u.Cost.Total*1e6-c.total) > 1e-6 {
			t.Errorf("%+v costs %+v", c.used, u.Cost)
		}
	}
	if shown := p.Published(); len(shown.Above) != 2 || shown.Above[1].Tokens != 1000 || *shown.Above[0].Output != 15 {
		t.Errorf("shown as %+v", shown)
	}
	for _, steps := range [][]Step{{{0, Price{}}}, {{5, Price{}}, {5, Price{}}}, {{5, Price{}}, {-1, Price{}}}} {
		if _, err := p.WithSteps(steps); err == nil {
			t.Errorf("%v is taken", steps)
		}
	}
}

func TestWhatTheServerChargesCountsInPlaceOfTheEstimate(t *testing.T) {
	used := message.Usage{Input: 1000, Output: 100}
	for _, c := range []struct {
		price *Price
		total float64
		want  message.Cost
	}{
		{&Price{Input: 3, Output: 10}, 0.008, message.Cost{Input: 0.006, Output: 0.002, Total: 0.008}},
		{&Price{Input: 3, Output: 10}, 0, message.Cost{}},
		{nil, 0.008, message.Cost{Total: 0.008}},
		{&Price{Input: -1, Output: -1}, 0.008, message.Cost{Total: 0.008}},
		{&Price{}, 0.008, message.Cost{Total: 0.008}},
	} {
		got := c.price.Charged(used, c.total).Cost
		if math.Abs(got.Input-c.want.Input)+math.Abs(got.Output-c.want.Output)+math.Abs(got.Total-c.want.Total) > 1e-12 {
			t.Errorf("%+v charged %v: %+v", c.price, c.total, got)
		}
	}
}
