package stdlib

import (
	"regexp"
	"strings"
	"sync"

	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// secret is one way in which secrets look. Its first group is what is hidden,
// or the whole match.
type secret struct {
	pattern *regexp.Regexp
	isNone  func(match []string) bool // it only looks like one; may be nil
	sign    sign                      // a built-in pattern has one
}

// redaction hides secrets.
type redaction struct {
	secrets     []secret
	replacement string
	job         *lua.LState // for which it works; nil: for none
}

// apply returns the text with the replacement in the place of each secret, and how many
// there were.
func (r redaction) apply(s string) (string, int) {
	total := 0
	for _, secret := range r.secrets {
		var n int
		s, n = r.hide(s, secret)
		total += n
	}
	return s, total
}

// hide replaces what one pattern matches and counts it. What was replaced before does
// not count again, and what isNone of the secret says is none stays.
func (r redaction) hide(s string, secret secret) (string, int) {
	var b strings.Builder
	end, n := 0, 0
	for _, at := range r.find(secret.pattern, s) {
		from, to := at[0], at[1]
		if len(at) > 2 && at[2] >= 0 {
			from, to = at[2], at[3]
		}
		found := s[from:to]
		if found == "" || strings.Contains(found, r.replacement) && r.replacement != "" || secret.isNone != nil && secret.isNone(submatches(s, at)) {
			continue
		}
		r.grow(b.Len(), from-end+len(r.replacement))
		b.WriteString(s[end:from])
		b.WriteString(r.replacement)
		end = to
		n++
	}
	b.WriteString(s[end:])
	return b.String(), n
}

// find returns the indices of all matches of a pattern. For a job it raises as matches does.
func (r redaction) find(pattern *regexp.Regexp, s string) [][]int {
	if r.job == nil {
		return pattern.FindAllStringSubmatchIndex(s, -1)
	}
	return matches(r.job, pattern, s, -1, "text.redact")
}

// grow raises if a text of so many bytes may not grow by n for the job.
func (r redaction) grow(have, n int) {
	if r.job == nil {
		return
	}
	luavm.Building(r.job, 3*n) // built, and copied when the text grows
	if have+n > maxText {
		luavm.Raise(r.job, "text.redact: the result is larger than %s", printable.Bytes(maxText))
	}
}

// submatches are the texts of a match and of its groups.
func submatches(s string, at []int) []string {
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return groups
}

// defaultSecrets returns a function that returns the built-in patterns; the first call
// compiles them.
func defaultSecrets() func() []secret {
	return sync.OnceValue(func() []secret {
		return []secret{
			{pattern: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), sign: sign{[]string{"-----begin"}, nil}},
			{pattern: regexp.MustCompile(`\b(?:` + strings.Join(keyShapes(), "|") + `)`), sign: sign{keyBeginnings(), isLongWord}},
			{pattern: regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest)\s+)?([^\s"',;]{6,})`), sign: sign{[]string{"authorization"}, nil}},
			{pattern: regexp.MustCompile(`(?i)\bbearer\s+([a-z0-9._~+/=-]{12,})`), isNone: isProse, sign: sign{[]string{"bearer"}, isValue}},
			{pattern: regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*:([^\s/@"']+)@`), sign: sign{[]string{"://"}, isAddressWithAt}},
			{pattern: regexp.MustCompile(`(?i)[a-z0-9_.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)s?["']?\s*(?::?=>?|:)\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s"',;&]+)`), isNone: isHarmless, sign: sign{secretNames(), isGiven}},
		}
	})
}

// keyShapes match the keys of services that begin in a way of their own.
func keyShapes() []string {
	return []string{
		`sk-[A-Za-z0-9_-]{16,}`,
		`[sr]k_(?:live|test)_[A-Za-z0-9]{10,}`,
		`gh[pousr]_[A-Za-z0-9]{20,}`,
		`github_pat_[A-Za-z0-9_]{20,}`,
		`glpat-[A-Za-z0-9_-]{16,}`,
		`xox[abeoprs]-[A-Za-z0-9-]{10,}`,
		`(?:AKIA|ASIA)[A-Z0-9]{16}`,
		`AIza[A-Za-z0-9_-]{30,}`,
		`ya29\.[A-Za-z0-9_-]{20,}`,
		`(?:hf|gsk|r8|npm)_[A-Za-z0-9]{24,}`,
		`xai-[A-Za-z0-9]{24,}`,
		`pypi-[A-Za-z0-9_-]{24,}`,
		`dop_v1_[a-f0-9]{32,}`,
		`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
	}
}

// isProse reports whether the word after "bearer" looks like one of a sentence and not
// like a token: it is short and has no digit.
func isProse(match []string) bool {
	return !strings.ContainsAny(match[1], "0123456789") && len(match[1]) < 24
}

// isHarmless reports whether the value given to a name such as token or password is no
// secret: empty, true or false, a number of tokens, a variable or a call.
func isHarmless(match []string) bool {
	name, value := strings.ToLower(match[0][:len(match[0])-len(match[1])]), strings.Trim(match[1], `"'`)
	switch strings.ToLower(value) {
	case "", "true", "false", "null", "nil", "none", "{", "[", "(":
		return true
	}
	if strings.Contains(name, "token") && strings.Trim(value, "0123456789.,_)}]") == "" {
		return true
	}
	return strings.ContainsAny(value[:1], "$<=*{[(") || strings.HasSuffix(value, "(") || strings.HasPrefix(value, "os.") || strings.HasPrefix(value, "process.")
}
