package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"pi/agent/command"
	"pi/cli/app"
	"pi/internal/printable"
	"pi/session/folder"

	"github.com/spf13/cobra"
)

func sessionsList(o *app.Options) *cobra.Command {
	var all, asJSON bool
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List the sessions of this directory, newest first", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return app.UsageError{Err: fmt.Errorf("--limit %d: at least 0, which is all", limit)}
			}
			p, err := here(*o)
			if err != nil {
				return err
			}
			if asJSON {
				return listSessions(forPrograms(), &jsonList{}, p, all, limit)
			}
			return listSessions(os.Stdout, &lines{all: all}, p, all, limit)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of all directories")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().IntVar(&limit, "limit", 0, "only the newest; 0 is all")
	return c
}

// listing writes sessions as they are found.
type listing interface {
	add(w io.Writer, i folder.Info) error
	end(w io.Writer) error
}

// listSessions writes the sessions of this directory, or of all.
func listSessions(w io.Writer, l listing, p *app.Place, all bool, limit int) error {
	cwd := p.Cwd
	if all {
		cwd = ""
	}
	var problems []error
	n := 0
	for info, err := range folder.Scan(p.Sessions().Root, cwd) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if err := l.add(w, info); err != nil {
			return err
		}
		if n++; n == limit {
			break
		}
	}
	if err := l.end(w); err != nil {
		return err
	}
	if len(problems) > 0 {
		return app.SessionError{Err: errors.Join(problems...)}
	}
	return nil
}

// lines is the listing for people.
type lines struct {
	all bool // with where each was started
	any bool
}

func (l *lines) add(w io.Writer, i folder.Info) error {
	l.any = true
	where := ""
	if l.all {
		where = "  " + printable.Short(i.Cwd)
	}
	_, err := fmt.Fprintf(w, "%s  %s  %8s  %4d messages%s  %s\n", command.ShortID(i.ID), written(i), command.Size(i.Size), i.Messages, where, command.Title(i))
	return err
}

func (l *lines) end(io.Writer) error {
	switch {
	case l.any:
	case l.all:
		fmt.Fprintln(os.Stderr, "no sessions yet")
	default:
		fmt.Fprintln(os.Stderr, "no sessions here; --all lists those of other directories")
	}
	return nil
}

// listedSession is a session in the JSON of a listing.
type listedSession struct {
	ID          string    `json:"id"`
	Path        string    `json:"path"`
	Cwd         string    `json:"cwd"`
	Name        string    `json:"name,omitempty"`
	FirstPrompt string    `json:"first_prompt"`
	Parent      string    `json:"parent_session,omitempty"`
	Created     time.Time `json:"created"`
	Modified    time.Time `json:"modified"`
	Messages    int       `json:"messages"`
	Entries     int       `json:"entries"`
	Size        int64     `json:"size"`
}

// jsonList is an array whose elements are written one by one.
type jsonList struct{ any bool }

func (l *jsonList) add(w io.Writer, i folder.Info) error {
	b, err := indented(listedSession{i.ID, i.Path, i.Cwd, i.Name, i.FirstPrompt, i.Parent, i.Created, i.Modified, i.Messages, i.Entries, i.Size})
	if err != nil {
		return err
	}
	before := ",\n  "
	if !l.any {
		before, l.any = "[\n  ", true
	}
	_, err = fmt.Fprintf(w, "%s%s", before, b)
	return err
}

func (l *jsonList) end(w io.Writer) error {
	text := "\n]\n"
	if !l.any {
		text = "[]\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// indented is v as an element of an array.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
