package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// treeFilter says which entries a tree shows: one of the words of treeFilters,
// "" being the first of them, or those with a text in them.
type treeFilter struct{ word, search string }

// treeFilters are the words, and what they show.
var treeFilters = [...][2]string{
	{"default", "what was said and done, without the results of tools"},
	{"no-tools", "also without the tools that were called"},
	{"user", "only what you sent"},
	{"labeled", "only what has a label"},
	{"all", "every entry of the session"},
}

// newTreeFilter parses what a user wrote behind /tree: the name of a filter, nothing for
// the default one, or else a text to search for.
func newTreeFilter(text string) treeFilter {
	if text == "" {
		return treeFilter{word: "default"}
	}
	for _, f := range treeFilters {
		if f[0] == text {
			return treeFilter{word: text}
		}
	}
	return treeFilter{search: strings.ToLower(text)}
}

// next is the filter behind this one; behind a text to search for comes the first.
func (f treeFilter) next() treeFilter {
	i := slices.IndexFunc(treeFilters[:], func(x [2]string) bool { return x[0] == f.word })
	return treeFilter{word: treeFilters[(i+1)%len(treeFilters)][0]}
}

// meaning says what the filter shows.
func (f treeFilter) meaning() string {
	for _, x := range treeFilters {
		if x[0] == f.word {
			return x[1]
		}
	}
	return fmt.Sprintf("what has %q in it", f.search)
}

// shows returns the line of an entry, and whether the filter shows it. label is the label
// of the entry, "" if it has none.
func (f treeFilter) shows(e *session.Entry, label string) (string, bool) {
	if f.search != "" {
		if e.Type == session.TypeLabel { // it is shown with the entry that it names
			return "", false
		}
		text, _ := entryText(e, true)
		all := label + "\n" + text
		if m := e.Message(); m != nil {
			all += "\n" + m.Text() + m.Summary + m.Command
		}
		return text, strings.Contains(strings.ToLower(all), f.search)
	}
	text, kind := entryText(e, f.word != "no-tools")
	switch f.word {
	case "all":
		return text, true
	case "labeled":
		return text, label != ""
	case "user":
		return text, kind == kindUser
	case "no-tools":
		return text, kind != kindOther && kind != kindCalls || label != ""
	}
	return text, kind != kindOther || label != ""
}

type entryKind uint8

const (
	kindOther entryKind = iota // results of tools, and what is no part of the talk
	kindUser
	kindSaid
	kindCalls // an answer that only calls tools
)

// entryText returns an entry as one line, and of which kind it is for the filters. calls
// says whether an answer is shown with its tool calls.
func entryText(e *session.Entry, calls bool) (string, entryKind) {
	m := e.Message()
	if m == nil {
		return otherText(e), kindOther
	}
	switch m.Role {
	case message.RoleUser:
		text := firstLine(m.Typed())
		if n := len(m.Content); text == "" && n > 0 {
			text = fmt.Sprintf("(%d attachments)", n)
		}
		return "user: " + text, kindUser
	case message.RoleAssistant:
		return answerText(m, calls)
	case message.RoleToolResult:
		if m.IsError {
			return "failed " + m.ToolName + ": " + firstLine(m.Text()), kindOther
		}
		return "result of " + m.ToolName + ": " + firstLine(m.Text()), kindOther
	case message.RoleBashExecution:
		return "command: " + firstLine(m.Command), kindSaid
	case message.RoleCustom:
		if !m.Display {
			return m.CustomType + ": " + firstLine(m.Text()), kindOther
		}
		return m.CustomType + ": " + firstLine(m.Text()), kindSaid
	case message.RoleCompactionSummary:
		return "compaction: " + summaryLine(m.Summary), kindSaid
	case message.RoleBranchSummary:
		return "branch summary: " + summaryLine(m.Summary), kindSaid
	}
	return string(m.Role) + ": " + firstLine(m.Text()), kindOther
}

// answerText is entryText for an answer of the model. One that only calls tools is of a
// kind of its own.
func answerText(m *message.Message, calls bool) (string, entryKind) {
	text, kind := firstLine(m.Text()), kindSaid
	var called []string
	for _, c := range m.ToolCalls() {
		var about struct{ Path, Command, Pattern, Query, URL string } // the arguments that say what a call is about
		_ = json.Unmarshal(c.Arguments, &about)                       // those that are something else tell nothing
		what := cmp.Or(about.Command, about.Path, about.Pattern, about.Query, about.URL)
		called = append(called, strings.TrimSpace(c.Name+" "+printable.Cut(firstLine(what), titleLength/2)))
	}
	if text == "" && len(called) > 0 {
		kind = kindCalls
	}
	if calls && len(called) > 0 {
		text = strings.TrimLeft(text+" · "+printable.Cut(strings.Join(called, ", "), titleLength), " ·")
	}
	if m.StopReason == message.StopError || m.StopReason == message.StopAborted {
		text = strings.TrimLeft(text+" ("+string(m.StopReason)+")", " ")
	}
	return "assistant: " + text, kind
}

// otherText returns an entry that is no message as one line: its type and the most telling
// of its values.
func otherText(e *session.Entry) string {
	if name, ok := e.OnGitBranch(); ok {
		return "git branch: " + firstLine(name)
	}
	var about struct {
		CustomType, ModelID, ThinkingLevel, Name, Label, TargetID, Kind string
	}
	_ = json.Unmarshal(e.Raw(), &about) // an entry that nobody can read has its type
	text := cmp.Or(about.CustomType, about.ModelID, about.ThinkingLevel, about.Name, about.Label, about.Kind, about.TargetID)
	return strings.TrimRight(firstLine(strings.ReplaceAll(e.Type, "_", " ")+": "+text), ": ")
}

// firstLine returns the first line of a text that is not empty, cut to titleLength.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Cut(strings.TrimSpace(line), titleLength)
}

// summaryLine returns the first line of a summary that is neither empty nor a heading; if
// there is none, simply its first line.
func summaryLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return printable.Cut(line, titleLength)
		}
	}
	return firstLine(text)
}
