package catalogue

import "testing"

func TestPricesOfCachedTokensAreToldApart(t *testing.T) {
	for _, c := range []struct {
		why                   string
		id                    string
		in, out, first, other float64
		want                  string
	}{
		{"writing, then reading", "m", 3, 15, 3.75, 0.3, "3/15/0.3/3.75"},
		{"reading, then writing", "m", 3, 15, 0.3, 3.75, "3/15/0.3/3.75"},
		{"reading alone, in the first place", "m", 5, 30, 0.5, 0, "5/30/0.5/?"},
		{"reading alone, in the second place", "m", 2, 12, 0, 0.2, "2/12/0.2/?"},
		{"reading twice", "m", 1.25, 10, 0.125, 0.125, "1.25/10/0.125/?"},
		{"two prices below input: the second is that of reading", "m", 1, 10, 0.5, 0.1, "1/10/0.1/?"},
		{"the plain prices again", "m", 0.29, 1.17, 0.29, 1.17, "0.29/1.17/0.29/?"},
		{"the price of output, which is near that of input", "m", 1, 1.75, 1, 1.75, "1/1.75/1/?"},
		{"too much for writing", "m", 1, 10, 5, 0, "1/10/?/?"},
		{"nothing for cached tokens", "m", 1, 2, 0, 0, "1/2/?/?"},
		{"nothing at all", "m", 0, 0, 0, 0, ""},
		{"nothing at all, with cached tokens", "m", 0, 0, 0.2, 0, ""},
		{"free", "m:free", 0, 0, 0, 0, "0/0/0/0"},
		{"free in other words", "m-free", 0, 0, 0, 0, "0/0/0/0"},
		{"free, they say, at a price", "m-free", 1, 2, 0, 0, "1/2/?/?"},
		{"no price for input", "m", 0, 2, 0, 0, ""},
		{"less than nothing", "m", -1, -1, 0, 0, ""},
		{"left over from binary fractions", "m", 0.39999999999999997, 1.5999999999999999, 0, 0.09999999999999999, "0.4/1.6/0.1/?"},
	} {
		got := priceOf(&listedModel{ID: c.id, In: c.in, Out: c.out, InCached: c.first, OutCached: c.other})
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
