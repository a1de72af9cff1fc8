package screentest

import (
	"slices"
	"strconv"
	"strings"
)

// style is what SGR has set: the attributes that are on, and both colours as their
// parameters.
type style struct {
	attributes     [10]bool // 1 bold, 2 faint, 3 italic, 4 underlined, 5 and 6 blinking, 7 inverse, 8 hidden, 9 struck
	foreground     string
	background     string
	underlineColor string
}

// String is the style as parameters of one SGR sequence, "" for the plain one.
func (s style) String() string {
	if s == (style{}) {
		return ""
	}
	var all []string
	for n, on := range s.attributes {
		if on {
			all = append(all, strconv.Itoa(n))
		}
	}
	for _, color := range []string{s.foreground, s.background, s.underlineColor} {
		if color != "" {
			all = append(all, color)
		}
	}
	return strings.Join(all, ";")
}

// set applies the parameters of a sequence.
func (s *style) set(params []string) {
	if len(params) == 0 {
		params = []string{"0"}
	}
	for len(params) > 0 {
		params = params[s.one(params):]
	}
}

// one applies the first parameter with those that belong to it, and returns how many
// that were.
func (s *style) one(params []string) int {
	whole := params[0]
	first, sub, _ := strings.Cut(whole, ":")
	n, _ := strconv.Atoi(first)
	switch {
	case n == 0:
		*s = style{}
	case n == 4 && sub == "0":
		s.attributes[4] = false
	case n < 10:
		s.attributes[n] = true
	case n == 22:
		s.attributes[1], s.attributes[2] = false, false
	case n == 25:
		s.attributes[5], s.attributes[6] = false, false
	case n == 21:
		s.attributes[4] = true // twice
	case n > 22 && n < 30:
		s.attributes[n-20] = false
	default:
		return s.color(n, params)
	}
	return 1
}

// color applies a parameter that sets a colour.
func (s *style) color(n int, params []string) int {
	target := map[int]*string{38: &s.foreground, 39: &s.foreground, 48: &s.background, 49: &s.background, 58: &s.underlineColor, 59: &s.underlineColor}[n]
	switch {
	case n == 39 || n == 49 || n == 59:
		*target = ""
	case n == 38 || n == 48 || n == 58:
		used := 1
		if len(params) > 1 && !strings.Contains(params[0], ":") {
			used = min(len(params), map[string]int{"5": 3, "2": 5}[params[1]])
		}
		*target = strings.Join(params[:max(used, 1)], ";")
		return max(used, 1)
	case n >= 40 && n < 48 || n >= 100 && n < 108:
		s.background = params[0]
	case n >= 30 && n < 38 || n >= 90 && n < 98:
		s.foreground = params[0]
	}
	return 1
}

// Has reports whether a parameter of SGR, as "1" or "31", is part of the cell's style.
func (c Cell) Has(param string) bool { return slices.Contains(strings.Split(c.Style, ";"), param) }
