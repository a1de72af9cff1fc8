package printable

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// CarriesKey reports whether a header or a field of a query of that name is likely to hold a
// key. It goes by the words of the name: at their ends, since they are often written as one
// ("apikey").
func CarriesKey(name string) bool { return slices.ContainsFunc(wordsOf(name), speaksOfKey) }

// wordsOf returns the words of a name in lower case: divided by what is no letter, and where
// a capital follows a small letter.
func wordsOf(name string) []string {
	var spaced strings.Builder
	small := false
	for _, r := range name {
		if !unicode.IsLetter(r) || small && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			spaced.WriteRune(unicode.ToLower(r))
		}
		small = unicode.IsLower(r)
	}
	return strings.Fields(spaced.String())
}

// speaksOfKey reports whether a word says that a key comes with it.
func speaksOfKey(word string) bool {
	word = strings.TrimSuffix(word, "s")
	switch word {
	case "portkey", "monkey", "author", "authority":
		return false
	}
	return strings.HasPrefix(word, "auth") || slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "password"}, func(end string) bool {
		return strings.HasSuffix(word, end)
	})
}

// shortestSecret is how long a key is at least. A shorter one is a word that a server without
// keys takes, and stands in many texts.
const shortestSecret = 8

// IsSecret reports whether what is given as a key has to be kept from view: all but what is
// short, and what people write where a server wants no key.
func IsSecret(value string) bool {
	return len(value) >= shortestSecret && !slices.Contains([]string{"lm-studio", "sk-no-key-required"}, strings.ToLower(value))
}

// covered stands in an address where a key was; it is what net/url writes.
const covered = "xxxxx"

// URL returns an address as people and hooks may see it. Covered are the password, a
// user name without a password (it is an API key then), and the values of query fields
// whose names speak of keys ([CarriesKey]). An address that cannot be parsed becomes
// "…".
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "…"
	}
	if u.User == nil && u.RawQuery == "" {
		return address
	}
	if password, _ := u.User.Password(); u.User != nil && password == "" {
		u.User = url.User(covered)
	}
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		if name, _, found := strings.Cut(pair, "="); found && CarriesKey(name) {
			pairs[i] = name + "=" + covered
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.Redacted()
}
