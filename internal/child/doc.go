// Package child runs programs beside this one: their output is read piece by piece, no
// faster than somebody takes it, so that a program that writes too fast is stopped by its
// pipe and nothing is stored without end.
//
//	Run        starts a program, waits for it, and returns what it wrote
//	Start      starts a program; the Child is what runs
//	Child      writes to it, sends it signals, ends it and tells how it ended
//	Stream     one output of a child, handed over line by line or as it comes
//	Kept       children by name, which wait for another owner when theirs has ended
//
// A Child has to be closed, or its streams read to their end. A program leads a session of
// its own and so has no terminal, neither to read from nor to ask at. Everything may be
// called from any goroutine.
package child
