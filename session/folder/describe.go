package folder

import (
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
	FirstPrompt string    // text of the first user message
	Parent      string    // path of the session it was forked from; "" if none
	Created     time.Time // zero if the header does not say
	Modified    time.Time
	Entries     int
	Messages    int
	Size        int64
}

// Describe reads one session for a listing: the heads of its lines, and the
// bodies that say what it is called. It holds no more of it than a piece. The error is
// a *[session.NotSessionError] if the file is no session.
func Describe(path string) (Info, error) {
	d := describer{}
	h, stat, err := session.Skim(path, d.entry)
	if err != nil {
		return Info{}, err
	}
	d.info.Path, d.info.Modified, d.info.Size = path, stat.ModTime(), stat.Size()
	d.info.ID, d.info.Cwd, d.info.Parent = h.ID, h.Cwd, h.ParentSession
	d.info.Created, _ = time.Parse(time.RFC3339, h.Timestamp)
	d.info.Name = d.name()
	return d.info, nil
}

// describer counts entries as they come.
type describer struct {
	info  Info
	named []*session.Entry // that name the session
	asked bool             // the first prompt is known
}

func (d *describer) entry(typ string, entry func() *session.Entry) {
	d.info.Entries++
	switch typ {
	case session.TypeMessage:
		d.info.Messages++
		if !d.asked {
			d.ask(entry())
		}
	case session.TypeSessionInfo:
		d.named = append(d.named, entry())
	}
}

// ask takes the text of the first message of the person.
func (d *describer) ask(e *session.Entry) {
	if m := e.Message(); m != nil && m.Role == message.RoleUser {
		d.info.FirstPrompt, d.asked = m.Text(), m.Text() != ""
	}
}

// name is the last one that can be read, as [session.Session.Name] has it.
func (d *describer) name() string {
	for i := len(d.named) - 1; i >= 0; i-- {
		if c, err := session.Body[session.SessionInfo](d.named[i]); err == nil {
			return c.Name
		}
	}
	return ""
}
