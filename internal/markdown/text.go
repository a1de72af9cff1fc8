package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"

	"pi/internal/cells"
	"pi/internal/printable"
)

// paintText paints a text as it is written, with addresses as links. before is the byte
// that precedes it.
func (p Painter) paintText(s string, before byte, styles ...string) string {
	var out strings.Builder
	for s != "" {
		start, end := findURL(s, before)
		out.WriteString(p.paint(decode(s[:start]), styles...))
		if start == end {
			break
		}
		out.WriteString(p.paint(decode(s[start:end]), with(styles, "link")...))
		before = s[end-1]
		s = s[end:]
	}
	return out.String()
}

// findURL returns where the first address of a text begins and ends; both are its length
// if there is none. An address follows no letter, and consists of ASCII.
func findURL(s string, before byte) (start, end int) {
	for from := 0; ; {
		i := strings.Index(s[from:], "http")
		if i < 0 {
			return len(s), len(s)
		}
		start = from + i
		if start > 0 {
			before = s[start-1]
		}
		if n := urlLen(s[start:]); n > 0 && !isLetter(before) {
			return start, start + n
		}
		from = start + len("http")
	}
}

// urlLen is the length of the address that s begins with, or 0. The mark that ends a
// sentence and a bracket that was opened before do not belong to it.
func urlLen(s string) int {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return 0
		}
	}
	n, depth := 0, 0
	for n < len(rest) && rest[n] > ' ' && rest[n] < 0x7f && strings.IndexByte("<>\"`", rest[n]) < 0 {
		if rest[n] == '(' {
			depth++
		} else if rest[n] == ')' {
			if depth--; depth < 0 {
				break
			}
		}
		n++
	}
	if n = len(strings.TrimRight(rest[:n], ".,:;!?*_~'\\")); n == 0 {
		return 0
	}
	return len(s) - len(rest) + n
}

// decode returns what a text says whose marks may be escaped, or written as entities.
func decode(s string) string {
	if !strings.ContainsAny(s, "\\&") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			i++
		} else if s[i] == '&' {
			if said, n := entity(s[i:]); n > 0 {
				out.WriteString(said)
				i += n - 1
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// longestEntity is how long the name of an entity may be.
const longestEntity = 34

// entity returns what the entity at the head of s says, and its length; 0 if there is
// none. One that would be hidden, or become a part of the characters around it, stays as
// it is written.
func entity(s string) (said string, length int) {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] == '#' {
		said = numbered(name[1:])
	} else if e, ok := util.LookUpHTML5EntityByName(name); ok {
		said = string(e.Characters)
	}
	if said == "\u00a0" {
		return said, end + 1
	}
	if said == "" || printable.Line(said) != said || !isAlone(said) {
		return "", 0
	}
	return said, end + 1
}

// numbered is the character that a decimal or hexadecimal number names, or nothing.
func numbered(digits string) string {
	base := 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
		return ""
	}
	return string(rune(n))
}

// isAlone reports whether a character is a cluster of its own beside any other.
func isAlone(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xd7ff {
		return false
	}
	clusters := 0
	for range cells.Clusters("a" + s + "a") {
		clusters++
	}
	return clusters >= 3
}
