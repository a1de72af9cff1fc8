package cli

import (
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
			if !asJSON {
				return printSessions(p, all, limit)
			}
			list := []listedSession{}
			err = eachSession(p, all, limit, func(i folder.Info) error {
				list = append(list, listedSession{i.ID, i.Path, i.Cwd, i.Name, i.FirstPrompt, i.Branch, i.Parent, i.Created, i.Modified, i.Messages, i.Entries, i.Size})
				return nil
			})
			return errors.Join(printJSON(list), err)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of all directories")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().IntVar(&limit, "limit", 0, "only the newest; 0 is all")
	return c
}

// eachSession calls do for the sessions of this directory, or of all, newest first, at
// most limit of them; 0 is no limit. It stops at an error of do. Sessions that cannot be
// read are passed over and become the error at the end.
func eachSession(p *app.Place, all bool, limit int, do func(folder.Info) error) error {
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
		if err := do(info); err != nil {
			return err
		}
		if n++; n == limit {
			break
		}
	}
	if len(problems) > 0 {
		return app.SessionError{Err: errors.Join(problems...)}
	}
	return nil
}

// printSessions prints a line for each session, as soon as it is found.
func printSessions(p *app.Place, all bool, limit int) error {
	none := true
	err := eachSession(p, all, limit, func(i folder.Info) error {
		none = false
		return printSession(os.Stdout, i, all)
	})
	switch {
	case !none:
	case all:
		fmt.Fprintln(os.Stderr, "no sessions yet")
	default:
		fmt.Fprintln(os.Stderr, "no sessions here; --all lists those of other directories")
	}
	return err
}

// printSession writes a line about a session, with the branch of git that it was on; with
// where it says in which directory it was started.
func printSession(w io.Writer, i folder.Info, where bool) error {
	at := ""
	if where {
		at = "  " + printable.Short(i.Cwd)
	}
	if i.Branch != "" {
		at += "  " + command.ShortBranch(i)
	}
	_, err := fmt.Fprintf(w, "%s  %s  %8s  %4d messages%s  %s\n", command.ShortID(i.ID), written(i), printable.Size(i.Size), i.Messages, at, command.Title(i))
	return err
}

// listedSession is a session in the JSON of a listing.
type listedSession struct {
	ID          string    `json:"id"`
	Path        string    `json:"path"`
	Cwd         string    `json:"cwd"`
	Name        string    `json:"name,omitempty"`
	FirstPrompt string    `json:"first_prompt"`
	Branch      string    `json:"git_branch,omitempty"`
	Parent      string    `json:"parent_session,omitempty"`
	Created     time.Time `json:"created"`
	Modified    time.Time `json:"modified"`
	Messages    int       `json:"messages"`
	Entries     int       `json:"entries"`
	Size        int64     `json:"size"`
}
