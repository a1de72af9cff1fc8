package mcpfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"pi/cli/config"
	"pi/internal/printable"
)

// errMasked is why a server cannot be started while a copy of the file is in force.
var errMasked = errors.New("a change of mcp.json waits for your approval, and no copy of the version before has its secrets; `pi trust` shows the change and asks")

// Mask returns the text of a file without its secrets, so that a copy can be kept and
// differences shown: the values of headers, of clientSecret, of variables and arguments that are keys by
// their names or by their looks, and those in addresses. What else a variable says stays: it may be code, as in
// NODE_OPTIONS. A few digits tell one secret from the next. It returns false if the text is no JSON, so that
// nothing is known of what is in it.
func Mask(text []byte) ([]byte, bool) {
	root, failed := parseJSON(text)
	if failed != nil || bytes.HasPrefix(text, byteOrderMark()) {
		return nil, false
	}
	var secrets []*node
	for _, group := range root.members { // a name may stand there twice
		if group.name == "mcpServers" || group.name == "servers" {
			for _, m := range group.value.members {
				secrets = append(secrets, secretsIn(m.value)...)
			}
		}
	}
	slices.SortFunc(secrets, func(a, b *node) int { return a.from - b.from })
	var masked bytes.Buffer
	at := 0
	for _, n := range secrets {
		masked.Write(text[at:n.from])
		masked.Write(encoded(maskedText(n)))
		at = n.end
	}
	masked.Write(text[at:])
	return masked.Bytes(), true
}

// secretsIn are the values of an entry that may be secrets.
func secretsIn(entry *node) (secrets []*node) {
	add := func(n *node) {
		if n.kind == kindObject || n.kind == kindList || n.kind != kindNull && !isVariablesOnly(n.text) {
			secrets = append(secrets, n)
		}
	}
	for _, m := range entry.members {
		switch m.name {
		case "env", "headers":
			for _, v := range m.value.members {
				if m.name == "headers" || printable.CarriesKey(v.name) || looksRandom(v.value.text) || maskedAddress(v.value.text) != v.value.text {
					add(v.value)
				}
			}
		case "oauth":
			for _, v := range m.value.members {
				if v.name == "clientSecret" {
					add(v.value)
				}
			}
		case "url":
			if m.value.kind == kindText && maskedAddress(m.value.text) != m.value.text {
				secrets = append(secrets, m.value)
			}
		case "args":
			secrets = append(secrets, secretArgs(m.value.items)...)
		}
	}
	return secrets
}

// secretArgs are the arguments that carry keys: --api-key KEY, --token=KEY, KEY=value, and
// addresses with a password.
func secretArgs(args []*node) (secrets []*node) {
	named := false
	for _, n := range args {
		name, value, has := strings.Cut(n.text, "=")
		isFlag := strings.HasPrefix(n.text, "-")
		speaks := printable.CarriesKey(strings.TrimLeft(name, "-"))
		if named && !isFlag && !isVariablesOnly(n.text) || has && speaks && !isVariablesOnly(value) || maskedAddress(n.text) != n.text {
			secrets = append(secrets, n)
		}
		named = isFlag && !has && speaks
	}
	return secrets
}

// maskedText is what stands for a secret.
func maskedText(n *node) string {
	if address := maskedAddress(n.text); address != n.text && n.kind == kindText {
		return address
	}
	if name, value, has := strings.Cut(n.text, "="); has && printable.CarriesKey(strings.TrimLeft(name, "-")) {
		return name + "=" + masked(value)
	}
	return masked(n.text)
}

// masked is what stands for a secret alone. Its digits are too few to try secrets against.
func masked(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return config.MaskedVariable + "_" + hex.EncodeToString(sum[:2])
}

// looksRandom reports whether a text looks like a key: long, of letters and digits without a
// blank or a slash, and both of them mixed.
func looksRandom(text string) bool {
	const shortest = 16
	letters, digits := 0, 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters++
		case !strings.ContainsRune("-_.+=~", r):
			return false
		}
	}
	return len(text) >= shortest && letters > 0 && digits > 1
}

// maskedAddress is an address without the password and the keys in it; another text as it is.
func maskedAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return text
	}
	query, changed := u.Query(), u.User != nil
	if changed {
		u.User = url.User(masked(u.User.String()))
	}
	for name := range query {
		if printable.CarriesKey(name) {
			query.Set(name, masked(query.Get(name)))
			changed = true
		}
	}
	if !changed {
		return text
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// encoded returns a text as JSON.
func encoded(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
