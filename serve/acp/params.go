package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"pi/session/rawjson"
)

// fields are the members of a JSON object, by their exact names.
type fields map[string]json.RawMessage

// parseFields reads an object out of valid JSON. The values are views of text. Of a member
// that comes twice the last one counts.
func parseFields(text json.RawMessage) (fields, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("no object")
	}
	all := fields{}
	for name, value := range rawjson.Fields(text) {
		all[string(name)] = value
	}
	return all, nil
}

// fields reads the parameters of a request.
func (m *incoming) fields() (fields, error) {
	if m.params == nil || string(m.params) == "null" {
		return fields{}, nil
	}
	all, err := parseFields(m.params)
	if err != nil {
		return nil, newError(codeParams, `"params" must be an object`)
	}
	return all, nil
}

// has reports whether there is a member of this name, be it null.
func (f fields) has(name string) bool { return f[name] != nil }

// isGiven reports whether there is a member of this name that is not null.
func (f fields) isGiven(name string) bool { return f[name] != nil && string(f[name]) != "null" }

// text returns a member that is a string.
func (f fields) text(name string) (text string, ok bool) {
	if !rawjson.IsString(f[name]) {
		return "", false
	}
	return rawjson.Unquote(f[name]), true
}

// needText is text for a member that has to be there.
func (f fields) needText(name string) (string, error) {
	text, ok := f.text(name)
	switch {
	case !f.isGiven(name):
		return "", newError(codeParams, "%q is missing; it must be a string", name)
	case !ok:
		return "", newError(codeParams, "%q must be a string", name)
	}
	return text, nil
}

// mayText is text for a member that may be absent or null; "" then.
func (f fields) mayText(name string) (string, error) {
	if !f.isGiven(name) {
		return "", nil
	}
	return f.needText(name)
}

// flag reports whether a member is true.
func (f fields) flag(name string) bool { return string(f[name]) == "true" }

// object returns a member that is an object; nil if it is none.
func (f fields) object(name string) fields {
	all, err := parseFields(f[name])
	if err != nil {
		return nil
	}
	return all
}

// list returns the elements of a member that is an array; ok is false if it is none.
func (f fields) list(name string) (elements []json.RawMessage, ok bool) {
	raw := f[name]
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	for element := range rawjson.Elements(raw) {
		elements = append(elements, element)
	}
	return elements, true
}

// checkAbsolute checks a path of the client.
func checkAbsolute(name, path string) error {
	if !filepath.IsAbs(path) {
		return newError(codeParams, "%q must be an absolute path, not %q", name, path)
	}
	return nil
}
