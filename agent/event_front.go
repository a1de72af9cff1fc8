package agent

import (
	"pi/session"
	"pi/session/message"
)

// EntryAppended tells front ends of an entry that has come into the session, after it is
// in, on the goroutine that appended it. Hooks do not get it.
type EntryAppended struct {
	Entry   *session.Entry
	Message *message.Message // what the entry says, if that is a message, a custom one too; else nil
}

// QueueChanged tells front ends which texts of people and programs wait in the queues:
// both whole, after each change, and before the entry of a message that was delivered.
// What hooks sent is not among them. Hooks do not get it.
type QueueChanged struct{ Steering, FollowUp []string }

// Kind is KindEntryAppended.
func (*EntryAppended) Kind() Kind { return KindEntryAppended }

// Kind is KindQueueChanged.
func (*QueueChanged) Kind() Kind { return KindQueueChanged }
