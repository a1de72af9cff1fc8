package catalogue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// priceOf writes down the price of a model: input/output/cache read/cache write,
// "?" for what is not known, nothing if there is no price at all.
//
// Catwalk has two prices for cached tokens and no agreement on which is which:
// for some providers the first is that of writing and the second that of reading,
// for others the first is that of reading and the second is empty, or the same
// again, or they are swapped, or repeat the prices of tokens that are not cached.
// What is certain is that reading costs at most as much as input, and writing
// more than it.
func priceOf(m *listedModel) string {
	in, out := m.In, m.Out
	switch {
	case in == 0 && out == 0 && isFree(m.ID):
		return "0/0/0/0"
	case in <= 0 || out < 0:
		return ""
	}
	read, write := "?", "?"
	for _, v := range []float64{m.OutCached, m.InCached} {
		switch {
		case v <= 0:
		case v <= in && read == "?":
			read = number(v)
		case v > in && v <= 2*in && v != out && write == "?":
			write = number(v)
		}
	}
	return number(in) + "/" + number(out) + "/" + read + "/" + write
}

// isMixed reports whether the list of a gateway mixes the prices of several servers of a
// model, of the one for input and of another for output: together none of them takes these.
func isMixed(m *listedModel) bool {
	const most = 20 // output costs less than so many times what input does, at every maker
	return m.Out > most*m.In
}

// isFree reads it from the id: a price of zero alone means that it is not known.
func isFree(id string) bool {
	return strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free")
}

// number drops what is left over from calculating with binary fractions.
func number(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// rates are the prices of a model: input, output, cache read, cache write; -1 for one that is
// not known.
type rates [4]float64

// ratesOf reads what priceOf writes. ok is false where there is no price.
func ratesOf(price string) (r rates, ok bool) {
	r = rates{-1, -1, -1, -1}
	for i, field := range strings.SplitN(price, "/", len(r)) {
		if v, err := strconv.ParseFloat(field, 64); err == nil {
			r[i] = v
		}
	}
	return r, price != ""
}

// times returns rates that are so many times as high, for what goes in and what comes out.
func (r rates) times(input, output float64) rates {
	for i, by := range []float64{input, output, input, input} {
		if r[i] >= 0 {
			r[i] *= by
		}
	}
	return r
}

func (r rates) String() string {
	var fields []string
	for _, v := range r {
		if v < 0 {
			fields = append(fields, "?")
		} else {
			fields = append(fields, number(v))
		}
	}
	return strings.Join(fields, "/")
}

// fixPrices puts right what lists do not say, or say of another way to ask: prices of a
// batch endpoint, which are half of the usual ones, and what a longer prompt costs.
func fixPrices(all []source) {
	usual := usualPrices(all)
	for i := range all {
		p := &all[i]
		for j := range p.Models {
			m := &p.Models[j]
			r, ok := ratesOf(m.Price)
			if !ok {
				continue
			}
			name := familyName(m.ID)
			known := usual[name]
			for _, variant := range []string{"-preview", "-pro"} { // they may cost what the model itself does
				if plain, ok := strings.CutSuffix(name, variant); ok {
					known = slices.Concat(known, usual[plain])
				}
			}
			isUsual := func(r rates) bool { return slices.Contains(known, [2]float64{r[0], r[1]}) }
			if twice := r.times(2, 2); p.Halves && !isUsual(r) && isUsual(twice) {
				r = twice
			}
			m.Price = r.String()
			family := FamilyOf(m.ID)
			if above := family.Above; above.tokens > 0 && (p.Trust == asMaker || isUsual(r)) {
				m.Price += fmt.Sprintf(";%d:%s", above.tokens, r.times(above.input, above.output))
			}
		}
	}
}

// usualPrices are what makers, and gateways that do not list batch endpoints, take for input
// and output, by the name of the model.
func usualPrices(all []source) map[string][][2]float64 {
	usual := map[string][][2]float64{}
	for i := range all {
		p := &all[i]
		for j := range p.Models {
			if r, ok := ratesOf(p.Models[j].Price); ok && p.Trust != "" && !p.Halves {
				name := familyName(p.Models[j].ID)
				usual[name] = append(usual[name], [2]float64{r[0], r[1]})
			}
		}
	}
	for _, p := range sources() {
		listed := slices.ContainsFunc(all, func(l source) bool { return l.Name == p.Name })
		if listed || p.Trust == "" || p.Halves {
			continue
		}
		for _, m := range Models(p.Name) { // a list that lacks a maker says nothing of its prices
			if m.Cost.Known() {
				name := familyName(m.ID)
				usual[name] = append(usual[name], [2]float64{m.Cost.Input, m.Cost.Output})
			}
		}
	}
	return usual
}
