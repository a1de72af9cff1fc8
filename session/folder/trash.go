package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pi/internal/safefile"
	"pi/session"
)

// Trash is where removed sessions go, so that they can be taken back.
type Trash struct {
	Dir   string           // "": there is none
	Noted bool             // what lies in it is described beside it, as on free desktops
	Now   func() time.Time // nil: time.Now

	testOnlyRename func(from, to string) error
}

// NoTrashError says that a session cannot go to the trash. It is where it was.
type NoTrashError struct {
	Path string
	Err  error // why
}

func (e *NoTrashError) Error() string {
	return fmt.Sprintf("no trash for session %q: %v", e.Path, e.Err)
}

func (e *NoTrashError) Unwrap() error { return e.Err }

// UserTrash is the trash of the user whose environment getenv tells.
func UserTrash(system string, getenv func(string) string) Trash {
	home := getenv("HOME")
	switch system {
	case "darwin", "ios":
		if home != "" {
			return Trash{Dir: filepath.Join(home, ".Trash")}
		}
	case "windows", "plan9", "js", "wasip1", "android":
	default:
		if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
			return Trash{Dir: filepath.Join(data, "Trash"), Noted: true}
		}
		if home != "" {
			return Trash{Dir: filepath.Join(home, ".local", "share", "Trash"), Noted: true}
		}
	}
	return Trash{}
}

// Put moves the session at path to the trash and returns where it lies there.
// The error is a *[NoTrashError] if it cannot go there, a *[session.BusyError] if a
// process has it open, a *[session.NotSessionError] if it is none.
func (t Trash) Put(path string, o session.Options) (to string, err error) {
	err = session.WithLock(path, o, func() error {
		if to, err = t.move(path); err != nil {
			return &NoTrashError{path, err}
		}
		return nil
	})
	return to, err
}

// Delete removes the session at path for good. Its errors are those of
// [Trash.Put].
func Delete(path string, o session.Options) error {
	return session.WithLock(path, o, func() error { return os.Remove(path) })
}

// move moves a file into the trash, makes the trash if there is none, and returns the
// new path. If the name is taken there, a number is added to it.
func (t Trash) move(path string) (string, error) {
	if t.Dir == "" {
		return "", errors.New("this system has none")
	}
	from, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	files := t.Dir
	if t.Noted {
		files = filepath.Join(t.Dir, "files")
	}
	if _, err := safefile.MakeDirs(files); err != nil {
		return "", err
	}
	const tries = 1000
	for n := 1; n <= tries; n++ {
		to := filepath.Join(files, numberedName(filepath.Base(from), n))
		switch err := t.moveAs(from, to); {
		case err == nil:
			return to, nil
		case !errors.Is(err, fs.ErrExist):
			return "", err
		}
	}
	return "", fmt.Errorf("%s has %d files named %s already", files, tries, filepath.Base(from))
}

// moveAs moves a file to a path in the trash. Where the trash describes what is in it,
// the description is written first and removed again on failure. The error is
// fs.ErrExist if something in the trash has that name.
func (t Trash) moveAs(from, to string) error {
	note, err := t.writeNote(from, filepath.Base(to))
	if errors.Is(err, fs.ErrExist) {
		return err // another removed file has that name
	}
	if err == nil {
		err = t.rename(from, to)
	}
	if err != nil && note != "" {
		os.Remove(note)
	}
	return err
}

// rename renames a file, and returns fs.ErrExist if there is one at to. Looking and
// renaming are two steps: a file that another program makes at to between them is
// overwritten. Where there are notes, the note has reserved the name before.
func (t Trash) rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	if t.testOnlyRename != nil {
		return t.testOnlyRename(from, to)
	}
	return os.Rename(from, to)
}

// numberedName is the n-th name to try for a file, counted from 1.
func numberedName(name string, n int) string {
	if n == 1 {
		return name
	}
	ending := filepath.Ext(name)
	return strings.TrimSuffix(name, ending) + "." + strconv.Itoa(n) + ending
}

// writeNote writes the .trashinfo file, which says where a file came from and when it
// was removed, and reserves its name in the trash: fs.ErrExist if another has it. It
// returns the path of what it wrote, and "" if the trash has no such files.
func (t Trash) writeNote(from, name string) (string, error) {
	if !t.Noted {
		return "", nil
	}
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	info := filepath.Join(t.Dir, "info")
	if _, err := safefile.MakeDirs(info); err != nil {
		return "", err
	}
	path := filepath.Join(info, name+".trashinfo")
	text := "[Trash Info]\nPath=" + (&url.URL{Path: from}).EscapedPath() + "\nDeletionDate=" + now().Local().Format("2006-01-02T15:04:05") + "\n"
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return path, err
	}
	_, err = f.WriteString(text)
	return path, errors.Join(err, f.Close())
}
