// Package trust remembers what a person approved, and what waits for approval.
//
// A [Store] lies in the agent directory, outside of every project:
//
//	trust.json       approvals per project, by absolute path and SHA-256; projects
//	                 that are never asked about; files that are pending; what was in
//	                 force when tools began to run, and the windows (see [Window])
//	trust/copy       the same again: a store that is not byte for byte its copy, or
//	                 not what its own hash says, was written by somebody else
//	trust/kept/      copies of files by their hash: the version that is in force
//	                 while another one is pending, and what differences are shown from;
//	                 pruned when no mark and nothing known refers to them
//	trust/running-*  one for each window, locked while its program lives
//
// A file is pending when it was changed while tools could have done it. Its mark
// outlives the program, so that a restart approves nothing.
//
// What cannot be read, or is not what was written, is not trusted. A store that is
// damaged is that of its copy, and waits for the person. Where the copy does not
// help, nothing is known of what was in force: [Store.Doubt] says so, and nothing
// counts until the person has decided. While a program has a window open, what it
// knows counts, whatever the file says, and is written back.
//
// [Scan] tells from the syntax tree what a Lua file requires and listens to,
// without running it; [Visible] and [Diff] make files fit to be judged by eye.
package trust
