package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/cli/config"
	"pi/internal/safefile"
)

// Keep writes the key of a provider into auth.json, which is made if it is not there and is
// readable by its owner alone. What else is in the file stays as it is, to the byte, and so
// do the fields of the provider's entry that are not known here. A login that was there is
// replaced. The error does not repeat the key.
func (r *Ring) Keep(provider, key string) error {
	key = strings.TrimSpace(key)
	if err := r.checkKey(key); err != nil {
		return err
	}
	return r.auth.keep(provider, key)
}

// checkKey returns an error for a text that would be read from auth.json as something else
// than a key.
func (r *Ring) checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case !isOneLine(key):
		return errors.New("the key has a line break or another control character in it")
	case (login{Key: key}).spec(r.getenv) != key || strings.HasPrefix(key, "!") || strings.HasPrefix(key, "env:"):
		return errors.New("what was typed would be read as the name of a variable or as a command; api_key in config.toml has those")
	}
	return nil
}

// keep writes the key of a provider into the file, and forgets what was read of it.
func (f *authFile) keep(provider, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	read := func(path string) ([]byte, error) {
		data, _, err := config.ReadFile(path)
		return data, err
	}
	err := safefile.Change(f.path, read, func(old []byte) ([]byte, error) { return withKey(old, provider, key) })
	if err != nil {
		return fmt.Errorf("write %s: %w", config.Tilde(f.path), err)
	}
	f.seen = fileVersion{} // the time of a file may be too coarse to tell the two apart
	return nil
}

// errNoObject says that a file of keys cannot be changed.
var errNoObject = errors.New("it is not a valid JSON object; mend it first")

// withKey returns the text of auth.json with the key of a provider.
func withKey(text []byte, provider, key string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	file, ok := membersOf(text)
	if !ok {
		return nil, errNoObject
	}
	for _, m := range slices.Backward(file) { // of several with the same name the last one counts
		if m.name == provider {
			return slices.Concat(text[:m.from], newEntry(text[m.from:m.end], key), text[m.end:]), nil
		}
	}
	added := slices.Concat(encoded(provider), []byte(": "), newEntry(nil, key))
	if len(file) == 0 {
		brace := bytes.IndexByte(text, '{') + 1
		return slices.Concat(text[:brace], []byte("\n  "), added, []byte("\n"), bytes.TrimLeft(text[brace:], " \t\r\n")), nil
	}
	last := file[len(file)-1].end
	return slices.Concat(text[:last], []byte(",\n  "), added, text[last:]), nil
}

// newEntry returns the entry of a provider with its key. Of the entry from before it has
// the fields that are neither those of a key nor of a login.
func newEntry(old []byte, key string) []byte {
	known := []string{"type", "key", "access", "refresh", "expires"}
	lines := [][]byte{[]byte(`    "type": "api_key"`), append([]byte(`    "key": `), encoded(key)...)}
	fields, _ := membersOf(old)
	for _, m := range fields {
		if !slices.Contains(known, m.name) {
			lines = append(lines, slices.Concat([]byte("    "), encoded(m.name), []byte(": "), old[m.from:m.end]))
		}
	}
	return slices.Concat([]byte("{\n"), bytes.Join(lines, []byte(",\n")), []byte("\n  }"))
}

// encoded returns a text as JSON.
func encoded(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// member is a member of a JSON object: its name, and where in the text its value is.
type member struct {
	name      string
	from, end int
}

// membersOf returns the members of an object in their order; false if text is none.
func membersOf(text []byte) (all []member, ok bool) {
	if _, ok := validObject(text); !ok {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for _, err := d.Token(); err == nil && d.More(); {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, false
		}
		end := int(d.InputOffset())
		all = append(all, member{fmt.Sprint(name), end - len(value), end})
	}
	return all, true
}
