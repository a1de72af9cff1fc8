// Package folder knows the sessions that lie below a folder: it lists, describes, finds
// and removes them.
//
// Everything derives from the files; there is no index. [Scan] yields them as they are read,
// those written last first, and [Latest] finds the one to go on with. Sessions of agents that
// other agents used are none of these: [ScanChildren] yields them. Where a session was
// started is what its header says, never the name of its folder. [Find] takes the beginning
// of an id, [Describe] a path.
//
// A session that is removed goes to the [Trash] of the user, or is gone for good
// ([Delete]); one that a process has open stays.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"pi/session"
)

// A listing derives from the files alone, and is made to be shown as it comes: it is
// ordered by the time of the last write, which costs no reading, and a session is read
// only when its turn has come.

// Scan yields the sessions of users under root that were started in cwd, or all if cwd
// is "": those written last first, each described when it is asked for. Files
// that are no sessions are passed over; the header, not the folder, says where a session
// was started. A root that does not exist has none.
//
// A file that cannot be read comes as an error, with its path, and the scan goes on. If
// it only may be a session of cwd, its folder decides whether it comes.
func Scan(root, cwd string) iter.Seq2[Info, error] { return scan(root, cwd, false, Describe) }

// ScanChildren is Scan for the sessions of agents that other agents used.
func ScanChildren(root, cwd string) iter.Seq2[Info, error] { return scan(root, cwd, true, Describe) }

// ScanWords is Scan with the words that each session is found by, which are more to read.
func ScanWords(root, cwd string) iter.Seq2[Info, error] { return scan(root, cwd, false, describeWords) }

func scan(root, cwd string, children bool, describe func(path string) (Info, error)) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for f, err := range withHeaders(root, cwd) {
			var info Info
			if err == nil && f.header.Agent.IsSet() != children {
				continue
			}
			if err == nil {
				info, err = describe(f.path)
			}
			if info.Path = f.path; !yield(info, err) {
				return
			}
		}
	}
}

// Paths returns the files of the sessions under root that were started in cwd, or of all if
// cwd is "", those of agents that others used among them: those written last at the end. It reads headers only. With paths comes an error if
// something could not be read.
func Paths(root, cwd string) (paths []string, err error) {
	var problems []error
	for f, err := range withHeaders(root, cwd) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		paths = append(paths, f.path)
	}
	slices.Reverse(paths)
	return paths, errors.Join(problems...)
}

// Latest returns the path of the user's session of cwd that was written last; "" if
// there is none. With a path comes an error if something that may be a later one
// could not be read.
func Latest(root, cwd string) (path string, err error) {
	var problems []error
	for f, err := range withHeaders(root, cwd) {
		if err == nil && f.header.Agent.IsSet() {
			continue
		}
		if err == nil {
			path = f.path
			break
		}
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		err = fmt.Errorf("find the last session: %w", errors.Join(problems...))
	}
	return path, err
}

// IDs returns the ids of the user's sessions of cwd that begin with prefix, at most n,
// those written last first. It reads headers only and passes over what cannot be
// read.
func IDs(root, cwd, prefix string, n int) (ids []string) {
	for f, err := range withHeaders(root, cwd) {
		if len(ids) == n {
			break
		}
		if err == nil && !f.header.Agent.IsSet() && strings.HasPrefix(f.header.ID, prefix) {
			ids = append(ids, f.header.ID)
		}
	}
	return ids
}

// glanced is how much of a session [Glance] reads, at its beginning and at its end.
const glanced = 32 << 10

// Glance describes the user's sessions that were started in cwd, or anywhere if cwd is "", and whose
// ids begin with prefix: at most n, those written last first. It is for those who cannot wait, so
// it trusts the name of a folder, passes over what cannot be read, and of a long session reads the
// two ends only: a name in between is missed, and nothing is counted.
func Glance(root, cwd, prefix string, n int) (found []Info) {
	files, _ := candidates(root)
	for _, f := range files {
		if len(found) == n {
			break
		}
		if !concerns(f.folder, cwd) || prefix != "" && !strings.Contains(filepath.Base(f.path), prefix) {
			continue
		}
		var i Info
		h, stat, err := session.SkimEnds(f.path, glanced, i.count, i.describe)
		if err != nil || h.Agent.IsSet() || cwd != "" && h.Cwd != cwd || !strings.HasPrefix(h.ID, prefix) {
			continue
		}
		i.Path, i.Modified, i.Size, i.ID, i.Cwd, i.Parent = f.path, stat.ModTime(), stat.Size(), h.ID, h.Cwd, h.ParentSession
		i.Entries, i.Messages = 0, 0
		found = append(found, i)
	}
	return found
}

// FindID returns the path of the session of cwd that has this id, the whole of it; "" if there
// is none. The error says what could not be read, and may be one.
func FindID(root, cwd, id string) (path string, err error) {
	var problems []error
	for f, err := range withHeaders(root, cwd) {
		if err == nil && f.header.ID == id {
			return f.path, nil
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return "", errors.Join(problems...)
}

// sessionFile is a file that may be a session.
type sessionFile struct {
	path     string
	folder   string // name of the folder it lies in; "" for the root
	modified time.Time
	header   session.Header
}

// withHeaders yields the files under root with the header of a session that was started
// in cwd, or in any directory if cwd is "": those written last first. Files that are no
// sessions are skipped. Before them, and among them, come errors of reading, with the
// path, if they may hide such a session.
func withHeaders(root, cwd string) iter.Seq2[sessionFile, error] {
	return func(yield func(sessionFile, error) bool) {
		files, problems := candidates(root)
		for _, p := range problems {
			if concerns(p.folder, cwd) && !yield(sessionFile{path: p.path}, p.err) {
				return
			}
		}
		for _, f := range files {
			var not *session.NotSessionError
			var err error
			f.header, err = session.ReadHeader(f.path)
			switch {
			case errors.As(err, &not), errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil && !concerns(f.folder, cwd), err == nil && cwd != "" && f.header.Cwd != cwd:
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// concerns reports whether a folder may hold sessions of cwd: its name is that for cwd,
// or it is the root, or cwd is "".
func concerns(folder, cwd string) bool {
	return cwd == "" || folder == "" || folder == session.FolderName(cwd)
}

// unlisted is a folder that could not be listed.
type unlisted struct {
	path, folder string
	err          error
}

// candidates returns the files in root and in its folders whose names are those of
// sessions, those written last first, and the folders that could not be listed.
func candidates(root string) (files []sessionFile, problems []unlisted) {
	dir, err := os.ReadDir(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, []unlisted{{root, "", fmt.Errorf("list sessions: %w", err)}}
	}
	files = sessionFiles(root, "", dir)
	for _, d := range dir {
		if !d.IsDir() && d.Type()&fs.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(root, d.Name())
		inside, err := os.ReadDir(path)
		if err != nil {
			if stat, broken := os.Stat(path); broken == nil && stat.IsDir() {
				problems = append(problems, unlisted{path, d.Name(), fmt.Errorf("list sessions: %w", err)})
			}
			continue
		}
		files = append(files, sessionFiles(path, d.Name(), inside)...)
	}
	sort.Slice(files, func(i, j int) bool {
		a, b := &files[i], &files[j]
		if !a.modified.Equal(b.modified) {
			return a.modified.After(b.modified)
		}
		return a.path > b.path // names begin with the time
	})
	return files, problems
}

// sessionFiles returns the regular files among the entries of a folder whose names end
// in .jsonl.
func sessionFiles(dir, folder string, entries []fs.DirEntry) (files []sessionFile) {
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if stat, err := os.Stat(path); err == nil && stat.Mode().IsRegular() {
			files = append(files, sessionFile{path: path, folder: folder, modified: stat.ModTime()})
		}
	}
	return files
}

// NotFoundError says that no session has an id that begins with Prefix, or that
// there is no file of that path.
type NotFoundError struct{ Prefix string }

func (e *NotFoundError) Error() string {
	if strings.ContainsAny(e.Prefix, `/\`) || strings.HasSuffix(e.Prefix, ".jsonl") {
		return fmt.Sprintf("there is no session file %q", e.Prefix)
	}
	return fmt.Sprintf("no session begins with %q", e.Prefix)
}

// AmbiguousError says that several sessions do: those at Paths, the one written
// last first.
type AmbiguousError struct {
	Prefix string
	Paths  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions begin with %q", len(e.Paths), e.Prefix)
}

// Find returns the path of the session under root whose id is prefix, or else
// the only one whose id begins with it, that of an agent among them. The error is a *[NotFoundError], joined
// with what could not be read, or an *[AmbiguousError].
func Find(root, prefix string) (string, error) {
	var exact, begin []string
	var problems []error
	for f, err := range withHeaders(root, "") {
		switch {
		case err != nil:
			problems = append(problems, err)
		case f.header.ID == prefix:
			exact = append(exact, f.path)
		case strings.HasPrefix(f.header.ID, prefix):
			begin = append(begin, f.path)
		}
	}
	paths := exact
	if len(paths) == 0 && prefix != "" {
		paths = begin
	}
	switch len(paths) {
	case 0:
		return "", errors.Join(append([]error{&NotFoundError{Prefix: prefix}}, problems...)...)
	case 1:
		return paths[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, Paths: paths}
}
