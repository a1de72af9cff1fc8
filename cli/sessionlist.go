package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"pi/agent/command"
	"pi/cli/app"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"

	"github.com/spf13/cobra"
)

func sessionsList(o *app.Options) *cobra.Command {
	var all, children, asJSON bool
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
			found := sessionsOf(p, all, children)
			if !asJSON {
				return printSessions(found, all, children, limit)
			}
			list := []listedSession{}
			err = eachSession(found, limit, func(i folder.Info) error {
				s := listedSession{ID: i.ID, Path: i.Path, Cwd: i.Cwd, Name: i.Name, FirstPrompt: i.FirstPrompt, Branch: i.Branch, Parent: i.Parent,
					Created: i.Created, Modified: i.Modified, Messages: i.Messages, Entries: i.Entries, Size: i.Size}
				if i.Agent.IsSet() {
					s.Agent = &listedAgent{i.Agent.Name, i.Agent.Depth}
				}
				list = append(list, s)
				return nil
			})
			return errors.Join(printJSON(list), err)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of all directories")
	c.Flags().BoolVar(&children, "children", false, "of agents that others used, each with the session that it worked for")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().IntVar(&limit, "limit", 0, "only this `NUMBER`, the newest; 0 is all")
	return c
}

// sessionsOf finds the sessions of this directory, or of all, newest first: those of users, or of
// agents that others used.
func sessionsOf(p *app.Place, all, children bool) iter.Seq2[folder.Info, error] {
	cwd := p.Cwd
	if all {
		cwd = ""
	}
	if children {
		return folder.ScanChildren(p.Sessions().Root, cwd)
	}
	return folder.Scan(p.Sessions().Root, cwd)
}

// eachSession calls do for sessions that are found, at most limit of them; 0 is no limit. It stops
// at an error of do. Sessions that cannot be read are passed over and become the error at the end.
func eachSession(found iter.Seq2[folder.Info, error], limit int, do func(folder.Info) error) error {
	var problems []error
	n := 0
	for info, err := range found {
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
func printSessions(found iter.Seq2[folder.Info, error], all, children bool, limit int) error {
	none := true
	err := eachSession(found, limit, func(i folder.Info) error {
		none = false
		return printSession(os.Stdout, i, all)
	})
	switch {
	case !none:
	case children:
		fmt.Fprintln(os.Stderr, "no sessions of agents that others used, but those that were not kept")
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
	if i.Agent.IsSet() {
		at += "  " + printable.Line(i.Agent.Name) + usedBy(i)
	}
	if i.Branch != "" {
		at += "  " + command.ShortBranch(i)
	}
	_, err := fmt.Fprintf(w, "%s  %s  %8s  %4d messages%s  %s\n", command.ShortID(i.ID), written(i), printable.Size(i.Size), i.Messages, at, command.Title(i))
	return err
}

// usedBy says for which session an agent worked, as far as its own says so.
func usedBy(i folder.Info) string {
	if h, err := session.ReadHeader(i.Parent); i.Parent != "" && err == nil {
		return " for " + command.ShortID(h.ID)
	}
	return ""
}

// listedAgent is the agent of a session in the JSON of a listing.
type listedAgent struct {
	Name  string `json:"name"`
	Depth int    `json:"depth"`
}

// listedSession is a session in the JSON of a listing.
type listedSession struct {
	ID          string       `json:"id"`
	Path        string       `json:"path"`
	Cwd         string       `json:"cwd"`
	Name        string       `json:"name,omitempty"`
	FirstPrompt string       `json:"first_prompt"`
	Branch      string       `json:"git_branch,omitempty"`
	Parent      string       `json:"parent_session,omitempty"`
	Agent       *listedAgent `json:"agent,omitempty"`
	Created     time.Time    `json:"created"`
	Modified    time.Time    `json:"modified"`
	Messages    int          `json:"messages"`
	Entries     int          `json:"entries"`
	Size        int64        `json:"size"`
}
