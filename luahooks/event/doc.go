// Package event is the one table of what hooks can listen to: the fields of each event,
// the keys of its result, how several hooks go together, how long they are waited for
// and which clock runs.
//
// A row of the table names each field and each key once, and says what it is. The same lines
// make the Lua table of an event ([Spec.Table]), look up a single field of it, read the result
// of a handler ([Spec.Merge]) and list fields and keys for `pi hooks events`, for errors, and for
// what is generated of them: the annotations for editors (stdlib/meta/events.lua and pi.on) and
// the guide. What a row needs of the VM and the hook comes from a [Source].
//
// A new event is a row in the file of its subject, a sample in the tests, and
//
//	go generate ./luahooks/event
//
//	table.go    the events in their order; spec.go: what a row is made of
//	payload.go  fields; result.go: keys of a result
//	session.go  starts, ends, switches; compact.go: compaction and the tree
//	prompt.go   runs and turns; drafts.go: entries that a result adds
//	model.go    requests, messages, models; tool.go: tools, commands of the user; server.go: MCP
package event

// First the annotations, then the guide, which is made from them.
//go:generate go test pi/e2e -run TestTheAnnotationsHaveTheEvents -update
//go:generate go test pi/e2e -run ReferenceOfTheGuide -update
