package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/internal/printable"
	"pi/session/message"
)

// Files are the text files of a front end, such as an editor with buffers that nobody has
// saved yet. read, write and edit use them for text below the working directory, in place
// of the disk. Images, other binary files and whatever is elsewhere are the disk's.
//
// A nil function is one that the front end does not have: then the disk does that part,
// and edit, which needs both, uses the disk. Paths are absolute and clean, and lead into
// [Options.Cwd] as that is spelled. An error fails the call. What is written is compared with
// the disk behind it: editors lose or change the ends of lines and of the text, which is put
// right there; anything else that differs fails the call. Both may be called at once, and
// honour ctx.
type Files struct {
	// Read returns the whole text of a file.
	Read func(ctx context.Context, path string) (string, error)
	// Write replaces the whole text of a file, or makes the file.
	Write func(ctx context.Context, path, text string) error
	// Except are files and directories, absolute, that are the disk's too.
	Except []string
}

// textFile is where the text of a file is read and replaced: a place on the disk, or
// a file of the front end.
type textFile interface {
	load(ctx context.Context) ([]byte, error)
	// replace gives the file another text. The note tells the model what it should know of
	// that; "" for nothing.
	replace(ctx context.Context, content []byte) (note string, err error)
}

// frontFile is a file of the front end.
type frontFile struct {
	disk  location
	files Files
	path  string // as the front end knows it
}

// load returns the text of the file. It fails if that is larger than maxEdit, or binary. The
// ends of lines are those of the disk, and of the text too where nothing else differs: editors
// hand out LF for CR LF, and would have to be put right when they save CR LF again.
func (f frontFile) load(ctx context.Context) ([]byte, error) {
	text, err := f.files.Read(ctx, f.path)
	if err != nil {
		return nil, fmt.Errorf("the client could not read it: %w", err)
	}
	saved, err := f.disk.load(ctx)
	switch {
	case err != nil:
	case isSameButEnds([]byte(text), saved):
		return saved, nil
	case hasCRLF(saved) && !strings.Contains(text, "\r"): // with changes that are not saved
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), checkText([]byte(text))
}

// hasCRLF reports whether the lines of a text all end in CR LF.
func hasCRLF(text []byte) bool {
	lines := bytes.Count(text, []byte("\n"))
	return lines > 0 && lines == bytes.Count(text, []byte("\r\n"))
}

// replace has the front end write the file, and looks at what is on the disk then.
func (f frontFile) replace(ctx context.Context, content []byte) (note string, err error) {
	if err := f.files.Write(ctx, f.path, string(content)); err != nil {
		return "", fmt.Errorf("the client could not write it: %w; nothing was written to the disk", err)
	}
	written, err := f.disk.readMost(ctx, 2*int64(len(content))+maxEdit)
	switch {
	case err != nil:
		return "", fmt.Errorf("the client was to write it, %s, but the disk has no such file: %w", size(int64(len(content))), err)
	case bytes.Equal(written, content):
		return "", nil
	case !isSameButEnds(written, content):
		return "", fmt.Errorf("the client was to write %s, but the file on the disk has %s of another text: use read to see it",
			size(int64(len(content))), size(int64(len(written))))
	}
	if _, err := f.disk.replace(ctx, content); err != nil {
		return "", fmt.Errorf("the client changed the ends of lines, which could not be put right: %w", err)
	}
	return "\n[the client had changed the ends of lines or of the text; that is put right on the disk]", nil
}

// isSameButEnds reports whether texts differ in nothing but CR LF instead of LF, and empty
// rows or a newline at the very end.
func isSameButEnds(a, b []byte) bool {
	bare := func(text []byte) []byte {
		return bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n")
	}
	return bytes.Equal(bare(a), bare(b))
}

// reader returns the file at p as the front end has it; ok is false if the disk has it.
func (k *kit) reader(p location) (f frontFile, ok bool) {
	path, ok := k.frontPath(p)
	return frontFile{p, k.Files, path}, ok && k.Files.Read != nil && !p.isBinary()
}

// writer returns the file at p as the front end writes it; ok is false if the disk does.
func (k *kit) writer(p location) (f frontFile, ok bool) {
	path, ok := k.frontPath(p)
	return frontFile{p, k.Files, path}, ok && k.Files.Write != nil
}

// frontPath returns the path by which the front end knows the file at p; ok is false for
// what is the disk's.
func (k *kit) frontPath(p location) (path string, ok bool) {
	if k.Files.Read == nil && k.Files.Write == nil {
		return "", false
	}
	root, err := realPath(k.Cwd)
	if err != nil {
		return "", false
	}
	rel, ok := below(root, p.real)
	if !ok {
		return "", false
	}
	for _, dir := range k.Files.Except {
		real, err := realPath(dir)
		if _, in := below(real, p.real); in || err != nil {
			return "", false
		}
	}
	return filepath.Join(k.Cwd, rel), true
}

// isBinary reports whether there is a file on the disk that is no text, such as an image.
func (p location) isBinary() bool {
	f, err := p.open()
	if err != nil {
		return false
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, sniffLength))
	return err == nil && (message.ImageType(start) != "" || binaryType(start) != "")
}

// checkText fails for content that is larger than edit takes, or no text.
func checkText(data []byte) error {
	if len(data) > maxEdit {
		return fmt.Errorf("the file is larger than %s; use bash with sed or a script", size(maxEdit))
	}
	if kind := binaryType(data[:min(len(data), sniffLength)]); kind != "" {
		return fmt.Errorf("it is a binary file (%s); use bash with a program made for it", kind)
	}
	return nil
}

// stateOf is the state of a file that has this content now.
func stateOf(content []byte) fileState {
	return fileState{size: int64(len(content)), sum: sha256.Sum256(content)}
}

// unsaved returns the text of a file that is not on the disk, if the front end has one that
// is not empty: many make an empty buffer for a path that they do not know.
func (k *kit) unsaved(ctx context.Context, p location) (text []byte, ok bool) {
	f, ok := k.reader(p)
	if !ok {
		return nil, false
	}
	text, err := f.load(ctx)
	return text, err == nil && len(text) > 0
}

// present is a file as it is before write replaces it.
type present struct {
	exists bool
	text   *string // what it says; nil if there is none, or none that can be shown
}

// maxShown is how much of a file that write replaces is kept for front ends.
const maxShown = 4 << 20

// look finds out what is at p. It fails if that is not as the model knows it, or is no
// file. The caller has the lock of the file.
func (k *kit) look(ctx context.Context, p location) (present, error) {
	info, err := p.stat()
	if errors.Is(err, fs.ErrNotExist) {
		text, ok := k.unsaved(ctx, p)
		if !ok {
			return present{}, nil
		}
		return k.lookAtText(p, text)
	}
	if err != nil {
		return present{}, nil // whoever writes it says why that is not possible
	}
	if !info.Mode().IsRegular() {
		return present{}, fmt.Errorf("it is %s, not a regular file", kindOf(info.Mode()))
	}
	if f, ok := k.reader(p); ok {
		text, err := f.load(ctx)
		if err != nil {
			return present{}, err
		}
		return k.lookAtText(p, text)
	}
	if err := k.checkUnchanged(ctx, p, info); err != nil {
		return present{}, err
	}
	return present{true, p.oldText(ctx, info)}, nil
}

// lookAtText is look for a file with a text that the front end has.
func (k *kit) lookAtText(p location, text []byte) (present, error) {
	s := string(text)
	return present{true, &s}, k.checkTextUnchanged(p, text)
}

// oldText returns the text of a file on the disk; nil if it is too large, or no text.
func (p location) oldText(ctx context.Context, info fs.FileInfo) *string {
	if info.Size() > maxShown {
		return nil
	}
	data, err := p.load(ctx)
	if err != nil {
		return nil
	}
	s := string(data)
	return &s
}

// Absolute returns the path that an argument of a tool means which works in cwd: what is
// relative is below that, ~ is the home directory, and @ in front is dropped unless a file
// is named so. Nothing need exist there.
func Absolute(cwd, argument string) (string, error) {
	if argument == "" || strings.IndexByte(argument, 0) >= 0 {
		return "", errors.New("the argument is no path")
	}
	k := kit{Options: Options{Cwd: cwd}}
	return k.absolute(argument)
}

// seen remembers how files were when the model last read, wrote or edited them, for
// each session of the program. A file that is not in it is none that changed: the
// model never had a wrong idea of it.
type seen struct {
	mu    sync.Mutex
	files map[string]fileState // by session and real path
	links map[string]string    // real paths, by session and the path by which a file was named
}

// fileState is a file at one time. A modified that is zero is not compared: the time of
// the tool's own write is not known, for another write may have followed at once.
type fileState struct {
	size     int64
	modified time.Time
	sum      [sha256.Size]byte
}

// note remembers the state s in which the model knows a file, and where its path led: a
// link may lead to another file later. Both hold for the current session only.
func (k *kit) note(p location, s fileState) {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	k.seen.files[k.inSession(p.real)], k.seen.links[k.inSession(p.path)] = s, p.real
}

// inSession is the key of a path in the maps of seen, which serve all sessions: the id
// of the current session and the path.
func (k *kit) inSession(path string) string {
	if k.Session == nil {
		return path
	}
	return k.Session() + "\x00" + path
}

// known returns the state in which the model knows a file. real is where its path led
// then; "" if the model never used that path.
func (k *kit) known(p location) (s fileState, known bool, real string) {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	s, known = k.seen.files[k.inSession(p.real)]
	return s, known, k.seen.links[k.inSession(p.path)]
}

// checkUnchanged is an error if the file at p, which is there, is not as the model knows
// it. The caller has the lock of the file.
func (k *kit) checkUnchanged(ctx context.Context, p location, now fs.FileInfo) error {
	was, known, real := k.known(p)
	switch {
	case real != "" && real != p.real:
		return k.otherFile(p)
	case !known || was.size == now.Size() && was.modified.Equal(now.ModTime()):
		return nil
	case was.size == now.Size():
		sum, err := p.sum(ctx, now.Size())
		if err != nil {
			return err
		}
		if sum == was.sum {
			k.note(p, fileState{now.Size(), now.ModTime(), sum})
			return nil
		}
	}
	return fmt.Errorf("it has changed since you last read, wrote or edited it (%s, now %s); %s",
		now.ModTime().Format("15:04:05"), printable.Count(int(now.Size()), "byte"), readAgain)
}

// checkTextUnchanged is checkUnchanged for a file whose text is now that of the front end. Only
// its hash tells whether it has changed.
func (k *kit) checkTextUnchanged(p location, text []byte) error {
	was, known, real := k.known(p)
	switch {
	case real != "" && real != p.real:
		return k.otherFile(p)
	case known && was.sum != sha256.Sum256(text):
		return fmt.Errorf("it has changed since you last read, wrote or edited it (now %s); %s", printable.Count(len(text), "byte"), readAgain)
	}
	return nil
}

// otherFile is the error for a path that leads to p now, and led elsewhere when the model
// used it last.
func (k *kit) otherFile(p location) error {
	return fmt.Errorf("it leads to another file than when you last read, wrote or edited it (%s); %s", k.display(p.real), readAgain)
}

const readAgain = "nothing was written. Use read to see what is there now, then write what it should be, or use edit"

// sum is the hash of a file that should have this size. If it has another, the hash is
// zero, which no file has.
func (p location) sum(ctx context.Context, size int64) (sum [sha256.Size]byte, err error) {
	f, err := p.open()
	if err != nil {
		return sum, plain(err)
	}
	defer f.Close()
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(&ctxReader{ctx, f}, size+1)); err != nil || n != size {
		return sum, plain(err) // a file of another size has another hash
	}
	copy(sum[:], h.Sum(nil))
	return sum, nil
}

// lockPatience is how long a change of a file waits for others.
const lockPatience = time.Minute

// errLocked tells the model that somebody keeps a file for himself, as hooks can.
var errLocked = errors.New("a hook or another program has kept it locked for a minute; nothing was written. Go on with something else and try again later")

// lock makes changes of one file wait for each other, those of hooks that lock it and of other
// programs too. The caller calls done when the change is made.
func (k *kit) lock(ctx context.Context, p location) (done func(), err error) {
	wait, cancel := context.WithTimeoutCause(ctx, lockPatience, errLocked)
	defer cancel()
	_, done, err = k.Locks.LockHere(wait, p.real)
	return done, err
}

// checkWritable fails for a file that the user has protected, or one in a protected
// directory, also under another name, as on a file system that ignores case.
func (k *kit) checkWritable(p location) error {
	for _, protected := range k.Protect {
		real, err := realPath(protected)
		if err != nil {
			continue
		}
		if _, ok := below(real, p.real); ok || leadsThrough(p.real, real) {
			return fmt.Errorf("%s decides which hooks may run; only the person changes it, with pi trust", p.name)
		}
	}
	return nil
}

// checkSecret fails for a file of logins, whatever a tool wants of it.
func (k *kit) checkSecret(p location) error {
	for _, secret := range k.Secret {
		if real, err := realPath(secret); err == nil && (real == p.real || leadsThrough(p.real, real)) {
			return fmt.Errorf("%s has logins, and no tool reads or writes it", p.name)
		}
	}
	return nil
}

// isNamedLikeSecret reports whether a file has the name of one with logins, which is quick to see
// of many.
func (k *kit) isNamedLikeSecret(path string) bool {
	return slices.ContainsFunc(k.Secret, func(secret string) bool {
		return strings.EqualFold(filepath.Base(path), filepath.Base(secret))
	})
}

// leadsThrough reports whether path, or a directory it is in, is the same file or
// directory as file, under whatever name.
func leadsThrough(path, file string) bool {
	target, err := os.Stat(file)
	if err != nil {
		return false
	}
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if at, err := os.Stat(path); err == nil && os.SameFile(at, target) {
			return true
		}
	}
	return false
}
