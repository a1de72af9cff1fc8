// Package trust knows which hook files there are, and which version of each is in
// force: what a user approved, or what was there before a tool could have changed it.
//
// [Places.Discover] finds the hooks. A [Guard] reads them once, so that the bytes that
// were judged are the bytes that run, and decides what may run of a project. It is told
// when tools begin and end ([Guard.OpenWindow], [Guard.CloseWindow]); what they could have changed
// is pending, and the version before it stays active until a user accepts the new
// one. It serves one chain of hooks, and may be used from any goroutine.
//
// From the bottom to the top, each file needs only those above it in this list:
//
//	places.go     where hooks are; listing.go: the Lua files of a folder
//	version.go    a file at one time; of auth.json the commands that print keys
//	data.go       what the store says; store.go: its files
//	mark.go       the windows of programs, and what the file of one says
//	home.go       how files are read and shown; look.go: which of them have to be;
//	              pending.go: what waits for a user
//	ledger.go     which version of each file is active
//	project.go    what of a project may run
//	state.go      all of that together, and what is written down of it
//	others.go     what programs beside this one and before it did
//	packages.go   packages and what is approved of them; team.go: those that a project names
//	servers.go    the files that name MCP servers; index.go: what is known of them
//	agents.go     the files that define agents
//	guard.go      the questions that are asked of it; discover.go: which hooks there
//	              are; modules.go: what a hook requires
//	judge.go      what to do about a change; window.go: tools begin and end
//	accept.go     a user approves, a damaged store too; draft.go: what was written beside
//	              the hooks becomes one
//	notices.go    what is told
//
// What is to outlive the program is in a [Store]. It lies in the agent directory,
// outside of every project:
//
//	trust.json       approvals per project and package, by absolute path and SHA-256; projects
//	                 that are never asked about; files that are pending; what was in
//	                 force when tools began to run, and the windows (see [Window])
//	trust/kept/      copies of files by their hash: the version that is active
//	                 while another one is pending, and what differences are shown from;
//	                 pruned when trust.json names them no more
//	trust/running-*  one for each run with tools, locked while its program lives, written in
//	                 place: whether tools are at work, and what they started (see mark.go)
//
// A file is pending when it was changed while tools could have done it. Its mark
// outlives the program, so that a restart approves nothing.
//
// What cannot be read, or is not what was written, is not trusted. A store is damaged if its
// own hash says so, or if there was one and it is gone. Then nothing is known of what was in
// force: [Store.Damaged] says so, and nothing counts until the user has decided. While a
// program has a window open, what it knows counts, whatever the file says, and is written back.
//
// [text.Scan] tells from the syntax tree what a Lua file requires and listens to,
// without running it; [Diff] makes files fit to be judged by eye.
package trust
