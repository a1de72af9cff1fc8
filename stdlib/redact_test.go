package stdlib

import (
	"strings"
	"testing"
)

// redactions are texts with what becomes of them, where # stands for what is hidden.
func redactions() map[string]string {
	key := "0123456789abcdefghijklmnopqrstuvwxyz"
	return map[string]string{
		"sk-ant-" + key + " x":                     "# x",
		"token ghp_" + key:                         "token #",
		"AKIA0123456789ABCDEF":                     "#",
		"xoxb-0123456789-ab":                       "#",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc": "#",
		"risk-based-approach-to-everything":        "risk-based-approach-to-everything",
		"Authorization: Bearer abc.def-123":        "Authorization: Bearer #",
		`{"authorization": "Basic dXNlcjpwYXNz"}`:  `{"authorization": "Basic #"}`,
		"curl -H 'X: Bearer abcdef012345'":         "curl -H 'X: Bearer #'",
		"the bearer certificates of a bank":        "the bearer certificates of a bank",
		"postgres://user:pass@host/db":             "postgres://user:#@host/db",
		"https://example.com:8080/a@b":             "https://example.com:8080/a@b",
		"password=hunter2&x=1":                     "password=#&x=1",
		"DB_PASSWORD: 'a b'":                       "DB_PASSWORD: #",
		`"api_key": "abc"`:                         `"api_key": #`,
		"export API_KEY=abc; ls":                   "export API_KEY=#; ls",
		"secret := \"x y\"":                        "secret := #",
		"password = os.getenv('P')":                "password = os.getenv('P')",
		"API_KEY=$KEY":                             "API_KEY=$KEY",
		"max_tokens = 4096":                        "max_tokens = 4096",
		`{"total_tokens": 12}`:                     `{"total_tokens": 12}`,
		"password = nil":                           "password = nil",
		"if token == other":                        "if token == other",
		"no secrets here":                          "no secrets here",
		"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nx": "#\nx",
		"-----BEGIN PRIVATE KEY-----\nMII":                                       "#",
		"-----BEGIN CERTIFICATE-----\nMII":                                       "-----BEGIN CERTIFICATE-----\nMII",
	}
}

func TestRedaction(t *testing.T) {
	hidden := redaction{secrets: defaultSecrets()(), replacement: "[redacted]"}
	for text, short := range redactions() {
		want := strings.ReplaceAll(short, "#", "[redacted]")
		got, n := hidden.apply(text)
		if got != want || n == 0 != (text == want) {
			t.Errorf("%s\ngave %s (%d), want %s", text, got, n, want)
		}
		if again, n := hidden.apply(got); again != got || n != 0 {
			t.Errorf("%s\nbecame %s the second time", text, again)
		}
	}
}
