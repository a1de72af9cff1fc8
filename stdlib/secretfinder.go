package stdlib

import (
	"slices"
	"strings"
)

// NewSecretFinder returns a function that reports whether a text has what text.redact hides,
// for texts that are to be kept nowhere then. Of a very long secret, such as an address
// with a password of 500 characters, it may know nothing. It is safe for concurrent use. Its
// first call takes some milliseconds, as it compiles the patterns.
//
// The patterns take a microsecond per byte, which is too much for a paste. So they see only
// what is around the signs of a secret.
func NewSecretFinder() func(text string) bool {
	secrets := defaultSecrets()
	return func(text string) bool {
		lower := lowerASCII(text)
		return slices.ContainsFunc(secrets(), func(s secret) bool { return s.isIn(text, lower) })
	}
}

// sign is what every secret of a kind has in it.
type sign struct {
	words []string               // one of them, in lower case
	may   func(rest string) bool // whether it may be one with this text behind the word; nil: any
}

const (
	beforeSign = 128 // bytes that are looked at around a sign
	behindSign = 512
	leastKey   = 8 // characters of a key behind its beginning
)

// isIn reports whether a text, which is given in lower case too, has a secret of this kind.
func (s secret) isIn(text, lower string) bool {
	for _, word := range s.sign.words {
		seen := 0 // signs before it were looked at with another one
		for at := 0; ; at += len(word) {
			i := strings.Index(lower[at:], word)
			if i < 0 {
				break
			}
			if at += i; at < seen || s.sign.may != nil && !s.sign.may(lower[at+len(word):]) {
				continue
			}
			_, n := redaction{}.hide(text[max(0, at-beforeSign):min(len(text), at+behindSign)], s)
			if n > 0 {
				return true
			}
			seen = at + behindSign - beforeSign
		}
	}
	return false
}

// lowerASCII is a text in lower case, as far as it is ASCII, so that its bytes are where
// they were. The two other letters that a pattern takes for ASCII are not worth a look.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// keyBeginnings are how keyShapes begin, in lower case.
func keyBeginnings() []string {
	return []string{"sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "akia", "asia",
		"aiza", "ya29.", "hf_", "gsk_", "r8_", "npm_", "xai-", "pypi-", "dop_v1_", "sg.", "eyj"}
}

// secretNames are the names of what is secret.
func secretNames() []string {
	return []string{"passwd", "password", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "accesskey", "access_key",
		"access-key", "privatekey", "private_key", "private-key", "credential"}
}

// isLongWord reports whether a text goes on with leastKey characters of a key.
func isLongWord(rest string) bool {
	return len(rest) >= leastKey && strings.IndexFunc(rest[:leastKey], isNoKey) < 0
}

func isNoKey(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
}

// isValue reports whether a text goes on with blanks and something behind them.
func isValue(rest string) bool { return strings.TrimLeft(rest, " \t\n\r\f") != rest }

// isAddressWithAt reports whether an address goes on with a name and a password.
func isAddressWithAt(rest string) bool {
	i := strings.IndexAny(rest[:min(len(rest), behindSign)], "@ \t\n/\"'")
	return i >= 0 && rest[i] == '@'
}

// isGiven reports whether a name is given a value.
func isGiven(rest string) bool {
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "s"), "\"'")
	rest = strings.TrimLeft(rest, " \t\n\r\f")
	return rest != "" && (rest[0] == ':' || rest[0] == '=')
}
