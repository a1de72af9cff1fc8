package provider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pi/internal/printable"
)

const (
	hidden           = "[key]"
	shortestPassword = 4
	longestShown     = 15   // so much of a key tells nothing new
	longestShownText = 2000 // bytes of a server's message
)

// secrets are the strings that no error text may contain.
type secrets struct {
	values []string
	sent   bool // a key is, also one that is no secret
}

// collectSecrets returns the key and all values of the headers whose names speak of
// keys.
func collectSecrets(key string, headers ...http.Header) (s secrets) {
	s.add(key)
	for _, h := range headers {
		s.addHeaders(h)
	}
	return s
}

// addHeaders adds the values of the headers whose names speak of keys.
func (s *secrets) addHeaders(h http.Header) {
	for name, values := range h {
		if !printable.CarriesKey(name) {
			continue
		}
		for _, v := range values {
			scheme, token, _ := strings.Cut(v, " ")
			if s.add(token); token == "" || !isScheme(scheme) || printable.IsSecret(strings.TrimSpace(token)) {
				s.add(v)
			}
		}
	}
}

// isScheme reports whether a key comes behind the word, in the header that it begins.
func isScheme(word string) bool {
	return slices.Contains([]string{"bearer", "basic", "token", "key"}, strings.ToLower(word))
}

// add adds a key, unless it is none that has to be hidden.
func (s *secrets) add(v string) {
	v = strings.TrimSpace(v)
	s.sent = s.sent || v != ""
	if printable.IsSecret(v) {
		s.values = append(s.values, v)
	}
}

// addPassword adds a word that somebody has chosen, which may be shorter than a key.
func (s *secrets) addPassword(v string) {
	s.sent = true
	if len(v) >= shortestPassword {
		s.values = append(s.values, v)
	}
}

// addURL adds the secrets of an address: its password, a user name without one, both
// also in the form of a header, and the values of the query that carry keys.
func (s *secrets) addURL(u *url.URL) {
	if password, _ := u.User.Password(); password != "" {
		s.addPassword(password)
		s.addPassword(u.User.Username() + ":" + password)
	} else if u.User != nil {
		s.addPassword(u.User.Username())
		s.addPassword(u.User.Username() + ":")
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if !printable.CarriesKey(name) {
			continue
		}
		s.add(value)
		if plain, err := url.QueryUnescape(value); err == nil {
			s.add(plain)
		}
	}
}

// hide replaces every secret in text, in whatever form, also a long piece of one.
func (s secrets) hide(text string) string {
	forms := s.forms()
	for _, v := range forms {
		text = strings.ReplaceAll(text, v, hidden)
	}
	return hidePieces(text, forms)
}

// hidePieces replaces whatever is a piece of one of these forms and longer than
// may be shown. A token may have thousands of characters: it is not looked for
// piece by piece.
func hidePieces(text string, forms []string) string {
	const long = longestShown + 1
	pieces := map[string]bool{}
	for _, v := range forms {
		for i := 0; i+long <= len(v); i++ {
			pieces[v[i:i+long]] = true
		}
	}
	var b strings.Builder
	done := 0
	for i := 0; i+long <= len(text); i++ {
		if !pieces[text[i:i+long]] {
			continue
		}
		end := i + long
		for end < len(text) && pieces[text[end+1-long:end+1]] {
			end++
		}
		b.WriteString(text[done:i] + hidden)
		done, i = end, end-1
	}
	return b.String() + text[done:]
}

// without returns a copy of the headers of an answer in which no secret is whole.
// Pieces of one are not replaced: finding them takes long, and this is for every
// answer.
func (s secrets) without(h http.Header) http.Header {
	forms := s.forms()
	h = h.Clone()
	for _, values := range h {
		for i := range values {
			for _, v := range forms {
				values[i] = strings.ReplaceAll(values[i], v, hidden)
			}
		}
	}
	return h
}

// forms are the ways in which servers repeat a secret: as it is, in an address,
// in JSON, in base64. The longest come first: one may contain another.
func (s secrets) forms() []string {
	var forms []string
	for _, v := range s.values {
		plain, _ := Encode(v)
		escaped, _ := json.Marshal(v)
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(string(plain), `"`), strings.Trim(string(escaped), `"`),
			base64.StdEncoding.EncodeToString([]byte(v)), base64.RawStdEncoding.EncodeToString([]byte(v)),
			base64.URLEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(forms)
}

// shown makes a server's words fit to be shown: without keys and control
// characters, and not endless.
func (s secrets) shown(text string) string {
	text = strings.TrimSpace(s.hide(printable.Text(CleanText(text))))
	if len(text) > longestShownText {
		text = CleanText(text[:longestShownText]) + " …"
	}
	return text
}
