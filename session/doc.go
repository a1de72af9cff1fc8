// Package session keeps a conversation: what was said, in which order, on which
// branch, and what of it a model sees. What is said is of package message.
//
// A session is a file of lines. The first is a header; every other one is an
// [Entry] with an id and the id of its parent, so the entries form a tree. The
// leaf is the entry that the next one hangs on; after opening it is the last
// line. The way from the root to the leaf is the branch, and from the branch
// the context is built ([Session.Context]): messages, with what a compaction
// replaced left out and later edits applied. [ForModel] makes of it what is
// sent.
//
//	s := session.New(session.Options{Dir: root, Cwd: cwd})
//	s.AppendMessage(&message.Message{Role: message.RoleUser, …})
//	request := session.ForModel(s.Context())
//
// When a context becomes too long, package compaction says which part of it a summary can
// replace. The caller that makes the summary appends it as a compaction entry.
//
// [Session.MoveTo] goes on from another entry, in the same file;
// [Session.CopyPath] makes a session of its own of the way to one.
//
// Reading never changes a file. Writing only adds whole lines at its end, one
// write each, under a lock that only one process has ([Open], [OpenWait]);
// showing takes none ([Read]). Lines that another program adds without asking are read
// before the next write; a file that was removed, shortened or written anew is not
// added to. If writing fails for whatever reason, the entry is still part of the
// session, and the error is a *[SaveError].
//
// Inside, a loader makes entries of lines, a tree knows how they hang together, and a
// journal writes lines through a store, which is the open and locked file. A [Session]
// has one of each and the mutex that guards them.
//
// Entries and messages are immutable, keep the bytes they came from, and are
// decoded when they are first looked at: a large session opens about as fast
// as its file is read. Fields and entry types that nobody here knows survive.
package session
