package agent

import (
	"strings"

	"pi/session/message"
)

// Prompt is what a person, a program or a hook asks. Front ends run it as a
// command if its text begins with a slash, unless it is Literal or Custom is set.
type Prompt struct {
	Text        string
	Attachments []message.Block
	Source      string // interactive print json rpc acp hook
	Origin      Origin // its cause; see brake

	// Custom is a custom message that triggers the run, instead of text: no user
	// entry is written, and the input event does not come.
	Custom  *message.Message
	Literal bool // never a command, whatever it begins with
	// Accepted, if set, is called once, when the prompt is past everything that can refuse
	// it: Started before the event agent_start of its run, Handled if a listener took it.
	// A prompt that is refused never gets there; the error says why.
	Accepted func(Disposition)
	Expand   bool // a hook wants a command in it run, as if it had been typed; never with Literal

	compact bool // no prompt: a compaction that somebody asked for waits for its turn
}

// queued is a message that waits for its place in a run.
type queued struct {
	Prompt
	asked  bool // the listeners to input were; else they are when it is delivered
	number int  // in the order in which all were queued
}

// Queue says when a message that comes while the agent works is delivered.
type Queue uint8

const (
	// Steer: after the running tools, before the next model call.
	Steer Queue = iota
	// FollowUp: when the agent would stop otherwise.
	FollowUp
)

// String is the name the input event uses.
func (q Queue) String() string {
	if q == Steer {
		return "steer"
	}
	return "follow_up"
}

// isTyped reports whether m can be sent again from its text alone.
func (m queued) isTyped() bool {
	switch m.Source {
	case "hook":
		return false
	case "interactive":
		return m.Text != ""
	}
	return m.Custom == nil && len(m.Attachments) == 0
}

func (p Prompt) isEmpty() bool {
	return p.Custom == nil && strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0
}

// isCommand reports whether a front end would run p as a command.
func (p Prompt) isCommand() bool {
	return !p.Literal && p.Custom == nil && IsCommandLine(p.Text)
}

// IsCommandLine reports whether the first word of a text could be a command: a slash
// and a name. A path or the beginning of a traceback has another slash, or a dot.
func IsCommandLine(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if i := strings.IndexAny(word, "\t\r\n"); i >= 0 {
		word = word[:i]
	}
	name, ok := strings.CutPrefix(word, "/")
	return ok && name != "" && !strings.ContainsAny(name, "/.")
}

// batchOrigin returns the origin that counts for messages delivered together: the first
// that is not a hook on its own, else that of the first message.
func batchOrigin(messages []queued) Origin {
	for _, m := range messages {
		if m.Origin.Kind != FromHook {
			return m.Origin
		}
	}
	return messages[0].Origin
}

// Disposition is what became of a prompt that was accepted.
type Disposition string

const (
	Started Disposition = "started" // a run works on it
	Queued  Disposition = "queued"  // it waits in a queue
	Handled Disposition = "handled" // a listener or a command did it
)
