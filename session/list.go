package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Info describes a session without holding it.
type Info struct {
	Path        string
	ID          string
	Cwd         string
	Name        string    // given by the user; "" if none
	FirstPrompt string    // text of the first user message
	Parent      string    // path of the session it was forked from; "" if none
	Created     time.Time // zero if the header does not say
	Modified    time.Time
	Entries     int
	Messages    int
	Size        int64
}

// List describes the sessions under root that were started in cwd, or all if
// cwd is "": newest first. What is no session is passed over; the header, not
// the folder, says where a session was started. A root that does not exist has
// none.
func List(root, cwd string) ([]Info, error) {
	var infos []Info
	err := walkSessions(root, func(path string, h Header) error {
		if cwd != "" && h.Cwd != cwd {
			return nil
		}
		if info, err := Describe(path); err == nil {
			infos = append(infos, info)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	sort.Slice(infos, func(i, j int) bool {
		a, b := &infos[i], &infos[j]
		if !a.Modified.Equal(b.Modified) {
			return a.Modified.After(b.Modified)
		}
		return a.Path > b.Path // names begin with the time
	})
	return infos, nil
}

// Latest returns the path of the session of cwd that was written last; "" if
// there is none.
func Latest(root, cwd string) (path string, err error) {
	var newest time.Time
	err = walkSessions(root, func(p string, h Header) error {
		if h.Cwd != cwd {
			return nil
		}
		stat, err := os.Stat(p)
		if err == nil && (path == "" || !stat.ModTime().Before(newest)) {
			path, newest = p, stat.ModTime()
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("find the last session: %w", err)
	}
	return path, nil
}

// walkSessions calls visit for each session in root and its folders.
func walkSessions(root string, visit func(path string, h Header) error) error {
	dir, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	folders := []string{root}
	for _, d := range dir {
		if d.IsDir() || d.Type()&fs.ModeSymlink != 0 {
			folders = append(folders, filepath.Join(root, d.Name()))
		}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*.jsonl"))
		if err != nil {
			return err
		}
		for _, path := range files {
			if h, err := ReadHeader(path); err == nil {
				if err := visit(path, h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // the backslash escapes nothing there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Describe reads one session for a listing.
func Describe(path string) (Info, error) {
	s, err := Read(path)
	if err != nil {
		return Info{}, err
	}
	defer s.release()
	stat, err := os.Stat(path)
	if err != nil {
		return Info{}, fmt.Errorf("describe session: %w", err)
	}
	h := s.Header()
	info := Info{Path: path, ID: h.ID, Cwd: h.Cwd, Name: s.Name(), Parent: h.ParentSession,
		Modified: stat.ModTime(), Size: stat.Size()}
	info.Created, _ = time.Parse(time.RFC3339, h.Timestamp)
	info.count(s.Entries())
	return info, nil
}

func (i *Info) count(entries []*Entry) {
	i.Entries = len(entries)
	for _, e := range entries {
		if e.Type != TypeMessage {
			continue
		}
		i.Messages++
		if i.FirstPrompt != "" {
			continue
		}
		if m := e.Message(); m != nil && m.Role == RoleUser {
			i.FirstPrompt = m.Text()
		}
	}
}

// NotFoundError says that no session has an id that begins with Prefix.
type NotFoundError struct{ Prefix string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("no session begins with %q", e.Prefix) }

// AmbiguousError says that several sessions do.
type AmbiguousError struct {
	Prefix string
	Paths  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions begin with %q", len(e.Paths), e.Prefix)
}

// Find returns the path of the session under root whose id is prefix, or else
// the only one whose id begins with it. The error is a *[NotFoundError] or an
// *[AmbiguousError].
func Find(root, prefix string) (string, error) {
	var exact, begin []string
	err := walkSessions(root, func(path string, h Header) error {
		if h.ID == prefix {
			exact = append(exact, path)
		} else if strings.HasPrefix(h.ID, prefix) {
			begin = append(begin, path)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("find session: %w", err)
	}
	found := exact
	if len(found) == 0 && prefix != "" {
		found = begin
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{Prefix: prefix}
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, Paths: found}
}
