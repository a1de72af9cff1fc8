package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/session/folder"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func sessionsRemove(o *app.Options) *cobra.Command {
	var r removal
	c := &cobra.Command{
		Use: "rm ID|FILE...", Short: "Move sessions to the trash, after a question", Args: usageOf(cobra.MinimumNArgs(1)),
		ValidArgsFunction: orFiles(sessionValues(o)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			r.sessions, r.user = p.Sessions(), app.Terminal()
			r.asks = term.IsTerminal(int(os.Stdin.Fd()))
			return r.run(cmd.Context(), args)
		},
	}
	c.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&r.forGood, "permanently", false, "delete them for good, where there is no trash or none is wanted")
	return c
}

// removal is one pi sessions rm.
type removal struct {
	sessions app.Sessions
	user     app.User
	asks     bool // a user can be asked
	yes      bool
	forGood  bool
}

// run removes the sessions that refs name, after one question about all of them. If one is
// not found, or nobody can be asked, nothing is removed.
func (r *removal) run(ctx context.Context, refs []string) error {
	if !r.asks && !r.yes {
		return app.UsageError{Err: errors.New("sessions rm asks first, and there is nobody to answer: --yes removes them without")}
	}
	var infos []folder.Info
	for _, ref := range refs {
		path, err := r.sessions.FindExisting(ref)
		if err != nil {
			return err
		}
		info, err := folder.Describe(path)
		if err != nil {
			return app.SessionError{Err: err}
		}
		infos = append(infos, info)
	}
	where := "to the trash"
	if r.forGood {
		where = "away for good"
	}
	if !r.confirm(ctx, infos, "Move "+where+"? [y/N] ") {
		fmt.Println("nothing was removed")
		return nil
	}
	var problems []error
	for _, info := range infos {
		problems = append(problems, r.remove(ctx, info))
	}
	return errors.Join(problems...)
}

// confirm shows the sessions, asks the question, and reports whether the user said yes.
// With --yes it asks nothing.
func (r *removal) confirm(ctx context.Context, infos []folder.Info, question string) bool {
	if r.yes {
		return true
	}
	for _, i := range infos {
		_ = printSession(r.user.Out, i, true)
	}
	answer, err := r.user.Ask(ctx, question)
	return err == nil && (strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"))
}

// remove moves a session to the trash. If that is not possible, the user is asked
// whether to delete it for good; with --yes that is an error.
func (r *removal) remove(ctx context.Context, info folder.Info) error {
	to, err := r.sessions.Remove(info.Path, r.forGood)
	if wraps[*folder.NoTrashError](err) {
		if r.yes {
			return app.SessionError{Err: fmt.Errorf("%w\n--permanently deletes it for good", err)}
		}
		fmt.Fprintln(r.user.Out, printable.Text(err.Error()))
		if !r.confirm(ctx, []folder.Info{info}, "Delete it for good? [y/N] ") {
			fmt.Println("session " + info.ID + " stays")
			return nil
		}
		to, err = r.sessions.Remove(info.Path, true)
	}
	switch {
	case err != nil:
		return app.SessionError{Err: err}
	case to == "":
		fmt.Println("deleted session " + info.ID + " for good")
	default:
		fmt.Println(printable.Text("session " + info.ID + " is in the trash: " + to))
	}
	return nil
}
