package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maskedKey replaces a key in copies of settings: whoever uses such a copy is told
// that the key is missing, and sends nothing.
const maskedKey = "env:PI_KEY_THAT_IS_NOT_KEPT"

// MaskKeys removes the keys from the text of a config.toml, for copies and
// differences. It is false for a text of which it cannot be said where they are.
func MaskKeys(text []byte) ([]byte, bool) {
	if _, beyond := indexLines(string(text)); beyond != nil || len(text) > maxSize {
		return nil, false
	}
	var doc map[string]any
	if _, err := toml.Decode(string(text), &doc); err != nil {
		return nil, false
	}
	masked := string(text)
	for _, key := range slices.Compact(slices.Sorted(slices.Values(secretsIn(doc, false)))) {
		before := masked
		for _, quote := range []string{`"`, `'`} {
			masked = strings.ReplaceAll(masked, quote+key+quote, quote+maskedKey+quote)
		}
		if masked == before || len(key) >= 8 && strings.Contains(masked, key) {
			return nil, false // it is written in another way, or stands elsewhere too
		}
	}
	return []byte(masked), true
}

// secretsIn lists the values that are keys or headers. What names a variable or a
// command is none.
func secretsIn(value any, secret bool) (keys []string) {
	switch v := value.(type) {
	case string:
		if secret && v != "" && !strings.HasPrefix(v, "env:") && !strings.HasPrefix(v, "!") {
			keys = append(keys, v)
		}
	case map[string]any:
		for name, below := range v {
			keys = append(keys, secretsIn(below, secret || name == "api_key" || name == "headers")...)
		}
	case []map[string]any:
		for _, below := range v {
			keys = append(keys, secretsIn(below, secret)...)
		}
	case []any:
		for _, below := range v {
			keys = append(keys, secretsIn(below, secret)...)
		}
	}
	return keys
}

// NamesVariable reports whether a text, given as a key, looks like the name of a
// variable: $NAME, ${NAME}, or two words or more in capitals.
func NamesVariable(s string) bool {
	return regexp.MustCompile(`^(\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|[A-Z][A-Z0-9]*_[A-Z0-9_]+)$`).MatchString(s)
}

// ShownVariable is the name of a variable as it may be shown: what no variable is
// called is likely the key itself, written in the wrong place.
func ShownVariable(name string) string {
	const upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_", "abcdefghijklmnopqrstuvwxyz_"
	if strings.Trim(name, upper+"0123456789") == "" || strings.Trim(name, lower) == "" {
		return name
	}
	return "…"
}
