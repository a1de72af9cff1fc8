package printable

import (
	"net/url"
	"strings"
)

// CarriesKey reports whether a header or a field of a query of that name is
// likely to hold a key.
func CarriesKey(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
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
