package keyring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// keep writes the key of a provider into the file.
func (f *authFile) keep(provider, key string) error {
	return f.change(func(old []byte) ([]byte, error) {
		return withEntry(old, provider, func(entry []byte) []byte { return newEntry(entry, key) })
	})
}

// writePatience is how long a lock is waited for that somebody left behind, and a bit more.
const writePatience = staleAfter + 15*time.Second

// change waits for the lock of the file, and writes what edit makes of it.
func (f *authFile) change(edit func(old []byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), writePatience, errLocked)
	defer cancel()
	lock, err := lockFolder(ctx, f.path)
	if err == nil {
		defer lock.release()
		err = f.write(edit)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", config.Tilde(f.path), err)
	}
	return nil
}

// write changes the file, whose lock the caller has.
func (f *authFile) write(edit func(old []byte) ([]byte, error)) error {
	read := func(path string) ([]byte, error) {
		data, _, err := config.ReadFile(path)
		return data, err
	}
	defer f.forget()
	return safefile.Change(f.path, read, edit)
}

// errNoObject says that a file of keys cannot be changed.
var errNoObject = errors.New("it is not a valid JSON object; mend it first")

// withEntry returns the text of auth.json with what change makes of the entry of a provider; nil is
// none.
func withEntry(text []byte, provider string, change func(entry []byte) []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	file, ok := membersOf(text)
	if !ok {
		return nil, errNoObject
	}
	for i, m := range slices.Backward(file) { // of several with the same name the last one counts
		if m.name != provider {
			continue
		}
		if entry := change(text[m.from:m.end]); entry != nil {
			return slices.Concat(text[:m.from], entry, text[m.end:]), nil
		}
		without := withoutMember(text, file, i)
		return withEntry(without, provider, func([]byte) []byte { return nil }) // an older one would come back
	}
	entry := change(nil)
	if entry == nil {
		return text, nil
	}
	added := slices.Concat(encoded(provider), []byte(": "), entry)
	if len(file) == 0 {
		brace := bytes.IndexByte(text, '{') + 1
		return slices.Concat(text[:brace], []byte("\n  "), added, []byte("\n"), bytes.TrimLeft(text[brace:], " \t\r\n")), nil
	}
	last := file[len(file)-1].end
	return slices.Concat(text[:last], []byte(",\n  "), added, text[last:]), nil
}

// withoutMember returns the text of an object without one of its members, with the comma that stood
// in front of it, or behind it if it was the first.
func withoutMember(text []byte, all []member, i int) []byte {
	switch {
	case i > 0:
		return slices.Concat(text[:all[i-1].end], text[all[i].end:])
	case len(all) == 1:
		return slices.Concat(text[:bytes.IndexByte(text, '{')+1], []byte("\n"), bytes.TrimLeft(text[all[0].end:], " \t\r\n"))
	}
	rest := text[all[0].end:]
	return slices.Concat(text[:bytes.IndexByte(text, '{')+1], rest[bytes.IndexByte(rest, ',')+1:])
}

// knownFields are those of a key and of a login, which go together.
func knownFields() []string {
	return []string{"type", "key", "access", "refresh", "expires", "obtained", "token_url", "client_id", "extra", "hook"}
}

// newEntry returns the entry of a provider with its key. Of the entry from before it has
// the fields that are neither those of a key nor of a login.
func newEntry(old []byte, key string) []byte {
	return entryOf([]field{{"type", encoded("api_key")}, {"key", encoded(key)}}, old, knownFields())
}

// field is one of an entry.
type field struct {
	name string
	json []byte
}

// entryOf returns an entry with these fields, and those of the entry from before that are not among
// replaced, in whatever case they are written: whoever reads JSON here takes them for the same.
func entryOf(fields []field, old []byte, replaced []string) []byte {
	members, _ := membersOf(old)
	for _, m := range members {
		if !slices.ContainsFunc(replaced, func(name string) bool { return strings.EqualFold(name, m.name) }) {
			fields = append(fields, field{m.name, old[m.from:m.end]})
		}
	}
	var lines [][]byte
	for _, f := range fields {
		lines = append(lines, slices.Concat([]byte("    "), encoded(f.name), []byte(": "), f.json))
	}
	return slices.Concat([]byte("{\n"), bytes.Join(lines, []byte(",\n")), []byte("\n  }"))
}

// encoded returns a text, a number or a table of texts as JSON.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // these can always be encoded
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
