package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

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
	disk  place
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

// isSameButEnds reports whether texts differ in nothing but CR LF in place of LF, and empty
// rows or a newline at the very end.
func isSameButEnds(a, b []byte) bool {
	bare := func(text []byte) []byte {
		return bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n")
	}
	return bytes.Equal(bare(a), bare(b))
}

// reader returns the file at p as the front end has it; ok is false if the disk has it.
func (k *kit) reader(p place) (f frontFile, ok bool) {
	path, ok := k.frontPath(p)
	return frontFile{p, k.Files, path}, ok && k.Files.Read != nil && !p.isBinary()
}

// writer returns the file at p as the front end writes it; ok is false if the disk does.
func (k *kit) writer(p place) (f frontFile, ok bool) {
	path, ok := k.frontPath(p)
	return frontFile{p, k.Files, path}, ok && k.Files.Write != nil
}

// frontPath returns the path by which the front end knows the file at p; ok is false for
// what is the disk's.
func (k *kit) frontPath(p place) (path string, ok bool) {
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
func (p place) isBinary() bool {
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
func stateOf(content []byte) state {
	return state{size: int64(len(content)), sum: sha256.Sum256(content)}
}

// unsaved returns the text of a file that is not on the disk, if the front end has one that
// is not empty: many make an empty buffer for a path that they do not know.
func (k *kit) unsaved(ctx context.Context, p place) (text []byte, ok bool) {
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
func (k *kit) look(ctx context.Context, p place) (present, error) {
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
func (k *kit) lookAtText(p place, text []byte) (present, error) {
	s := string(text)
	return present{true, &s}, k.checkTextUnchanged(p, text)
}

// oldText returns the text of a file on the disk; nil if it is too large, or no text.
func (p place) oldText(ctx context.Context, info fs.FileInfo) *string {
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
