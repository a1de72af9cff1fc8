// Package export writes sessions for somewhere else.
//
//	JSONL     all of it, byte for byte: a file that pi goes on with
//	Markdown  the current branch, for people to read
//	HTML      all of it as one page, for browsers; package page writes it
//
// [Format] finds the one that a user means, and [ToFile] writes to a file
// without doing harm to what is there.
package export

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"pi/session"
)

// Format is a form that sessions are written in.
type Format struct {
	Name string // as a user names it, and the ending of files

	// Write writes all of s. With a *[PartError] it has written all that there still is;
	// any other error ended the writing.
	Write func(w io.Writer, s *session.Session) error
}

// Formats lists what there is; the first is the one for who names none.
func Formats() []Format {
	html := func(w io.Writer, s *session.Session) error { return HTML(w, s, PageOptions{}) }
	return []Format{{"jsonl", JSONL}, {"md", Markdown}, {"html", html}}
}

// Named returns the format of that name.
func Named(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	last := len(names) - 1
	return Format{}, fmt.Errorf("there is no format %q: the formats are %s and %s", name, strings.Join(names[:last], ", "), names[last])
}

// Request is what a user asks to be written.
type Request struct {
	Format Format
	File   string // "" for the usual name, or wherever the caller likes
}

// Choose makes a request of the name of a format and a file, either of which may be "".
// If the format is "", it is the ending of the file, and if there is no file or no
// ending, it is the first of [Formats]. The error says that there is no such format,
// also if the name came from the ending.
func Choose(format, file string) (r Request, err error) {
	r.File = file
	if format == "" {
		format = strings.TrimPrefix(filepath.Ext(file), ".")
	}
	if format == "" {
		format = Formats()[0].Name
	}
	r.Format, err = Named(format)
	return r, err
}

// Parse reads a format, a file, or both from one line. The name of the file may
// have blanks in it.
func Parse(text string) (Request, error) {
	format, file, _ := strings.Cut(strings.TrimSpace(text), " ")
	if _, err := Named(format); err == nil {
		return Choose(format, strings.TrimSpace(file))
	}
	if file == "" && !strings.ContainsAny(format, `./\~`) {
		return Choose(format, "") // one word without dots and slashes: a format that does not exist
	}
	return Choose("", strings.TrimSpace(text))
}

// Name is the usual name of the file that a session is written to.
func (r Request) Name(s *session.Session) string {
	return "session-" + s.ID() + "." + r.Format.Name
}

// PartError says that a session was written without some of its entries, which
// somebody has taken out of its file.
type PartError struct{ Gone, Of int }

func (e *PartError) Error() string {
	return fmt.Sprintf("%d of %d entries can no longer be read from the session's file; all others are written", e.Gone, e.Of)
}

// JSONL writes the session as a session file. With a *[PartError] it has written
// all that there still is.
func JSONL(w io.Writer, s *session.Session) error {
	part := PartError{Of: len(s.Entries())}
	for line, err := range s.Lines() {
		var gone *session.GoneError
		if errors.As(err, &gone) {
			part.Gone++
			continue
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
	}
	if part.Gone > 0 {
		return &part
	}
	return nil
}
