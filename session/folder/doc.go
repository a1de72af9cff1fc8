// Package folder knows the sessions that lie below a folder: it lists, describes, finds
// and removes them.
//
// Everything derives from the files; there is no index. [Scan] yields them as they are
// read, those written last first, and [Latest] finds the one to go on with. Where a session was started is what its header says, never the name of its
// folder. [Find] takes the beginning of an id, [Describe] a path.
//
// A session that is removed goes to the [Trash] of the user, or is gone for good
// ([Delete]); one that a process has open stays.
package folder
