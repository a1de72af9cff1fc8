// Package trust remembers what a person approved, and what waits for approval.
//
// A [Store] lies in the agent directory, outside of every project:
//
//	trust.json       approvals per project, by absolute path and SHA-256; projects
//	                 that are never asked about; files that are pending
//	trust/kept/      copies of files by their hash: the version that is in force
//	                 while another one is pending, and what differences are shown from;
//	                 pruned when no mark and no window refers to them
//	trust/window-*   the files as they were before tools ran (see [Window])
//
// A file is pending when it was changed while tools could have done it. Its mark
// outlives the program, so that a restart approves nothing.
//
// What cannot be read is not trusted: a damaged store approves nothing, and is
// put aside, not overwritten, by the next approval.
//
// [Scan] tells from the syntax tree what a Lua file requires and listens to,
// without running it; [Visible] and [Diff] make files fit to be judged by eye.
package trust
