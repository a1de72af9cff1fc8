package folder

import (
	"bytes"
	"strings"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

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
