// Package packages brings hooks from elsewhere: it finds out what a source means, fetches what is
// there, says what came, and keeps it in the agent directory. It runs nothing of a package.
//
//	source.go    [ParseSource]: what a user wrote, taken apart and checked
//	fetch.go     [Fetch]: the files that a source has now, and at which commit
//	git.go       how git is run; objects.go: files out of a repository without a checkout
//	folder.go    the files of a folder, and a single hook
//	tree.go      [Tree]: files with their names checked, and the sum over them
//	form.go      [New]: what of a package these files are; manifest.go: package.toml;
//	             plugin.go: a plugin of Claude Code
//	listing.go   [Package.List]: what a user is shown, file by file; changes.go: what differs
//	             from the version before
//	lock.go      packages.lock: where each package came from
//	store.go     [Store]: packages are put in place and removed, the old or the new one whole
//
// What was listed is what is copied: everything behind [New] works on the bytes of a [Tree],
// which is read once.
package packages
