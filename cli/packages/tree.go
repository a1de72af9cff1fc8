package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pi/internal/printable"
)

// What a package may have, so that a user can judge it.
const (
	maxFiles   = 500
	maxFolders = 1_000
	maxFile    = 1 << 20 // bytes of one
	maxBytes   = 8 << 20 // bytes of all
	maxName    = 400     // bytes of the path of one
)

// TreeFile is one file of a package.
type TreeFile struct {
	Path       string // in the package, with slashes
	Code       []byte
	Executable bool
}

// Sum is the hash of the bytes of a file.
func (f TreeFile) Sum() string {
	sum := sha256.Sum256(f.Code)
	return hex.EncodeToString(sum[:])
}

// Tree is the files of a package in the order of their paths, which are all checked: no two of
// them would be one file on any system, and none lies outside or is a name that git or a system
// has for itself.
type Tree struct{ files []TreeFile }

// Files lists the files. The caller changes nothing in them.
func (t Tree) Files() []TreeFile { return t.files }

// Sums are the hashes of the files, by their paths.
func (t Tree) Sums() map[string]string {
	sums := map[string]string{}
	for _, f := range t.files {
		sums[f.Path] = f.Sum()
	}
	return sums
}

// Find returns the file with a path.
func (t Tree) Find(path string) (TreeFile, bool) {
	i, ok := slices.BinarySearchFunc(t.files, path, func(f TreeFile, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return TreeFile{}, false
	}
	return t.files[i], true
}

// Below lists the files below a folder.
func (t Tree) Below(dir string) (files []TreeFile) {
	for _, f := range t.files {
		if strings.HasPrefix(f.Path, dir+"/") {
			files = append(files, f)
		}
	}
	return files
}

// Sum is one hash over the name of a package and all that it has: what was shown under it is what
// is copied.
func (t Tree) Sum(name string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, "package "+name+"\n")
	for _, f := range t.files {
		mode := "-"
		if f.Executable {
			mode = "x"
		}
		_, _ = fmt.Fprintf(h, "%s %s %s\n", f.Sum(), mode, f.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// builder makes a [Tree] of files that come one after the other, and refuses the whole with the first
// that a package must not have.
type builder struct {
	files []TreeFile
	names map[string]named // folded, so that names that some system takes for one meet
	bytes int64
	dirs  int
}

// named is a file or folder that came already.
type named struct {
	path  string
	isDir bool
}

func newBuilder() *builder { return &builder{names: map[string]named{}} }

// announce checks a file before its bytes are read.
func (b *builder) announce(name string, size int64) error {
	if err := checkPath(name); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := b.take(dir, true); err != nil {
			return err
		}
	}
	if err := b.take(name, false); err != nil {
		return err
	}
	b.bytes += size
	shown := printable.VisibleLine(name)
	switch {
	case size > maxFile:
		return fmt.Errorf("%s has %s, and a file of a package at most %s", shown, printable.Size(size), printable.Bytes(maxFile))
	case b.bytes > maxBytes:
		return fmt.Errorf("a package has at most %s, and %s makes it more", printable.Bytes(maxBytes), shown)
	}
	return nil
}

// take notes the name of a file or folder.
func (b *builder) take(name string, isDir bool) error {
	key := fold(name)
	was, known := b.names[key]
	switch {
	case !known:
		b.names[key] = named{name, isDir}
		if isDir {
			b.dirs++
		}
	case was.path == name && was.isDir && isDir:
		return nil
	case was.path == name:
		return fmt.Errorf("%s is there twice", printable.VisibleLine(name))
	default:
		return fmt.Errorf("%s and %s are one name where systems make no difference between capitals", printable.VisibleLine(was.path), printable.VisibleLine(name))
	}
	switch {
	case len(b.names)-b.dirs > maxFiles:
		return fmt.Errorf("a package has at most %d files, and %s is one more", maxFiles, printable.VisibleLine(name))
	case b.dirs > maxFolders:
		return fmt.Errorf("a package has at most %d folders, and %s is one more", maxFolders, printable.VisibleLine(name))
	}
	return nil
}

// add adds a file that was announced.
func (b *builder) add(f TreeFile) { b.files = append(b.files, f) }

// tree returns what was added.
func (b *builder) tree() Tree {
	slices.SortFunc(b.files, func(x, y TreeFile) int { return strings.Compare(x.Path, y.Path) })
	return Tree{b.files}
}

// newTree makes a tree of files that the program has put together itself.
func newTree(files []TreeFile) (Tree, error) {
	b := newBuilder()
	for _, f := range files {
		if err := b.announce(f.Path, int64(len(f.Code))); err != nil {
			return Tree{}, err
		}
		b.add(f)
	}
	return b.tree(), nil
}

// fold makes the names equal that some system takes for one: those that differ by capitals, or by how an
// accent is written.
func fold(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

// checkPath returns why a file of a package must not have a path. The message has the name.
func checkPath(name string) error {
	bad := func(why string) error {
		return fmt.Errorf("the name %s %s", printable.Short(printable.VisibleLine(name)), why)
	}
	switch {
	case name == "" || name[0] == '/':
		return bad("leads out of the package")
	case len(name) > maxName:
		return bad(fmt.Sprintf("has more than %d bytes", maxName))
	case !utf8.ValidString(name) || printable.VisibleLine(name) != name:
		return bad("has characters that cannot be seen")
	case strings.ContainsAny(name, `\:*?"<>|`):
		return bad(`has one of \ : * ? " < > |, which are no part of a name everywhere`)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "." || part == ".." || part == "":
			return bad("leads out of the package")
		case isGit(part):
			return bad("is one that git has for itself")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
			return bad("begins or ends with what some systems drop")
		case isDevice(part):
			return bad("is that of a device on some systems")
		case len(part) > 200:
			return bad("has a part of more than 200 bytes")
		}
	}
	return nil
}

// isGit reports whether a name is that of the folder of a repository, also as file systems write it
// that know short names.
func isGit(part string) bool {
	lower := strings.ToLower(part)
	return lower == ".git" || strings.HasPrefix(lower, "git~") || lower == ".gitmodules"
}

// device matches the names of devices of Windows, whatever ends them.
var device = regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)

func isDevice(part string) bool { return device.MatchString(part) }

// errLink and its like are what refuses a file, whatever it has in it.
var (
	errLink      = errors.New("is a link, and a package has none")
	errSubmodule = errors.New("is a submodule, and a package has none")
	errOddFile   = errors.New("is neither a file nor a folder")
)
