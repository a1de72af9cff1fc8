package luavm

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// syntaxHint returns the end of the message about a text that the parser reads no further than
// line, with the token there, "" at the end of the text: how Lua writes what other languages
// write otherwise, or which block has no end; "" if nothing is known.
func syntaxHint(src []byte, line int, token string) string {
	lines := bareLines(src)
	at := func(n int) string {
		if n < 1 || n > len(lines) {
			return ""
		}
		return string(lines[n-1])
	}
	if hint := elsewhere(at(line), token); hint != "" {
		return "; " + hint
	}
	if before := lineBefore(at, line); strings.HasSuffix(before, "continue") {
		return "; " + noContinue
	}
	if hint := behind(lineBefore(at, line), at(line), token); hint != "" {
		return "; " + hint
	}
	if hint := braces(at, line, token); hint != "" {
		return "; " + hint
	}
	if token == "" || strings.Contains(") ] }", token) || token == "end" {
		return unclosed(src, line, lines)
	}
	return ""
}

// lineBefore is the last line before one that has words.
func lineBefore(at func(int) string, line int) string {
	for line--; line > 0; line-- {
		if text := strings.TrimSpace(at(line)); text != "" {
			return text
		}
	}
	return ""
}

// unclosed is the end of a message about a text that ends, or a bracket that closes, too
// early.
func unclosed(src []byte, line int, lines [][]byte) string {
	block, ok := unclosedBlock(src, line)
	if !ok {
		return ""
	}
	for _, text := range lines[block.Line-1 : min(line, len(lines))] {
		if elseIf.Match(bytes.TrimSpace(text)) {
			return `; "else if" opens a block of its own, elseif does not`
		}
	}
	return fmt.Sprintf("; %q in line %d has no end", block.Word, block.Line)
}

var elseIf = regexp.MustCompile(`\belse\s+if\b`)

// behind says what is wrong with the line before one at whose first word the parser stopped; ""
// if that is not known.
func behind(before, line, token string) string {
	if !isWord.MatchString(token) || !strings.HasPrefix(strings.TrimSpace(line), token) {
		return ""
	}
	switch {
	case isField.MatchString(line) && isField.MatchString(before) && !strings.ContainsAny(before[len(before)-1:], ",;{("):
		return "a comma is missing before it"
	case lastStatement.MatchString(before) && token != "end":
		return "return is the last of its block: if … then return … end"
	}
	return ""
}

var (
	isField       = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*=[^=]`)
	lastStatement = regexp.MustCompile(`^return\b`)
	isWord        = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

const noContinue = "Lua has no continue: put what is left out into an if"

// braces says how the last block is written whose head ends with a brace, where the parser has
// read that and did not find the word which begins a block; "" if there is none. What stands
// between the braces may read as a table that a function gets, so it has to be closed.
func braces(at func(int) string, line int, token string) string {
	text := at(line)
	if token != "" {
		text = text[:max(0, strings.Index(text, token))]
	}
	for n := line; n > line-farthest; text = at(n) + "\n" + text {
		head := blockHead.FindStringSubmatch(text)
		if n--; head == nil {
			continue
		}
		if blockWord.MatchString(text+at(line)) || strings.Count(text, "{") != strings.Count(text, "}") || token != "{" && !strings.HasSuffix(strings.TrimRight(head[0], " \t\r"), "{") {
			return ""
		}
		word := "do"
		if head[1] == "if" || head[1] == "elseif" {
			word = "then"
		}
		return fmt.Sprintf("a block has no braces: %s … %s … end", head[1], word)
	}
	return ""
}

// farthest is how many lines before a mistake its block is looked for.
const farthest = 100

var (
	blockHead = regexp.MustCompile(`^\s*(if|elseif|while|for)\b.*`)
	blockWord = regexp.MustCompile(`\b(then|do)\b`)
)

// idiom is how another language writes something, and how Lua does. With a token it counts
// only where the parser stopped at that.
type idiom struct {
	written string // a pattern
	token   string
	instead string
}

// idioms are looked for in their order.
func idioms() []idiom {
	return []idiom{
		{`!=`, "", `"not equal" is ~=`},
		{`&&`, "", `"and" is a word: and`},
		{`\|\|`, "", `"or" is a word: or`},
		{`!\s*[\w(]`, "!", `"not" is a word: not`},
		{`\w\s*(\+\+)`, "", "Lua has no ++: n = n + 1"},
		{`[\w\])]\s*(\.\.|[-+*/%^])=[^=]`, "", "Lua changes a value as in n = n + 1"},
		{`\bcontinue\b`, "", noContinue},
		{`^\s*(const|let|var)\s+\w`, "", "a variable begins with local"},
		{`=>`, "", "a function is written function(x) … end"},
		{`^\s*(//|/\*)`, "", "a comment begins with --"},
		{`//`, "/", "Lua 5.1 has no //: math.floor(a / b)"},
		{`^\s*import\b`, "", `a module is taken with local name = require "pi.name"`},
		{`\b(if|elseif|while|until)\b.*[^=~<>]=[^=]`, "=", "values are compared with =="},
		{`(^|[^=\[\]~<>])===([^=\[\]]|$)`, "=", "values are compared with =="},
		{`([=(]|\breturn)\s*\[([^=\[]|$)`, "[", "a list is written { a, b }"},
		{`\belse\s*\{`, "", "a block has no braces: if … then … else … end"},
		{`\?`, "?", "a choice is written a and b or c"},
		{`\)\s*\{`, "{", "a block has no braces: function(x) … end"},
		{`\b(async|await)\b`, "", "there is no async and await: what waits, waits"},
		{`[{,]\s*\w+\s*:\s|^\s*\w+:\s`, "", "a field of a table is written name = value"},
		{`["'\w]\s*:`, ":", "a field of a table is written name = value"},
		{`<\s*(const|close)\s*>`, "", "Lua 5.1 has no <const>"},
		{"`", "", "a text stands between quotes or [[ ]]"},
		{`\b(try|catch|switch|class)\b`, "", "Lua has none of try, switch and class: pcall(f) catches errors"},
	}
}

// elsewhere says how Lua writes what stands in a line and stopped the parser; "" if nothing
// there is known.
func elsewhere(line, token string) string {
	for _, i := range idioms() {
		if (i.token == "" || i.token == token) && regexp.MustCompile(i.written).MatchString(line) {
			return i.instead
		}
	}
	return ""
}
