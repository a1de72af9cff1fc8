// Package luahooks is the chain: it finds hook files, runs each in a Lua VM of
// its own, hands them the agent's events and carries out what they return.
//
// A [Chain] is an [agent.Listener]. Hooks are in it in a fixed order (the
// agent directory's, the project's, the configured ones, those of the command
// line; within a directory by name), and each event passes them in that order.
// What a handler returns is read by the rule of the event, which is with everything
// else about the event in one table (package event). Session data goes into
// Lua and back through package record.
//
// The parts of a chain stand on each other, and their methods are its own:
//
//	roster      the hooks in their order, what a hook is, who listens, what each registered
//	            (registered), and gates that stay closed because nobody can be asked (gate)
//	audience    whom the chain talks to, the dialogs, what a user is told of hooks (info)
//	dispatcher  an event's way along handlers: dispatch; gate, emit and streamer are the ways of
//	            those kinds of events
//	loader      from a file to a running VM (instance), and again (reload, watcher); it puts in
//	            force what hooks registered (toolbox, providers)
//
// Beside them edits tells what tools change (toolwatch), and what a user answers about it;
// projectapproval: whether hooks of the project run. Which version of a file is in force is
// known to package trust.
//
// What the Lua of a hook is given, pi and ctx, is package api; what that needs of
// the chain is an api.Program (instance).
//
// A hook that fails never stops the agent: its error is reported with file and
// line, and the chain continues, except for gates, where a failure blocks. A hook
// that does not stop is abandoned with its VM and gets a fresh one; the second
// time it is disabled, and its gates block until its file changes.
package luahooks
