package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"pi/internal/printable"

	"github.com/BurntSushi/toml"
)

// MaskedVariable is the variable that a copy of settings names in place of a key: whoever
// uses such a copy is told that the key is missing, and sends nothing.
const MaskedVariable = "PI_KEY_THAT_IS_NOT_KEPT"

const maskedKey = "env:" + MaskedVariable

// IsMasked reports whether a setting, or a part of it, stands for a key that a copy of
// settings does not have. Such a copy is in force while a change waits for approval.
func IsMasked(setting string) bool { return strings.Contains(setting, MaskedVariable) }

// Where an address may have keys: in front of @, and in its query.
var (
	anAddress  = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	addressKey = regexp.MustCompile(`://[^/@?#]+@`)
	queryValue = regexp.MustCompile(`([?&])([^=&#]+)=[^&#]+`)
)

// maskedAddress returns an address without its keys.
func maskedAddress(address string) string {
	address = addressKey.ReplaceAllString(address, "://"+MaskedVariable+"@")
	return queryValue.ReplaceAllStringFunc(address, func(field string) string {
		name, _, _ := strings.Cut(field, "=")
		if !printable.CarriesKey(name[1:]) {
			return field
		}
		return name + "=" + MaskedVariable
	})
}

// MaskKeys returns the text of a config.toml with its API keys, header values and the
// keys in addresses hidden, so that it can be stored and shown. It returns false
// if it cannot be sure to have found all of them.
func MaskKeys(text []byte) ([]byte, bool) {
	if _, beyond := indexLines(string(text)); beyond != nil || len(text) > maxSize {
		return nil, false
	}
	var doc map[string]any
	if _, err := toml.Decode(string(text), &doc); err != nil {
		return nil, false
	}
	masked := string(text)
	for _, key := range slices.Compact(slices.Sorted(slices.Values(append(secretsIn(doc, false), hookSecrets(doc[hookKey])...)))) {
		before := masked
		for _, quote := range []string{`"`, `'`} {
			masked = strings.ReplaceAll(masked, quote+key+quote, quote+maskedKey+quote)
		}
		if masked == before || len(key) >= 8 && strings.Contains(masked, key) {
			return nil, false // it is written in another way, or stands elsewhere too
		}
	}
	masked = anAddress.ReplaceAllStringFunc(masked, maskedAddress)
	var again map[string]any
	if _, err := toml.Decode(masked, &again); err != nil || hasAddressKey(again) {
		return nil, false // it is written with escapes
	}
	return []byte(masked), true
}

// hasAddressKey reports whether an address in a decoded file still has a key in it.
func hasAddressKey(value any) bool {
	switch v := value.(type) {
	case string:
		return anAddress.ReplaceAllStringFunc(v, maskedAddress) != v
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasAddressKey)
	case []map[string]any:
		return slices.ContainsFunc(v, func(below map[string]any) bool { return hasAddressKey(below) })
	case []any:
		return slices.ContainsFunc(v, hasAddressKey)
	}
	return false
}

// NamesSecret reports whether a setting says where a secret is, and is none itself.
func NamesSecret(spec string) bool {
	return strings.HasPrefix(spec, "env:") || strings.HasPrefix(spec, "file:") || strings.HasPrefix(spec, "!")
}

// secretsIn returns the strings in a decoded file that are API keys or header values, and what goes
// along with a login under a name that says that it is secret.
// secret says that value is below such a key. The name of a variable, a file or a command
// is no secret.
func secretsIn(value any, secret bool) (keys []string) {
	switch v := value.(type) {
	case string:
		if secret && v != "" && !NamesSecret(v) {
			keys = append(keys, v)
		}
	case map[string]any:
		for name, below := range v {
			if name == "extra" { // of a login
				keys = append(keys, hookSecrets(below)...)
			}
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

// hookSecrets returns the strings in the tables of hooks whose keys say that they are
// secrets.
func hookSecrets(value any) (keys []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			if printable.CarriesKey(name) {
				keys = append(keys, secretsIn(below, true)...)
			} else {
				keys = append(keys, hookSecrets(below)...)
			}
		}
	case []map[string]any:
		for _, below := range v {
			keys = append(keys, hookSecrets(below)...)
		}
	}
	return keys
}

// NamesVariable reports whether a text, given as a key, looks like the name of a
// variable: $NAME, ${NAME}, or two words or more in capitals.
func NamesVariable(s string) bool {
	return regexp.MustCompile(`^(\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|[A-Z][A-Z0-9]*_[A-Z0-9_]+)$`).MatchString(s)
}

// ShownVariable returns the name of an environment variable, or … if it does not look like
// one: then it is probably the key itself, written in the wrong place.
func ShownVariable(name string) string {
	const upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_", "abcdefghijklmnopqrstuvwxyz_"
	if strings.Trim(name, upper+"0123456789") == "" || strings.Trim(name, lower) == "" {
		return name
	}
	return "…"
}
