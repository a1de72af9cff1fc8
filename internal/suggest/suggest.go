// Package suggest finds what a mistyped word meant, for the "did you mean" of
// messages: [Nearest] among the words that are known, [Hint] the end of the
// message. A caller with a rule of its own for what is alike counts the edits with
// [Distance].
package suggest

import (
	"fmt"
	"strings"
)

// maxSuggested is longer than any name that is misspelt.
const maxSuggested = 100

// Nearest returns the known name that name most likely meant, or "". Alike are, in this
// order: names that differ in case or in what joins their words, or one of which ends or
// begins with the other; what other programs call the same; a few typing mistakes.
func Nearest(name string, known []string) string {
	if len(name) > maxSuggested {
		return ""
	}
	if same := sameWords(name, known); same != "" {
		return same
	}
	for _, o := range otherWords() {
		if swapped := strings.ReplaceAll(plain(name), o[0], o[1]); swapped != plain(name) {
			if same := sameWords(swapped, known); same != "" {
				return same
			}
		}
	}
	best, bestDistance := "", min(max(1, len(name)/3), len(name)-1)+1
	for _, k := range known {
		if d := Distance(plain(name), plain(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// otherWords are pairs of a word of other programs and the one that means the same here.
func otherWords() [][2]string {
	return [][2]string{{"fork", "branch"}, {"draw", "render"}, {"action", "handler"}, {"callback", "handler"}, {"run", "handler"},
		{"run", "execute"}, {"handler", "execute"}, {"params", "parameters"}, {"schema", "parameters"}, {"key", "handle_input"},
		{"args", "input"}, {"arguments", "input"}, {"params", "input"}, {"output", "content"}, {"result", "content"}, {"prompt", "text"}, {"decision", "block"}, {"deny", "block"}, {"allow", "block"}, {"cancel", "block"}, {"block", "cancel"}, {"message", "reason"}, {"message", "status"}, {"multiple", "multi"},
		{"sessionmanager", "session"}, {"modelregistry", "models"}, {"readfile", "read"}, {"writefile", "write"}, {"file", "path"},
		{"parse", "decode"}, {"stringify", "encode"}, {"dumps", "encode"}, {"loads", "decode"}}
}

// SharesWords reports whether a known name has words of name, rather than being spelt alike.
func SharesWords(name string, known []string) bool {
	return len(name) <= maxSuggested && sameWords(name, known) != ""
}

// minPart is how long a part of a name is that tells what was meant.
const minPart = 3

// sameWords returns the known name that is equal but for case and what joins the words
// (tool_name for toolName), or else the longest one with which name ends (tool for
// registerTool), or one that begins with it (string for str); "" if there is none.
func sameWords(name string, known []string) string {
	part := ""
	for _, k := range known {
		a, b := plain(name), plain(k)
		switch {
		case a == b:
			return k
		case len(b) >= minPart && strings.HasSuffix(a, b) && len(k) > len(part) && beginsWord(name, a, len(a)-len(b)):
			part = k
		case len(a) >= minPart && strings.HasPrefix(b, a) && part == "":
			part = k
		}
	}
	return part
}

// beginsWord reports whether a word of name may begin at a byte of it as plain writes it: in
// a name of several words, words begin with a capital or behind what joins them.
func beginsWord(name, bare string, at int) bool {
	if name == bare {
		return true
	}
	seen := 0
	for i := range len(name) {
		if strings.IndexByte("_- ", name[i]) >= 0 {
			continue
		}
		if seen == at {
			return i == 0 || name[i] >= 'A' && name[i] <= 'Z' || strings.IndexByte("_- ", name[i-1]) >= 0
		}
		seen++
	}
	return true
}

// plain returns a name in lower case without _, - and blanks, for comparing.
func plain(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// Hint is the end of a message about an unknown name: `, did you mean "x"?`, or
// nothing if no known name is like it.
func Hint(name string, known []string) string {
	if s := Nearest(name, known); s != "" {
		return fmt.Sprintf(", did you mean %q?", s)
	}
	return ""
}

// Distance counts the bytes to insert, delete, replace or swap with their neighbour to
// make b of a.
func Distance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
