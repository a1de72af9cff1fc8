package folder

import (
	"bytes"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// Info describes a session without holding it.
type Info struct {
	Path        string
	ID          string
	Cwd         string
	Name        string // given by the user; "" if none
	FirstPrompt string // the first user message as it was typed
	Parent      string // path of the session it was forked from, or whose agent used this one; "" if none
	Agent       session.AgentMark
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
	info.Agent = h.Agent
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

// Words are what a session is found by besides its name.
type Words struct {
	Prompts string // the beginnings of what the user sent, on all branches, a line each
	Labels  string // of entries, a line each
	Last    string // the last line of the last answer
}

// What is kept of one session, in bytes: long prompts are pasted texts, and thousands of
// sessions are in memory at once.
const (
	mostOfPrompt  = 2 << 10
	mostOfPrompts = 64 << 10
	mostOfLast    = 400
)

// describeWords is [Describe] with the words of the session.
func describeWords(path string) (Info, error) {
	w := &wordReader{}
	info, err := w.info.read(path, w.wants, w.add)
	if err != nil {
		return Info{}, err
	}
	info.Words = Words{Prompts: w.prompts.String(), Labels: w.labels.String(), Last: w.last()}
	return info, nil
}

// wordReader collects the words of a session while it is skimmed.
type wordReader struct {
	info            Info
	prompts, labels strings.Builder
	answer          []byte // the last line of the file that has an answer with text
}

// wants counts an entry, and reports whether add shall get it. Of answers only the last
// counts, so they are not decoded here.
func (w *wordReader) wants(typ string, line []byte) bool {
	wanted := w.info.count(typ, line)
	switch typ {
	case session.TypeLabel:
		return true
	case session.TypeMessage:
	default:
		return wanted
	}
	switch role(line) {
	case message.RoleUser:
		return w.info.FirstPrompt == "" || w.prompts.Len() < mostOfPrompts
	case message.RoleAssistant:
		if bytes.Contains(line, []byte(`"type":"text"`)) || bytes.Contains(line, []byte(`"type": "text"`)) {
			w.answer = append(w.answer[:0], line...)
		}
	}
	return false
}

// role returns who a message is from. It stands before what they said in all files that
// are written here; elsewhere it is looked for in all of the line.
func role(line []byte) message.Role {
	const front = 400
	if i := bytes.Index(line[:min(len(line), front)], []byte(`"role":"`)); i >= 0 {
		text := line[i+len(`"role":"`):]
		if end := bytes.IndexByte(text, '"'); end >= 0 {
			return message.Role(text[:end])
		}
	}
	return message.Role(rawjson.Unquote(rawjson.Field(rawjson.Field(line, "message"), "role")))
}

// add reads a prompt, a name, a branch of git or a label.
func (w *wordReader) add(e *session.Entry) {
	switch e.Type {
	case session.TypeLabel:
		if l, err := session.Body[session.Label](e); err == nil && l.Label != "" {
			w.labels.WriteString(printable.Line(l.Label) + "\n")
		}
		return
	case session.TypeMessage:
		if m := e.Message(); m != nil && m.Role == message.RoleUser {
			text := m.Text()
			w.prompts.WriteString(strings.ToValidUTF8(text[:min(len(text), mostOfPrompt)], "") + "\n")
		}
		if w.info.FirstPrompt != "" {
			return
		}
	}
	w.info.describe(e)
}

// last returns the last line that the model wrote.
func (w *wordReader) last() string {
	if w.answer == nil {
		return ""
	}
	m := session.LineMessage(w.answer)
	if m == nil {
		return ""
	}
	text := strings.TrimSpace(m.Text())
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	return strings.ToValidUTF8(text[:min(len(text), mostOfLast)], "")
}
