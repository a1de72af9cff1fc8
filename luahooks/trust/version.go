package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pi/internal/safefile"
)

// Version is a file at one time.
type Version struct {
	Code []byte
	Err  error  // why there is no code
	Sum  string // "": there is no such file
	real string // with symbolic links resolved

	Others string // why somebody else may change it; "": only this user and root may

	stamp stamp // of the file with these bytes; it may tell nothing
}

// exists reports whether there is a file, be it unreadable.
func (v Version) exists() bool { return v.Sum != "" }

// Key tells what can be loaded of a version: another one has another key, and so has this one once its
// bytes are back that were lost.
func (v Version) Key() string {
	if v.exists() && v.Code == nil {
		return v.Sum + " without its bytes"
	}
	return v.Sum
}

// same reports whether two versions have the same bytes, reached through the same links.
func (v Version) same(w Version) bool { return v.Sum == w.Sum && v.real == w.real }

// pendingFile is a file whose version on the disk is not active.
type pendingFile struct {
	active, now Version
	scope       Scope // of a hook; "" for what is none
	since       time.Time
	marked      bool // in the store: tools could have changed it
	asking      bool // a user is looking at it
}

// onDisk reads what a file is now.
func onDisk(path string) Version {
	code, err := readHook(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Version{Err: err}
	case err != nil:
		return Version{Err: err, Sum: Unreadable}
	}
	v := Version{Code: code, Sum: Sum(code), real: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		v.real = real
	}
	v.Others = othersMayChange(path, v.real)
	return v
}

// othersMayChange returns why somebody else may change a file, or replace it in one of the
// folders through which it is reached; "" if nobody else may.
func othersMayChange(path, real string) string {
	for _, at := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		if info, err := os.Stat(at); err == nil {
			if why := OthersMayChange(info); why != "" {
				return at + " " + why
			}
		}
	}
	return ""
}

// readHook reads a file of at most MaxHook. It never waits and never reads more, because
// somebody may have put a pipe or an endless file there.
func readHook(path string) ([]byte, error) {
	code, err := safefile.Read(path, MaxHook)
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, fmt.Errorf("read hook %s: not a regular file of at most %d KiB", path, MaxHook>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("read hook: %w", err)
	}
	return code, nil
}

// MaxHook is how long a hook may be: far more than one written by hand.
const MaxHook = 1 << 20

// ErrNotApproved is why no version of a file may run: nobody approved one.
var ErrNotApproved = errors.New("not approved")

// What else a tool may write to have its way: commands that print keys run without
// a question, and instructions of the agent directory speak in every session.

// maxKeys is how long auth.json may be.
const maxKeys = 1 << 20

// commandsIn returns auth.json reduced to the commands in it, which print keys: one a line,
// sorted. Keys and logins in it may change as they like. Without commands it is like no file.
func commandsIn(path string) Version {
	raw, err := safefile.Read(path, maxKeys)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Version{Err: err}
	case err != nil:
		return Version{Err: err, Sum: Unreadable}
	}
	var commands []string
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if err != nil { // what follows is not read by anybody
			break
		}
		if text, ok := token.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "!") {
			commands = append(commands, commandLine(strings.TrimSpace(text)[1:]))
		}
	}
	if len(commands) == 0 {
		return Version{Err: fs.ErrNotExist}
	}
	slices.Sort(commands)
	code := []byte(strings.Join(slices.Compact(commands), "\n"))
	return Version{Code: code, Sum: Sum(code), real: path}
}

// commandLine writes a command as one line that begins with !; a newline in it becomes \n.
func commandLine(command string) string {
	return "!" + strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(strings.TrimSpace(command))
}
