package mcpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent/mcp"
	"pi/internal/safefile"
)

// errNoObject says that a file of servers cannot be changed.
var errNoObject = errors.New("it is not a valid JSON object with mcpServers in it; mend it first")

// ErrThere says that there is a server of that name already.
var ErrThere = errors.New("there is a server of this name already")

// New is an entry that is to be written.
type New struct {
	Command     string            `json:"command,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Cwd         string            `json:"cwd,omitempty"`
	Type        string            `json:"type,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Description string            `json:"description,omitempty"`
	Tools       map[string]string `json:"tools,omitempty"`
	Timeout     float64           `json:"timeout,omitempty"`
	Enabled     *bool             `json:"enabled,omitempty"`
	OAuth       json.RawMessage   `json:"oauth,omitempty"`
}

// Change replaces the text of a file by what edit makes of it, without losing what others write
// meanwhile. Its mode becomes 0600.
func Change(path string, edit func(text []byte) ([]byte, error)) error {
	return safefile.Change(path, Read, edit)
}

// Add returns the text of a file with another server in it. What else is in the file stays as it
// is, to the byte.
func Add(text []byte, name string, entry New) ([]byte, error) {
	if err := mcp.CheckName(name); err != nil {
		return nil, err
	}
	var value bytes.Buffer
	e := json.NewEncoder(&value)
	e.SetEscapeHTML(false)
	e.SetIndent("    ", "  ")
	if err := e.Encode(entry); err != nil {
		return nil, err
	}
	added := slices.Concat([]byte("    "), encoded(name), []byte(": "), bytes.TrimSpace(value.Bytes()))
	if text = bytes.TrimPrefix(text, byteOrderMark()); len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, failed := parseJSON(text)
	if failed != nil || root.kind != kindObject {
		return nil, errNoObject
	}
	servers := root.member("mcpServers")
	switch {
	case servers == nil:
		return insert(text, root, slices.Concat([]byte("  \"mcpServers\": {\n"), added, []byte("\n  }")), ""), nil
	case servers.kind != kindObject:
		return nil, errNoObject
	case servers.member(name) != nil:
		return nil, fmt.Errorf("%q: %w", name, ErrThere)
	}
	return insert(text, servers, added, "  "), nil
}

// insert adds a member behind the others of an object, whose end is indented by so much.
func insert(text []byte, object *node, added []byte, indent string) []byte {
	if len(object.members) == 0 {
		return slices.Concat(text[:object.from+1], []byte("\n"), added, []byte("\n"+indent), text[object.end-1:])
	}
	last := object.members[len(object.members)-1].value.end
	return slices.Concat(text[:last], []byte(",\n"), added, text[last:])
}

// Remove returns the text of a file without a server; was is false if it has none of the name.
func Remove(text []byte, name string) (changed []byte, was bool, err error) {
	text = bytes.TrimPrefix(text, byteOrderMark())
	root, failed := parseJSON(text)
	if failed != nil || root.kind != kindObject {
		return nil, false, errNoObject
	}
	servers := root.member("mcpServers")
	if servers == nil || servers.member(name) == nil {
		return text, false, nil
	}
	for servers.member(name) != nil {
		text = without(text, servers, name)
		if root, failed = parseJSON(text); failed != nil {
			return nil, false, errNoObject
		}
		servers = root.member("mcpServers")
	}
	return text, true, nil
}

// without returns the text without the first member of that name, and the comma that goes with it.
func without(text []byte, object *node, name string) []byte {
	i := slices.IndexFunc(object.members, func(m member) bool { return m.name == name })
	from, end := object.members[i].at, object.members[i].value.end
	switch {
	case i+1 < len(object.members):
		end = object.members[i+1].at
	case i > 0:
		from = object.members[i-1].value.end
	default: // the only one
		from, end = object.from+1, object.end-1
	}
	return slices.Concat(text[:from], text[end:])
}

// Names lists the servers that a text has, whether they can be used or not, in their order.
func Names(text []byte) (names []string) {
	root, failed := parseJSON(text)
	if failed != nil {
		return nil
	}
	if servers := root.member("mcpServers"); servers != nil {
		for _, m := range servers.members {
			names = append(names, m.name)
		}
	}
	return names
}

// ParsePair reads NAME=VALUE, as options have it.
func ParsePair(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", errors.New("NAME=VALUE is expected, with = between them") // what else it is may be a secret
	}
	return name, value, nil
}
