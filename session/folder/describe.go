package folder

import (
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
// of the session, or a message while no prompt was found.
func (i *Info) count(typ string, _ []byte) bool {
	i.Entries++
	if typ == session.TypeMessage {
		i.Messages++
		return i.FirstPrompt == ""
	}
	return typ == session.TypeSessionInfo
}

// describe reads the name of the session, or the text of the user's message, from an
// entry. Later names replace earlier ones, as in [session.Session.Name].
func (i *Info) describe(e *session.Entry) {
	if e.Type == session.TypeSessionInfo {
		if c, err := session.Body[session.SessionInfo](e); err == nil {
			i.Name = strings.TrimSpace(c.Name)
		}
	} else if m := e.Message(); m != nil && m.Role == message.RoleUser {
		i.FirstPrompt = m.Typed()
	}
}
