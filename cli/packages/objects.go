package packages

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"pi/internal/printable"
)

// object is an entry of a tree of git, as ls-tree -r -t -z -l has it.
type object struct {
	mode, kind, hash string
	size             int64 // of a file
	path             string
}

// maxEntry is how long the line of an entry may be.
const maxEntry = 64 << 10

// readEntry reads the next entry of a list of git; [io.EOF] behind the last one.
func readEntry(list *bufio.Reader) (object, error) {
	raw, err := list.ReadSlice(0)
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return object{}, fmt.Errorf("a name has more than %d bytes", maxEntry)
	case errors.Is(err, io.EOF) && len(raw) > 0:
		return object{}, io.ErrUnexpectedEOF
	case err != nil:
		return object{}, err
	}
	return parseEntry(string(raw[:len(raw)-1]))
}

// parseEntry parses "MODE KIND HASH SIZE\tPATH"; the size of what is no file is "-".
func parseEntry(text string) (object, error) {
	head, path, ok := strings.Cut(text, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 || !isHash(fields[2]) {
		return object{}, fmt.Errorf("git lists what cannot be read: %s", printable.Short(printable.VisibleLine(text)))
	}
	o := object{mode: fields[0], kind: fields[1], hash: fields[2], path: path}
	if fields[3] == "-" {
		return o, nil
	}
	size, err := strconv.ParseInt(fields[3], 10, 64)
	if o.size = size; err != nil || size < 0 {
		return object{}, fmt.Errorf("git lists a size that is none: %s", printable.Short(printable.VisibleLine(text)))
	}
	return o, nil
}

// check returns why a package must not have an entry. A folder is fine in itself.
func (o object) check() error {
	var err error
	switch {
	case o.mode == "120000":
		err = errLink
	case o.mode == "160000" || o.kind == "commit":
		err = errSubmodule
	case o.kind == "tree" || o.kind == "blob" && (o.mode == "100644" || o.mode == "100755" || o.mode == "100664"):
		return nil
	default:
		err = errOddFile
	}
	return fmt.Errorf("%s %w", printable.Short(printable.VisibleLine(o.path)), err)
}

// files reads the files of a commit. Nothing is checked out, so nothing that a repository says of filters and
// line ends has an effect.
func (r *repository) files(ctx context.Context, commit string) (Tree, error) {
	b := newBuilder()
	objects, err := r.list(ctx, b, commit)
	if err != nil {
		return Tree{}, fmt.Errorf("the package is refused: %w", err)
	}
	if err := r.read(ctx, b, objects); err != nil {
		return Tree{}, err
	}
	return b.tree(), nil
}

// list lists the files of a commit, and announces them to b, which refuses the commit with the first
// that is not allowed: no list without end is read to its end.
func (r *repository) list(ctx context.Context, b *builder, commit string) (objects []object, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var told bounded
	cmd := r.command(ctx, "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", "--end-of-options", commit)
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	end, err := r.start(cmd)
	if err != nil {
		return nil, err
	}
	objects, err = readEntries(out, b)
	if err != nil {
		cancel()
	}
	waited := cmd.Wait()
	end()
	if err == nil && waited != nil {
		err = errors.New(told.reason(waited))
	}
	return objects, err
}

// readEntries reads a whole list of git, and announces what is in it to b.
func readEntries(list io.Reader, b *builder) (objects []object, err error) {
	reader := bufio.NewReaderSize(list, maxEntry)
	for {
		o, err := readEntry(reader)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err == nil {
			err = o.check()
		}
		switch {
		case err != nil:
		case o.kind == "tree":
			if err = checkPath(o.path); err == nil {
				err = b.take(o.path, true)
			}
		default:
			if err = b.announce(o.path, o.size); err == nil {
				objects = append(objects, o)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// read reads the bytes of the files, which are as many as the list said.
func (r *repository) read(ctx context.Context, b *builder, objects []object) error {
	var names bytes.Buffer
	for _, o := range objects {
		names.WriteString(o.hash + "\n")
	}
	var told bounded
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin, cmd.Stderr = &names, &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	end, err := r.start(cmd)
	if err != nil {
		return err
	}
	reader := bufio.NewReader(out)
	for _, o := range objects {
		code, failed := readObject(reader, o)
		if failed != nil {
			err = failed
			break
		}
		b.add(TreeFile{Path: o.path, Code: code, Executable: o.mode == "100755"})
	}
	_, _ = io.Copy(io.Discard, reader)
	waited := cmd.Wait()
	end()
	if err == nil && waited != nil {
		err = errors.New(told.reason(waited))
	}
	return err
}

// readObject reads one object of cat-file --batch: "HASH blob SIZE\n", the bytes, and a line end.
func readObject(from *bufio.Reader, o object) ([]byte, error) {
	head, err := from.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", printable.VisibleLine(o.path), err)
	}
	if want := fmt.Sprintf("%s blob %d\n", o.hash, o.size); head != want {
		return nil, fmt.Errorf("read %s: git has %q in the place of %q", printable.VisibleLine(o.path), head, want)
	}
	code := make([]byte, o.size+1)
	if _, err := io.ReadFull(from, code); err != nil {
		return nil, fmt.Errorf("read %s: %w", printable.VisibleLine(o.path), err)
	}
	return code[:o.size], nil
}
