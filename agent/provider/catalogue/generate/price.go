package main

import (
	"strconv"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
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
func priceOf(m *catwalk.Model) string {
	in, out := m.CostPer1MIn, m.CostPer1MOut
	switch {
	case in == 0 && out == 0 && isFree(m.ID):
		return "0/0/0/0"
	case in <= 0 || out < 0:
		return ""
	}
	read, write := "?", "?"
	for _, v := range []float64{m.CostPer1MOutCached, m.CostPer1MInCached} {
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

// isFree reads it from the id: a price of zero alone means that it is not known.
func isFree(id string) bool {
	return strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free")
}

// number drops what is left over from calculating with binary fractions.
func number(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}
