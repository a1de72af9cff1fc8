package stdlib

import (
	"errors"
	"fmt"
	"strings"
)

// maxNested is how deep lists and tables of a text stand inside each other, and how many parts a
// key has.
const maxNested = 256

// checkTOML is an error for a text whose lists and tables are nested so deep that the parser, which
// calls itself for each level, would need more memory than there is. Of a text that is no TOML it
// knows what comes before the mistake, and so much does the parser see.
func checkTOML(text string) error {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = stringEnd(text, i) - 1
			continue
		case '#':
			if end := strings.IndexByte(text[i:], '\n'); end >= 0 {
				i += end
			} else {
				i = len(text)
			}
			dots = 0
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			dots++
		case '\n', '=', ',':
			dots = 0
		}
		if depth > maxNested || dots >= maxNested {
			return fmt.Errorf("lists, tables or keys are nested more than %d deep", maxNested)
		}
	}
	return nil
}

// stringEnd is the position behind the string of TOML that begins at i.
func stringEnd(text string, i int) int {
	quote, end := text[i:i+1], 1
	if strings.HasPrefix(text[i:], strings.Repeat(quote, 3)) {
		quote, end = strings.Repeat(quote, 3), 3
	}
	for j := i + end; j < len(text); j++ {
		switch {
		case text[j] == '\\' && quote[0] == '"':
			j++
		case strings.HasPrefix(text[j:], quote):
			j += len(quote)
			for end == 3 && j < len(text) && text[j] == quote[0] { // quotes at the end of the text itself
				j++
			}
			return j
		case end == 1 && text[j] == '\n':
			return j // a mistake
		}
	}
	return len(text)
}

var errTooLarge = errors.New("it is larger than 8 MiB")
