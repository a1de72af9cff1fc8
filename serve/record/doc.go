// Package record is what the front ends for programs write: the records of RPC and JSON
// mode, which are the protocol of the original pi, and the JSON of what stands in them.
//
// A [Translator] makes records of the events of an agent. It is a state machine without a
// clock and without I/O: the same events give the same records, and what it remembers is
// only what the order of the records needs. It is made for one agent and fed by its
// listener, one event at a time:
//
//	t := record.NewTranslator(func(record []byte) { _ = out.WriteJSON(record) })
//	func (f *front) Wants(k agent.Kind) bool { return t.Wants(k) }
//	func (f *front) Handle(_ context.Context, e agent.Event) error { t.Handle(e); return nil }
//
// Calls must not overlap, and whatever else is written between the records goes through
// the same lock as Handle, so that it stands where it happened.
//
// What an agent does and what the records say differ in a few ways:
//
//   - A run of the agent is one or several low-level runs, each with its own agent_start
//     and agent_end: an attempt that failed and is made again, and a request that did not
//     fit, end one (again.go).
//   - turn_start waits for the next record that is not one of a compaction, so that a
//     compaction in front of a request stands between the turns. Hooks get the event before
//     the context is made.
//   - A turn is one answer with its calls. Where a hook stopped an answer and the model is
//     asked again, there are two.
//   - Blocks of an answer have a start and an end (answer.go), its end is when it is stored,
//     and the results of its calls are messages directly before turn_end.
//
// [Message], [Entry], [Model] and the other functions return the JSON of what records and
// answers to commands have in common. All JSON that leaves the package is one line of valid
// UTF-8, with the separators of Unicode escaped and <, > and & as they are. Fields have the
// order that the protocol shows, with the type first.
package record
