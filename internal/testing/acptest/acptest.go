// Package acptest holds the lines that an agent writes against the schema of the Agent
// Client Protocol, version 1. It is for tests.
//
// facts.txt is what the schema says, as a table. A [Checker] follows one connection, for
// what an answer must look like depends on its request:
//
//	c := acptest.New()
//	c.Sent(line)        // each line of the client
//	err := c.Check(line) // each line of the agent: why the schema does not allow it
//
// A [Client] is the other end of an agent for a whole conversation, and checks what it gets.
//
// It is stricter than the schema: members that are not in it are errors, because those that
// are there by mistake go unnoticed in clients.
package acptest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed facts.txt
var table string

// Checker checks the lines of one agent. All methods may be called by any goroutine.
type Checker struct {
	shapes map[string]shape

	mu      sync.Mutex
	methods map[string]string // of the client's requests, by the text of the id
}

// New returns a Checker of a connection on which nothing was said yet.
func New() *Checker {
	return &Checker{shapes: parseTable(table), methods: map[string]string{}}
}

// Sent notes a line of the client, so that its answer can be checked. Lines that are no
// requests are ignored.
func (c *Checker) Sent(line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(line, &m) != nil || m.Method == "" || m.ID == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.methods[string(m.ID)] = m.Method
}

// answers names the shape of the answer to each request.
var answers = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse",
	"session/new": "NewSessionResponse", "session/load": "LoadSessionResponse", "session/resume": "ResumeSessionResponse",
	"session/list": "ListSessionsResponse", "session/delete": "DeleteSessionResponse", "session/close": "CloseSessionResponse",
	"session/set_mode": "SetSessionModeResponse", "session/set_config_option": "SetSessionConfigOptionResponse",
	"session/prompt": "PromptResponse",
}

// sends names the shape of the parameters of what an agent sends.
var sends = map[string]string{
	"session/update": "SessionNotification", "$/cancel_request": "CancelRequestNotification",
	"session/request_permission": "RequestPermissionRequest", "elicitation/create": "CreateElicitationRequest", "elicitation/complete": "CompleteElicitationNotification",
	"fs/read_text_file": "ReadTextFileRequest", "fs/write_text_file": "WriteTextFileRequest",
}

// Check returns why a line of the agent is not as the schema wants it, or nil.
func (c *Checker) Check(line []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("the line is no JSON object: %w", err)
	}
	if string(m["jsonrpc"]) != `"2.0"` {
		return fmt.Errorf(`"jsonrpc" is %s`, m["jsonrpc"])
	}
	if err := onlyMembers(m, "jsonrpc", "id", "method", "params", "result", "error"); err != nil {
		return err
	}
	if m["method"] != nil {
		return c.checkSent(m)
	}
	return c.checkAnswer(m)
}

func onlyMembers(m map[string]json.RawMessage, names ...string) error {
	for name := range m {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no member %q", name)
		}
	}
	return nil
}

// checkSent checks a request or a notification.
func (c *Checker) checkSent(m map[string]json.RawMessage) error {
	var method string
	if err := json.Unmarshal(m["method"], &method); err != nil {
		return err
	}
	shape, known := sends[method]
	if !known {
		return fmt.Errorf("an agent does not send %q", method)
	}
	if isRequest := !slices.Contains([]string{"session/update", "$/cancel_request", "elicitation/complete"}, method); isRequest != (m["id"] != nil) {
		return fmt.Errorf("%s: has an id: %v", method, m["id"] != nil)
	}
	if m["id"] != nil {
		if err := c.is("RequestId", m["id"]); err != nil {
			return fmt.Errorf("id: %w", err)
		}
	}
	if err := c.is(shape, m["params"]); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// checkAnswer checks the answer to a request.
func (c *Checker) checkAnswer(m map[string]json.RawMessage) error {
	switch {
	case m["id"] == nil:
		return fmt.Errorf("an answer without an id")
	case (m["result"] == nil) == (m["error"] == nil):
		return fmt.Errorf("an answer has either a result or an error")
	case m["error"] != nil:
		return c.is("Error", m["error"])
	}
	c.mu.Lock()
	method, asked := c.methods[string(m["id"])]
	c.mu.Unlock()
	if !asked {
		return fmt.Errorf("the answer with the id %s is to nothing that was asked", m["id"])
	}
	shape, known := answers[method]
	if !known {
		return fmt.Errorf("%s has no result", method)
	}
	if err := c.is(shape, m["result"]); err != nil {
		return fmt.Errorf("answer to %s: %w", method, err)
	}
	return nil
}

// is checks a JSON text against a shape of the table.
func (c *Checker) is(name string, text json.RawMessage) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return c.check(shape{kind: kindName, name: name}, v)
}

// check checks a decoded value.
func (c *Checker) check(s shape, v any) error {
	switch s.kind {
	case kindName:
		return c.checkName(s.name, v)
	case kindConst:
		if v != s.name {
			return fmt.Errorf("%v is not %q", v, s.name)
		}
		return nil
	case kindUnion:
		return c.checkUnion(s.of, v)
	case kindList:
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no list", v)
		}
		for i, each := range list {
			if err := c.check(s.of[0], each); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	case kindMap:
		return c.checkMap(s.of[0], v)
	}
	return c.checkObject(s, v)
}

// scalars tell whether a value is of a type that has no shape.
var scalars = map[string]func(v any) bool{
	"any":    func(any) bool { return true },
	"null":   func(v any) bool { return v == nil },
	"string": func(v any) bool { _, ok := v.(string); return ok },
	"text":   func(v any) bool { s, ok := v.(string); return ok && s != "" },
	"bool":   func(v any) bool { _, ok := v.(bool); return ok },
	"number": func(v any) bool { _, ok := v.(float64); return ok },
	"int":    func(v any) bool { n, ok := v.(float64); return ok && n == math.Trunc(n) },
	"uint":   func(v any) bool { n, ok := v.(float64); return ok && n == math.Trunc(n) && n >= 0 },
	"object": func(v any) bool { _, ok := v.(map[string]any); return ok },
}

func (c *Checker) checkName(name string, v any) error {
	if is := scalars[name]; is != nil {
		if !is(v) {
			return fmt.Errorf("%s is no %s", short(v), name)
		}
		return nil
	}
	s, known := c.shapes[name]
	if !known {
		panic("the table has no shape " + name)
	}
	if err := c.check(s, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkUnion checks a value that may have one of several shapes. The error is that of the
// shape that was meant, if one was.
func (c *Checker) checkUnion(of []shape, v any) error {
	var first, meant error
	for _, s := range of {
		err := c.check(s, v)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
		if s.isMeant(v) {
			meant = err
		}
	}
	if meant != nil {
		return meant
	}
	return fmt.Errorf("%s has none of %d shapes: %w", short(v), len(of), first)
}

func (c *Checker) checkMap(s shape, v any) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", short(v))
	}
	for name, each := range all {
		if err := c.check(s, each); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *Checker) checkObject(s shape, v any) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", short(v))
	}
	known := []string{"_meta"}
	for _, m := range s.members {
		known = append(known, m.name)
		value, there := all[m.name]
		switch {
		case !there && m.optional:
		case !there:
			return fmt.Errorf("%q is missing", m.name)
		default:
			if err := c.check(m.shape, value); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	for name := range all {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no member %q", name)
		}
	}
	return nil
}

func short(v any) string {
	text, _ := json.Marshal(v) // it was decoded from JSON
	if len(text) > 80 {
		return strings.ToValidUTF8(string(text[:80]), "") + "…"
	}
	return string(text)
}
