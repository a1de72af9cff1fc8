package replay

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"pi/internal/printable"
)

// Kinds of an [Effect].
const (
	Blocked = "blocked" // the call or command would not have run
	Changed = "changed" // it would have been another one
	Added   = "added"   // text beside the result
	Handled = "handled" // the hook would have answered in its place
	Asked   = "asked"   // a question to the user, which got the answer of somebody who leaves it
	Raised  = "raised"  // the hook failed, and where it is a gate, blocked by that
)

// Effect is one thing that a hook did at an event.
type Effect struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	// Blocks is true for an error because of which the call or command would not have run.
	Blocks bool `json:"blocks,omitempty"`
}

// Finding is what a hook did at one event of a recording.
type Finding struct {
	Session string   `json:"session"`
	File    string   `json:"file,omitempty"`
	Entry   string   `json:"entry,omitempty"` // "" at the start of the session
	Time    string   `json:"time"`            // of the entry, ISO 8601
	Event   string   `json:"event"`
	Tool    string   `json:"tool,omitempty"`
	Call    string   `json:"call,omitempty"`
	About   string   `json:"about,omitempty"` // which call or prompt: its command, path or text
	Effects []Effect `json:"effects"`

	number int             // of the event in its session
	input  json.RawMessage // of a tool call, which About is made of
}

// How much of a text stands in a line.
const (
	aboutShown   = 60
	effectShown  = 200
	sessionShown = 13 // of an id that begins with a time, all of that
)

// Line is the finding as one line for a user.
func (f *Finding) Line() string { return f.Place() + ": " + f.Did() }

// Place says where in the recording the event is, and which it is.
func (f *Finding) Place() string {
	words := []string{f.Session[:min(len(f.Session), sessionShown)], f.Entry, localTime(f.Time), f.Event}
	if f.Entry == "" {
		words[1] = "-"
	}
	if f.Tool != "" {
		words = append(words, f.Tool)
	}
	if f.About != "" {
		words = append(words, strconv.Quote(printable.FirstLine(strings.TrimSpace(f.About), aboutShown)))
	}
	return printable.VisibleLine(strings.Join(words, "  "))
}

// Did says what the hook did.
func (f *Finding) Did() string {
	var parts []string
	for _, e := range f.Effects {
		text := e.Kind
		if e.Blocks {
			text = "blocked by an error"
		}
		if e.Text != "" {
			text += ": " + e.Text
		}
		parts = append(parts, printable.Cut(printable.VisibleLine(text), effectShown))
	}
	return strings.Join(parts, "; ")
}

// localTime is the time of an entry for a user.
func localTime(iso string) string {
	t, err := time.Parse(time.RFC3339, iso)
	if err != nil {
		return iso
	}
	return t.Local().Format("2006-01-02 15:04")
}
