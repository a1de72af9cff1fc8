package prompts

import (
	"regexp"
	"strconv"
	"strings"
)

// Arguments are what was typed behind the name of a template.
type Arguments struct {
	Raw   string   // as it was typed
	Words []string // cut as a shell cuts them
}

// placeholder is a place in a template for arguments, with a backslash before it if it is
// meant as text.
var placeholder = regexp.MustCompile(`\\?\$(?:@|ARGUMENTS\b|[0-9]+|\{@:[0-9]{1,6}(?::[0-9]{1,6})?\})`)

// Fill puts arguments into the places that a template has for them:
//
//	$1 … $9           one argument; nothing where there are fewer
//	$@, $ARGUMENTS    all, as they were typed
//	${@:2}, ${@:2:3}  those from the second on; three of them
//	\$1               the text $1
//
// What is put in is not looked at again. If there are arguments and no place for them, they
// follow the text.
func Fill(text string, args Arguments) string {
	filled := false
	text = placeholder.ReplaceAllStringFunc(text, func(place string) string {
		digits := strings.TrimLeft(place, `\$`)
		switch {
		case digits[0] == '0' || digits[0] <= '9' && len(digits) > 1: // $100 is a price
			return place
		case place[0] == '\\':
			return place[1:]
		}
		filled = true
		return args.at(place[1:])
	})
	if !filled && args.Raw != "" {
		text += "\n\n" + args.Raw
	}
	return strings.TrimSpace(text)
}

// at returns what belongs at a place, which is written here without its dollar.
func (a Arguments) at(place string) string {
	switch {
	case place == "@" || place == "ARGUMENTS":
		return a.Raw
	case place[0] != '{':
		return a.words(int(place[0]-'0'), 1)
	}
	from, count, isCounted := strings.Cut(strings.Trim(place, "{}@:"), ":")
	n := len(a.Words)
	if isCounted {
		n, _ = strconv.Atoi(count)
	}
	first, _ := strconv.Atoi(from)
	return a.words(max(first, 1), n)
}

// words returns count words from the one with this number on, as far as there are so many,
// with blanks between them.
func (a Arguments) words(first, count int) string {
	from := min(first-1, len(a.Words))
	return strings.Join(a.Words[from:min(from+count, len(a.Words))], " ")
}
