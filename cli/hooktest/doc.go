// Package hooktest runs the tests of hooks: pi test, and the module pi.test of a test file.
//
// A test file is Lua, run once in a VM of its own; it calls t.case for each case that it
// has. A case is a function. What it does is done to a real run of the program
// ([app.TestRun]): the same chain, VMs, agent and session as always. Five things are
// others than usual: the model answers from a script, the user from a table or a function, MCP servers
// are played, the clock can be set forward, and home and project are folders that were made for the case.
//
//	runner.go   [Run]: files side by side, each with its cases in order; watch.go: again
//	            after each save
//	file.go     a test file: its VM, its cases, the modules that it requires
//	stage.go    what a case has: folders, settings, hooks, and the run that is opened when
//	            it is needed
//	copies.go   the hooks of a case are copies, so that it can edit them
//	scene.go    a case while it runs; env.go: the modules that a test itself requires
//	settings.go config.toml from a Lua table
//	script.go   the model, what it answers, and what it is sent
//	servers.go  MCP servers, what they answer, and what they are called with; agents.go:
//	            agents that hooks use, likewise
//	web.go      servers that hooks reach by an address, and the browser
//	user.go     the user, what they say, and what hooks draw for them
//	clock.go    the time, also as the test itself sees it
//	recorder.go events as hooks get them
//	isolate.go  nothing of the machine is seen, and nothing is left running
//	witness.go  what happened: calls, events, notices
//	module.go   pi.test: its functions; module_user.go: those that do what a user
//	            does; module_mcp.go and module_agents.go: those that
//	            play servers and agents
//	check.go    the checks; value.go: Lua values as text
//	report.go   results for people and for programs
//
// A check that fails ends the case, also where the test catches errors. A case fails too if a
// hook asks a model more often than the script has steps, or a user who has no answer.
package hooktest
