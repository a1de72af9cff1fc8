package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/tool"
	"pi/internal/printable"
	"pi/session/rawjson"
)

// titleOfCall is how many characters the title of a call has at most.
const titleOfCall = 160

// view returns how a call is shown: what it is, where it happens, and what the model sent.
func (s *session) view(name string, input json.RawMessage) toolCall {
	c := toolCall{Title: callTitle(name, input), Name: name, Kind: s.kind(name)}
	if c.Name == "" {
		c.Name = "tool"
	}
	if len(input) > 0 && rawjson.Valid(input) {
		c.RawInput = input
		c.Locations = locations(s.cwd, name, input)
	}
	return c
}

// builtin are the kinds of the program's own tools.
func builtin(name string) string {
	switch name {
	case "read", "ls":
		return "read"
	case "bash":
		return "execute"
	case "edit", "write":
		return "edit"
	case "grep", "find":
		return "search"
	}
	return ""
}

// kind returns what sort of thing a tool does.
func (s *session) kind(name string) string {
	if kind := builtin(name); kind != "" {
		return kind
	}
	for _, t := range s.agent().Tools() {
		if t.Spec().Name != name {
			continue
		}
		switch says := agent.AnnotationsOf(t); {
		case slices.Contains(agent.ToolKinds(), says.Kind):
			return says.Kind
		case says.ReadOnly:
			return "read"
		}
	}
	return "other"
}

// callTitle returns a line that says what a call does: of bash the command, of other tools
// the name and what matters most of the arguments, paths in backquotes.
func callTitle(name string, input json.RawMessage) string {
	title, detail := printable.Line(name), callDetail(name, input)
	switch detail = printable.Line(cut(detail, 4096)); {
	case name == "bash" && detail != "":
		title = detail
	case detail != "":
		title = strings.TrimSpace(title + " " + detail)
	case title == "":
		title = "tool"
	}
	return printable.Cut(title, titleOfCall)
}

// callDetail returns what matters most of the arguments of a call.
func callDetail(name string, input json.RawMessage) string {
	f, err := parseFields(input)
	if err != nil {
		return ""
	}
	argument := func(name string) string { text, _ := f.text(name); return text }
	path := argument("path")
	if line := rawjson.Number(f["offset"]); name == "read" && line > 0 {
		path = fmt.Sprintf("%s:%d", path, int(line))
	}
	if path != "" {
		path = "`" + path + "`"
	}
	switch name {
	case "bash":
		return argument("command")
	case "read", "edit", "write", "ls":
		return path
	case "grep", "find":
		return strings.TrimSpace(argument("pattern") + " " + path)
	}
	if len(f) == 0 {
		return ""
	}
	return string(input)
}

// locations returns which file a call is about, as far as its arguments say so.
func locations(cwd, name string, input json.RawMessage) []location {
	if builtin(name) == "" || name == "bash" {
		return nil
	}
	f, err := parseFields(input)
	if err != nil {
		return nil
	}
	argument, ok := f.text("path")
	if !ok || argument == "" {
		if name == "read" || name == "edit" || name == "write" {
			return nil
		}
		argument = "."
	}
	path, err := tool.Absolute(cwd, argument)
	if err != nil {
		return nil
	}
	at := location{Path: filepath.Clean(path)}
	if name == "read" {
		at.Line = max(0, int(rawjson.Number(f["offset"])))
	}
	return []location{at}
}
