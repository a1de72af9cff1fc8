// Package luahooks is the chain: it finds hook files, runs each in a Lua VM of
// its own, hands them the agent's events and carries out what they return.
//
// A [Chain] is an [agent.Listener]. Hooks stand in it in a fixed order (the
// agent directory's, the project's, the configured ones, those of the command
// line; within a directory by name), and each event passes them in that order.
// What a handler returns is read by the rule of the event, which stands with
// everything else about the event in one table (package event). Session data goes into
// Lua and back through package record.
//
//	chain.go      puts the parts together; roster: the hooks in their order; audience:
//	              whom it talks to. The rest of the chain is in
//	chain_*.go:   load, reload, watch: from bytes to a running VM, and again; walk,
//	              dispatch, tell, gate, updates, queue: an event's way along the
//	              handlers; closedgates: gates that nobody can be asked at; toolwatch,
//	              trust, approve: what tools change and what a person says to that (which
//	              version of a file is in force is known to package trust); providers:
//	              models of hooks; stats, enable, failed, log: what a person is told
//	hook.go       a file and the VM that runs it now
//
// What the Lua of a hook is given, pi and ctx, is package api; program: what that needs of
// the chain.
//
// A hook that fails never stops the agent: its error is reported with file and
// line, and the chain goes on, except for gates, where a failure blocks. A hook
// that does not stop is abandoned with its VM and gets a fresh one; the second
// time it is disabled, and its gates block until its file changes.
package luahooks
