package folder

import (
	"bytes"
	"strings"
	"time"

	"pi/session"
	"pi/session/message"
)

// Info describes a session without holding it.
type Info struct {
	Path        string
	ID          string
	Cwd         string
	Name        string    // given by the user; "" if none
	FirstPrompt string    // the first user message as it was typed
	Parent      string    // path of the session it was forked from; "" if none
	Created     time.Time // zero if the header does not say
	Modified    time.Time // of the file
	Branch      string    // of git, that it was on last; "" if it was on none
	Entries     int       // of all branches
	Messages    int       // of them
	Size        int64     // of the file, in bytes
	Words       Words     // only from [ScanWords]
}

// Describe reads one session for a listing: the heads of its lines, and the
// bodies that say what it is called. It holds no more of it than a piece. The error is
// a *[session.NotSessionError] if the file is no session.
func Describe(path string) (Info, error) {
	var info Info
	return info.read(path, info.count, info.describe)
}

// read skims the session at path and returns what i knows of it then.
func (i *Info) read(path string, wanted func(string, []byte) bool, add func(*session.Entry)) (Info, error) {
	h, stat, err := session.Skim(path, wanted, add)
	if err != nil {
		return Info{}, err
	}
	info := *i
	info.Path, info.Modified, info.Size = path, stat.ModTime(), stat.Size()
	info.ID, info.Cwd, info.Parent = h.ID, h.Cwd, h.ParentSession
	info.Created, _ = time.Parse(time.RFC3339, h.Timestamp)
	return info, nil
}

// count counts an entry by its type, and reports whether describe shall get it: a name
// of the session, a branch of git, or a message while no prompt was found.
func (i *Info) count(typ string, line []byte) bool {
	i.Entries++
	switch typ {
	case session.TypeMessage:
		i.Messages++
		return i.FirstPrompt == ""
	case session.TypeCustom:
		return bytes.Contains(line, []byte(session.GitBranch))
	}
	return typ == session.TypeSessionInfo
}

// describe reads the name of the session, the branch of git, or the text of the user's
// message, from an entry. Later names replace earlier ones, as in [session.Session.Name],
// and so do branches.
func (i *Info) describe(e *session.Entry) {
	switch e.Type {
	case session.TypeSessionInfo:
		if c, err := session.Body[session.SessionInfo](e); err == nil {
			i.Name = strings.TrimSpace(c.Name)
		}
		return
	case session.TypeCustom:
		if name, ok := e.OnGitBranch(); ok {
			i.Branch = name
		}
		return
	}
	if m := e.Message(); m != nil && m.Role == message.RoleUser {
		i.FirstPrompt = m.Typed()
	}
}
