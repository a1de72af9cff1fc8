package agent

import (
	"strings"

	"pi/session/message"
)

// Prompt is what a user, a program or a hook asks. Front ends run it as a
// command if its text begins with a slash, unless it is Literal or Custom is set.
type Prompt struct {
	Text        string
	Attachments []message.Block
	Source      string // interactive print json rpc acp hook
	Origin      Origin // its cause

	// Custom is a custom message that triggers the run, instead of text: no user
	// entry is written, and the input event does not come.
	Custom  *message.Message
	Literal bool // never a command, whatever it begins with
	Expand  bool // a hook wants a command in it run, as if it had been typed; never with Literal

	// Accepted, if set, is called once, when the prompt is past everything that can refuse
	// it: Started right before the event agent_start of its run, Handled if a listener took
	// it. A prompt that is refused never gets there; the error says why. With Accepted the
	// money left and the key of the model are looked for before anything is written, and an
	// interrupt before Started refuses the prompt and takes it back out of the conversation.
	// [Agent.Enqueue] does not call it.
	Accepted func(Disposition)

	// Where no run delivers what is queued, [Agent.Enqueue] refuses a prompt, unless one of
	// these is set. InPreflight queues it also while another prompt is not accepted yet; if
	// that one starts no run, this one is handed to the front end. WhileIdle queues it in
	// any case, for the next prompt.
	InPreflight, WhileIdle bool

	compact bool // no prompt: a compaction that somebody asked for waits for its turn
	asked   bool // the listeners to input were
}

// queued is a message that waits for its place in a run.
type queued struct {
	Prompt
	number int // in the order in which all were queued
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

// isText reports whether p is a text of a user or a program, which front ends are told
// of while it is queued.
func (p Prompt) isText() bool { return p.Custom == nil && p.Source != "hook" }

// accept tells whoever wants to know what becomes of p.
func (p Prompt) accept(d Disposition) {
	if p.Accepted != nil {
		p.Accepted(d)
	}
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
