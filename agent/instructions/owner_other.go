//go:build !unix

package instructions

// foreign is not told from the mode of a file there; who may write above a project
// is not everybody either.
func foreign(string) bool { return false }
