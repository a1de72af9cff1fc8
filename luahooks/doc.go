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
//	chain.go      the list of hooks; Wants and Handle
//	walk.go       an event's way along the handlers
//	dispatch.go   one handler asked and its answer carried out; errors
//	gate.go       tool calls and commands of the person; shut.go: gates that
//	              nobody can be asked at
//	tell.go       events that only report, with queue.go; updates.go: streams
//	emit.go       events of hooks for each other
//	stats.go      what handlers did; enable.go: off, on, traced
//	hook.go       a file and the VM that runs it now
//	load.go       from bytes to a running VM; require.go: its modules
//	chain_trust.go which hooks of a project may run; chain_approve.go: what a person
//	              says to changes; toolwatch.go: when tools are at work. Which version
//	              of a file is in force is known to package trust
//	reload.go     saving a file takes effect; watch.go tells when
//	api.go        the global pi; command.go, shortcut.go, flag.go, tool.go,
//	              toolset.go, override.go, renderer.go: what hooks register;
//	              send.go, exec.go: what they do
//	context.go    ctx; model.go, entry.go, sessionview.go, signal.go; switching.go:
//	              what only commands may do
//	ui.go         ctx.ui; component.go, theme.go
//	llm.go        pi.llm; env.go: what other modules get
//
// A hook that fails never stops the agent: its error is reported with file and
// line, and the chain goes on, except for gates, where a failure blocks. A hook
// that does not stop is abandoned with its VM and gets a fresh one; the second
// time it is disabled, and its gates block until its file changes.
package luahooks
