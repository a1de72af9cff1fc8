package history

import (
	"bytes"
	"encoding/json"
	"sync"

	"pi/internal/edit"
)

// record is an entry. Those of the file are decoded when they are needed: a file may have
// many megabytes of them.
type record struct {
	written bool // it is in the file

	mu     sync.Mutex
	line   []byte // of the file; nil once it is decoded
	behind []byte // the line behind it; nil for none, and once it is decoded
	entry  edit.Draft
}

// spansLine is the line behind an entry.
type spansLine struct {
	Tokens []edit.Span `json:"tokens,omitempty"`
	Typed  []edit.Span `json:"typed,omitempty"`
}

// recordOf is a record of something that was typed.
func recordOf(d edit.Draft) *record {
	return &record{entry: edit.Draft{Text: d.Text, Tokens: d.Tokens, Typed: d.Typed, Pasted: d.Pasted}}
}

// parse returns the records of a part of the file.
func parse(part []byte) (records []*record) {
	for len(part) > 0 {
		line := part
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			line, part = part[:i], part[i+1:]
		} else {
			part = nil
		}
		if r := (&record{line: bytes.TrimSpace(line), written: true}); r.maybe() {
			records = append(records, r)
		}
	}
	return records
}

// maybe reports whether a line looks like one of an entry, or of its parts.
func (r *record) maybe() bool {
	n := len(r.line)
	return n > 2 && r.line[0] == '"' && r.line[n-1] == '"' || r.isSpans()
}

// isSpans reports whether a record is the line behind an entry.
func (r *record) isSpans() bool {
	n := len(r.line)
	return n > 2 && r.line[0] == '{' && r.line[n-1] == '}'
}

// setSpans adds the line behind a record. It may be read later than that, as two programs
// may read and write at once.
func (r *record) setSpans(line *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = line.line
}

// draft returns the entry; false if the line is none.
func (r *record) draft() (edit.Draft, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line != nil {
		_ = json.Unmarshal(r.line, &r.entry.Text) // what is no string is no entry
		r.line = nil
	}
	if r.behind != nil {
		var behind spansLine
		if json.Unmarshal(r.behind, &behind) == nil {
			r.entry.Tokens, r.entry.Typed = behind.Tokens, behind.Typed
		}
		r.behind = nil
	}
	return r.entry, r.entry.Text != ""
}

func (r *record) text() string {
	d, _ := r.draft()
	return d.Text
}

// lines is a record as the file has it.
func (r *record) lines() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(r.entry.Text) // a string always has a JSON form
	if len(r.entry.Tokens)+len(r.entry.Typed) > 0 {
		_ = e.Encode(spansLine{r.entry.Tokens, r.entry.Typed})
	}
	return out.Bytes()
}
