package export

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pi/session"
	"pi/session/export/page"
)

// PageOptions say what a page shows besides the session.
type PageOptions = page.Options

// HTML writes the session as one page that needs nothing else: the current branch to read, the
// others to switch to. With a *[PartError] it has written all that there still is.
func HTML(w io.Writer, s *session.Session, o PageOptions) error {
	gone, err := page.Write(w, s, o)
	if err == nil && gone > 0 {
		err = &PartError{Gone: gone, Of: len(s.Entries())}
	}
	return err
}

// Why a page is refused to programs.
var (
	ErrInMemory = errors.New("in-memory session")
	ErrEmpty    = errors.New("Nothing to export yet") //lint:ignore ST1005 clients show it as it is
)

// PageToFile writes the session as a page for a program that asks for it, and returns the absolute path
// of the file: output, which is in cwd if it is relative, or, if output is "", a file in cwd
// that is named for that of the session. A page that pi wrote before is replaced; any other file is an
// *[ExistsError]. A session without a file is refused with [ErrInMemory], one without
// entries with [ErrEmpty].
func PageToFile(s *session.Session, cwd, output string) (path string, err error) {
	switch {
	case s.File() == "":
		return "", ErrInMemory
	case len(s.Entries()) == 0:
		return "", ErrEmpty
	}
	if path = output; path == "" {
		path = PageName(s)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	html, err := Named("html")
	if err != nil {
		return "", err
	}
	err = ToFile(path, html, s, isPage(path))
	var part *PartError
	var exists *ExistsError
	switch {
	case errors.As(err, &exists) && exists.Reason == "": // a program cannot say --force
		return "", &ExistsError{path, "it is a file that pi did not write as a page"}
	case err != nil && !errors.As(err, &part):
		return "", err
	}
	return path, nil
}

// PageName is the name of the page of a session that has a file.
func PageName(s *session.Session) string {
	return "pi-session-" + strings.TrimSuffix(filepath.Base(s.File()), ".jsonl") + ".html"
}

// isPage reports whether the file at path is a page of pi's.
func isPage(path string) bool {
	stat, err := os.Stat(path)
	if err != nil || !stat.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := bufio.NewReaderSize(f, 4<<10).Peek(2 << 10)
	return bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) && hasGenerator(head)
}

// hasGenerator reports whether a page says that pi wrote it, of whatever version.
func hasGenerator(head []byte) bool {
	const generator = `<meta name="generator" content="pi`
	return bytes.Contains(head, []byte(generator+" ")) || bytes.Contains(head, []byte(generator+`"/>`)) // as before pages had a version
}
