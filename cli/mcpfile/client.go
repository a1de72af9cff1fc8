package mcpfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"pi/agent/mcp"
	"pi/internal/printable"
)

// ClientServer is a server as an editor hands it over with session/new, load and resume of the
// Agent Client Protocol.
type ClientServer struct {
	Type    string        `json:"type"` // "", stdio, http
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Args    []string      `json:"args"`
	Env     []ClientValue `json:"env"`
	URL     string        `json:"url"`
	Headers []ClientValue `json:"headers"`
}

// ClientValue is a variable of a program, or a header.
type ClientValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FromClient makes entries of what an editor hands over. Its values count as they are: nothing in
// them is filled in or run. What cannot be used is left out and named. A name is made one that
// tools can have.
func FromClient(raw json.RawMessage) (entries []mcp.Entry, problems []string) {
	var list []json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, []string{"mcpServers of the editor is no list, and is left out"}
	}
	seen := map[string]bool{}
	for i, one := range list {
		var s ClientServer
		if json.Unmarshal(one, &s) != nil { // whose words may quote a secret
			problems = append(problems, fmt.Sprintf("server %d of the editor cannot be read, and is left out", i+1))
			continue
		}
		e, wrong := s.entry()
		name := fmt.Sprintf("server %q of the editor", printable.Short(printable.Line(s.Name)))
		switch {
		case wrong != "":
			problems = append(problems, name+" is left out: "+wrong)
			continue
		case seen[e.Name]:
			problems = append(problems, fmt.Sprintf("%s is left out: there is another %s", name, e.Name))
			continue
		}
		seen[e.Name] = true
		entries = append(entries, e)
	}
	return entries, problems
}

// entry makes an entry of a server, or says why it cannot be used.
func (s ClientServer) entry() (e mcp.Entry, wrong string) {
	e = mcp.Entry{Name: mcp.CleanName(s.Name), Exposure: mcp.DirectIfFew, Source: mcp.Source{Kind: mcp.FromClient}}
	switch s.Type {
	case "", "stdio":
		if s.Command == "" {
			return e, "it has no command"
		}
		e.Command, e.Args, e.Env = s.Command, s.Args, valuesOf(s.Env)
	case "http":
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return e, "it has no address that begins with https:// or http://"
		}
		e.URL, e.Headers = s.URL, valuesOf(s.Headers)
	case "sse":
		return e, `type "sse" is the old way over HTTP, which is not spoken here; most servers have the new one at an address that ends in /mcp: try that with type "http"`
	default:
		return e, fmt.Sprintf("type %q is not spoken here: stdio and http are", printable.Short(printable.Line(s.Type)))
	}
	return e, ""
}

func valuesOf(list []ClientValue) map[string]string {
	values := map[string]string{}
	for _, v := range list {
		values[v.Name] = v.Value
	}
	return values
}

// FromHook makes an entry of what a hook says of a server: the object that stands in a file below
// its name. What is wrong in it, or would have no effect, is the error.
func FromHook(name string, text []byte, o Origin) (mcp.Entry, error) {
	r := reader{origin: o, data: text}
	value, wrong := parseJSON(text)
	if wrong != nil {
		return mcp.Entry{}, errors.New(wrong.text)
	}
	if err := mcp.CheckName(name); err != nil {
		return mcp.Entry{}, err
	}
	e := entryReader{reader: &r, name: name, expand: newExpander(o)}
	s, _ := e.read(member{name: name, value: value})
	if len(r.file.Problems) > 0 {
		var texts []string
		for _, p := range r.file.Problems {
			texts = append(texts, p.Text)
		}
		return mcp.Entry{}, errors.New(strings.Join(texts, "; "))
	}
	s.Source.Line = 0
	return s.Entry, nil
}
