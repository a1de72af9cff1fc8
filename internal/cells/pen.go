package cells

import (
	"slices"
	"strconv"
	"strings"
)

// attribute is a kind of colour or style that sequences set one value of.
type attribute int

const (
	foreground attribute = iota
	background
	underlineColour
	bold
	dim // ended together with bold
	italic
	underline
	blink
	inverse
	concealed
	struck
	overline
	attributes
)

// endings returns the codes that end each attribute.
func endings() [attributes]int {
	return [attributes]int{39, 49, 59, 22, 22, 23, 24, 25, 27, 28, 29, 55}
}

// beginnings returns the attributes that a single code begins.
func beginnings() [attributes][]int {
	return [attributes][]int{bold: {1}, dim: {2}, italic: {3}, underline: {4, 21}, blink: {5, 6}, inverse: {7},
		concealed: {8}, struck: {9}, overline: {53}, underlineColour: {58}}
}

// pen is what sequences have set: the parameters of each attribute, and the opening
// sequence of a link. The zero value is text without any.
type pen struct {
	set  [attributes]string
	link string
}

// apply follows a sequence. One that sets neither colours nor a link changes nothing.
func (p *pen) apply(sequence string) {
	if parameters, ok := sgr(sequence); ok {
		for list := strings.Split(parameters, ";"); len(list) > 0; {
			n := 1
			switch list[0] {
			case "38", "48", "58":
				n = colourLen(list)
			}
			p.put(strings.Join(list[:n], ";"))
			list = list[n:]
		}
		return
	}
	if rest, ok := strings.CutPrefix(sequence, "\x1b]8;"); ok {
		p.link = sequence
		if _, address, _ := strings.Cut(rest, ";"); strings.TrimRight(address, "\x07\x1b\\") == "" { // the end of one
			p.link = ""
		}
	}
}

// sgr returns the parameters of a sequence that sets colours.
func sgr(sequence string) (parameters string, ok bool) {
	rest, ok := strings.CutPrefix(sequence, "\x1b[")
	if !ok {
		return "", false
	}
	parameters, ok = strings.CutSuffix(rest, "m")
	return parameters, ok && strings.Trim(parameters, "0123456789;:") == ""
}

// colourLen counts the parameters of an extended colour at the head of list.
func colourLen(list []string) int {
	if len(list) < 2 {
		return len(list)
	}
	switch list[1] {
	case "5":
		return min(3, len(list))
	case "2":
		return min(5, len(list))
	}
	return 1
}

// put notes a value: the code of an attribute and what belongs to it. Codes that nobody
// knows are dropped.
func (p *pen) put(value string) {
	head, style, _ := strings.Cut(value, ":")
	head, _, _ = strings.Cut(head, ";")
	code, _ := strconv.Atoi(head) // nothing is 0
	switch {
	case code == 0:
		p.set = [attributes]string{}
		return
	case code == 4 && style == "0":
		code = 24
	}
	for a, end := range endings() {
		if code == end {
			p.set[a] = ""
		}
	}
	if a, ok := attributeOf(code); ok {
		p.set[a] = value
	}
}

// attributeOf is the attribute that a code begins.
func attributeOf(code int) (attribute, bool) {
	switch {
	case code >= 30 && code <= 38, code >= 90 && code <= 97:
		return foreground, true
	case code >= 40 && code <= 48, code >= 100 && code <= 107:
		return background, true
	}
	for a, codes := range beginnings() {
		if slices.Contains(codes, code) {
			return attribute(a), true
		}
	}
	return 0, false
}

// change appends to dst the sequences that lead from what p has set to what to has. They
// take back no more than p has set, each in a sequence of its own.
func (p *pen) change(dst []byte, to *pen) []byte {
	if *p == *to {
		return dst
	}
	ended := [attributes]bool{}
	for a, end := range endings() {
		if p.set[a] == "" || to.set[a] != "" {
			continue
		}
		if attribute(a) != dim || !ended[bold] {
			dst = appendSGR(dst, strconv.Itoa(end))
		}
		ended[a] = true
	}
	again := ended[bold] || ended[dim] // the other of the two has ended with it
	for a, value := range to.set {
		if value != "" && (value != p.set[a] || again && (attribute(a) == bold || attribute(a) == dim)) {
			dst = appendSGR(dst, value)
		}
	}
	if p.link != to.link {
		if dst = append(dst, to.link...); to.link == "" {
			dst = append(dst, "\x1b]8;;\x1b\\"...)
		}
	}
	return dst
}

func appendSGR(dst []byte, parameters string) []byte {
	return append(append(append(dst, "\x1b["...), parameters...), 'm')
}
