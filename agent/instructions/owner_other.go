//go:build !unix

package instructions

// foreign is always false on this system: the owner of a file is not known here, and not
// everybody may write into the directories above a project.
func foreign(string) bool { return false }
