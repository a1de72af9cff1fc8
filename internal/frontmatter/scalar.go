package frontmatter

import (
	"strconv"
	"strings"
)

// scalar reads a text as it is behind a colon: plain, or in quotes. line is where it
// begins.
func (p *parser) scalar(line int, text string) string {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return plain(text)
	}
	value, rest, ok := unquote(text)
	if !ok {
		p.refuse(line, "the quote %c is not closed", text[0])
		return plain(text[1:])
	}
	if rest = strings.TrimLeft(rest, " \t"); rest != "" && rest[0] != '#' {
		p.refuse(line, "%q follows behind the quoted text", rest)
	}
	return value
}

// plain returns a text without quotes as far as a comment, which begins with # behind a
// blank.
func plain(text string) string {
	if strings.HasPrefix(text, "#") {
		return ""
	}
	for _, mark := range []string{" #", "\t#"} {
		if i := strings.Index(text, mark); i >= 0 {
			text = text[:i]
		}
	}
	return strings.TrimRight(text, " \t")
}

// unquote reads the quoted text that text begins with, and returns what follows it. It is
// false if the quote is not closed.
func unquote(text string) (value, rest string, ok bool) {
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' && quote == c && strings.HasPrefix(text[i+1:], "'"):
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), text[i+1:], true
		case c == '\\' && quote == '"' && i+1 < len(text):
			i += escape(&b, text[i+1:])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// escape writes what the characters behind a backslash mean, and returns how many they
// are. One that means nothing is written as it stands.
func escape(b *strings.Builder, text string) int {
	const letters, meant = "0abtnvfre \"/\\N_", "\x00\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0"
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	if digits > 0 && len(text) > digits {
		if n, err := strconv.ParseUint(text[1:1+digits], 16, 32); err == nil {
			b.WriteRune(rune(n))
			return 1 + digits
		}
	}
	if i := strings.IndexByte(letters, text[0]); i >= 0 {
		b.WriteRune([]rune(meant)[i])
		return 1
	}
	b.WriteByte('\\')
	return 0
}

// flow reads a list in brackets. If something follows it, as in [file] [more], it is a
// text.
func (p *parser) flow(f *Field, text string) {
	list, rest := []string{}, strings.TrimLeft(text[1:], " \t")
	for rest != "" && rest[0] != ']' {
		value, ok := "", true
		if value, rest, ok = item(rest); !ok {
			break
		}
		list = append(list, value)
		after, more := strings.CutPrefix(rest, ",")
		if !more {
			break
		}
		rest = strings.TrimLeft(after, " \t")
	}
	after, closed := strings.CutPrefix(rest, "]")
	if after = strings.TrimLeft(after, " \t"); closed && after != "" && after[0] != '#' {
		f.Text = plain(text)
		return
	}
	if f.List = list; !closed {
		p.refuse(f.Line, "the list is not closed with ]")
	}
}

// item cuts the first item from the rest of a list. It is false if it has no end.
func item(text string) (value, rest string, ok bool) {
	if text[0] == '"' || text[0] == '\'' {
		value, rest, ok = unquote(text)
		return value, strings.TrimLeft(rest, " \t"), ok
	}
	end := strings.IndexAny(text, ",]")
	if end < 0 {
		return "", "", false
	}
	return strings.TrimRight(text[:end], " \t"), text[end:], true
}
