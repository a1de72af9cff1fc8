// Package event is the one table of what hooks can listen to: the fields of each event,
// the keys of its result, how several hooks go together, how long they are waited for
// and which clock runs.
//
// A [Spec] makes the Lua table of an event ([Spec.Table]) and reads what a handler
// returned (Merge), with a [Source]: what is known of the VM and the hook. The list that
// `pi hooks events` prints, the checks of the documentation and the chain are made from
// the same rows, so they cannot disagree. A new event is a row in the file of its subject
// and a sample in the tests.
//
//	table.go    what a row is made of
//	session.go  starts, ends, switches; compact.go: compaction and the tree
//	prompt.go   runs and turns; drafts.go: entries that a result adds
//	model.go    requests, messages, models; tool.go: tools, commands of the person
package event
