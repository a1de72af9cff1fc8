package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"pi/internal/safefile"
	"pi/session"
)

// ExistsError refuses to write over a file.
type ExistsError struct {
	Path   string
	Reason string // why not even when told to; "" if --force does it
}

func (e *ExistsError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("export to %q: %s; it is never written over", e.Path, e.Reason)
	}
	return fmt.Sprintf("export to %q: the file is there already", e.Path)
}

// Hint is the next step for the user.
func (e *ExistsError) Hint() string {
	if e.Reason != "" {
		return "choose another name"
	}
	return "choose another name, or write over it with --force"
}

// ToFile writes s to the file at path, which only its owner may read. One that
// is there already is an *[ExistsError], unless force is set: then it is
// replaced when the new one is whole. A session is not replaced even then, for
// that would delete it, but by one that begins with all of it. With a *[PartError]
// there is a new file, but nothing was replaced.
func ToFile(path string, f Format, s *session.Session, force bool) error {
	if !force {
		return toNew(path, f, s)
	}
	stat, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return toNew(path, f, s)
	}
	if err != nil {
		return fmt.Errorf("export session: %w", err)
	}
	if !stat.Mode().IsRegular() {
		return &ExistsError{path, "it is no regular file"}
	}
	return replace(path, stat, f, s)
}

// toNew writes s to a file that must not exist: else the error is an *[ExistsError]. It has
// its name when it is finished. On failure there is none, except after a *[PartError].
func toNew(path string, f Format, s *session.Session) error {
	if _, err := os.Lstat(path); err == nil {
		return &ExistsError{Path: path}
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporary)
	if err != nil {
		return fmt.Errorf("export session: %w", err)
	}
	next := file.Name()
	defer os.Remove(next) // gone if all went well
	part := fill(file, f, s)
	if part == nil || onlyPart(part) {
		if err := safefile.Place(next, path); errors.Is(err, fs.ErrExist) {
			return &ExistsError{Path: path}
		} else if err != nil {
			return fmt.Errorf("export session to %q: %w", path, err)
		}
	}
	if part != nil {
		return fmt.Errorf("export session to %q: %w", path, part)
	}
	return nil
}

// temporary is how a file is named that is not finished.
const temporary = ".export-*"

// fill writes the session into a new file, syncs and closes it, also on failure. A
// *[PartError] is returned only if all else went well.
func fill(file *os.File, f Format, s *session.Session) error {
	w := bufio.NewWriter(file)
	part := f.Write(w, s)
	if part != nil && !onlyPart(part) {
		return errors.Join(part, file.Close())
	}
	err := w.Flush()
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return part
}

// onlyPart reports whether err is a *[PartError]: entries were lost before, but the file
// is complete otherwise.
func onlyPart(err error) bool {
	var part *PartError
	return errors.As(err, &part)
}

// replace writes s to a temporary file beside path and renames it to path, if that is
// allowed (see replaceFile) and the session was written whole. The file at path is not
// to be that of s itself. On failure the temporary file is removed.
func replace(path string, stat fs.FileInfo, f Format, s *session.Session) error {
	if own, err := os.Stat(s.File()); err == nil && os.SameFile(own, stat) {
		return &ExistsError{path, "it is the session itself"}
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporary)
	if err != nil {
		return fmt.Errorf("export session: %w", err)
	}
	next := file.Name()
	if err = fill(file, f, s); err != nil {
		err = fmt.Errorf("export session to %q: %w", path, err)
	} else {
		err = replaceFile(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}

// replaceFile renames the file next to path, where there is a file already. If that is a
// session, it is locked meanwhile, and is replaced only if next begins with all that it
// has: else the error is an *[ExistsError].
func replaceFile(next, path string) error {
	var not *session.NotSessionError
	if _, err := session.ReadHeader(path); errors.As(err, &not) {
		return os.Rename(next, path)
	} else if err != nil {
		return err // the file may be a session
	}
	held, err := session.Open(path, session.Options{})
	var busy *session.BusyError
	if errors.As(err, &busy) {
		return &ExistsError{path, "it is a session that is in use"}
	}
	if err != nil {
		return err
	}
	defer held.Close()
	if !hasPrefix(next, path) {
		return &ExistsError{path, "it is a session that has what this one has not"}
	}
	if runtime.GOOS == "windows" { // an open file keeps its name there
		held.Close()
	}
	return os.Rename(next, path)
}

// hasPrefix reports whether the file at path begins with all bytes of the file at
// beginning. It is false if one of them cannot be read.
func hasPrefix(path, beginning string) bool {
	a, err := os.Open(path)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := os.Open(beginning)
	if err != nil {
		return false
	}
	defer b.Close()
	ra, rb := bufio.NewReader(a), bufio.NewReader(b)
	for {
		y, err := rb.ReadByte()
		if err == io.EOF {
			return true
		}
		x, errA := ra.ReadByte()
		if err != nil || errA != nil || x != y {
			return false
		}
	}
}
