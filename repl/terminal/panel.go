package terminal

// Panel is something that takes the place of the line for a while and has the keys: a
// picker, a dialog. Its methods are called by one goroutine at a time and do not wait.
type Panel interface {
	// Key gives the panel a key. It reports false for one that it has no use for.
	Key(k Key) (used bool)

	// Render returns at most height rows, none wider than width cells, and where among
	// them the cursor is, both counted from 0. A cursorRow of -1 hides it. Both measures
	// are at least 1.
	Render(width, height int) (rows []string, cursorRow, cursorColumn int)

	// Done reports whether the person has answered or gone away.
	Done() bool
}
