package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func trustCommand(o *app.Options) *cobra.Command {
	var list, yes, revoke, asJSON bool
	c := &cobra.Command{
		Use: "trust", Short: "Show the hooks, agents and MCP servers of this project and what waits for approval, and approve them", Args: exactly(0),
		Long: "Shows every file that approval covers: the Lua files below .pi/hooks, the hooks that .pi/config.toml names,\n" +
			"and their modules; the agents in .pi/agents and .claude/agents; .pi/mcp.json or .mcp.json with its servers, and\n" +
			"the files that these are made of; the files that changed while the agent was at work; and .pi/packages.toml with\n" +
			"the packages that it names, which are fetched after the yes. Then it asks.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			switch {
			case revoke:
				if err := p.Guard.Revoke(); err != nil {
					return err
				}
				fmt.Println("nothing of " + printable.VisibleLine(p.Cwd) + " is approved or refused any more")
				return nil
			case asJSON:
				l := trustListing{Project: p.Cwd, Never: p.Guard.Store().IsRefused(p.Cwd), Files: p.ProjectFiles(), Pending: p.Waiting(true)}
				if err := p.Places().TooLarge(); err != nil {
					l.TooLarge = err.Error()
				}
				return printJSON(l)
			}
			return runTrust(cmd.Context(), p, list, yes)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "only show")
	c.Flags().BoolVar(&yes, "yes", false, "approve what is shown, without asking")
	c.Flags().BoolVar(&revoke, "revoke", false, "take back what was approved or refused for this project")
	c.Flags().BoolVar(&asJSON, "json", false, "only show, as JSON")
	return c
}

// trustListing is what approval concerns here, for JSON: the hooks of the project and the
// changed files that wait.
type trustListing struct {
	Project  string              `json:"project"`
	Never    bool                `json:"never"`
	TooLarge string              `json:"too_large,omitempty"` // why nothing of it can be approved
	Files    []trust.ProjectFile `json:"files"`
	Pending  []trust.Pending     `json:"pending"`
}

// runTrust shows the files that can be approved and, on a terminal, asks about them. list
// only shows them, yes approves all without a question. The error says what is still not
// approved, unless the user was asked or only wanted the list.
func runTrust(ctx context.Context, p *app.Place, list, yes bool) error {
	files, waiting := p.ProjectFiles(), p.Waiting(true)
	ask := !list && !yes && term.IsTerminal(int(os.Stdin.Fd()))
	fmt.Print(app.ListFiles(p.Cwd, files))
	if p.Guard.Store().IsRefused(p.Cwd) {
		fmt.Println("you said never to run hooks and servers of this project or to use its agents")
	}
	var problems []error
	open := 0
	mended, err := mendTeam(ctx, p, list, yes)
	if problems = append(problems, err); mended {
		waiting = p.Waiting(true)
	}
	for _, w := range waiting {
		approve := yes
		if ask {
			approve = app.Terminal().AskPending(ctx, w)
		} else {
			fmt.Print(app.DescribePending(w))
		}
		if !approve {
			open++
		} else if err := p.Accept(ctx, w, tell); err != nil {
			problems = append(problems, err)
		}
	}
	if len(waiting) > open {
		files = p.ProjectFiles() // as they are now
	}
	left, err := trustProject(ctx, p, files, ask, yes)
	problems = append(problems, err)
	if open += left; open > 0 && !list && !ask {
		is := "are"
		if open == 1 {
			is = "is"
		}
		problems = append(problems, &app.UntrustedError{Text: printable.Count(open, "file") + " " + is + " not approved"})
	}
	if err := p.Places().TooLarge(); err != nil {
		problems = append(problems, fmt.Errorf("%w: none of them runs or can be approved", err))
	} else if len(files)+len(waiting) == 0 {
		fmt.Println("this project has no hooks, agents or MCP servers, and nothing waits for approval")
	}
	return errors.Join(problems...)
}

// mendTeam fetches anew the packages of the project that are not here as they were approved, and those
// that never came, if the user agreed to them before and is there, or wants it with yes.
func mendTeam(ctx context.Context, p *app.Place, list, yes bool) (mended bool, err error) {
	broken := p.Guard.TeamToMend(p.Places())
	if list || len(broken) == 0 || !yes && !term.IsTerminal(int(os.Stdin.Fd())) {
		return false, nil
	}
	if err := p.FetchTeam(ctx, broken, tell); err != nil {
		return false, err
	}
	return true, nil
}

// trustProject asks about the hooks of the project, or approves them with yes, and returns
// how many are still not approved.
func trustProject(ctx context.Context, p *app.Place, files []trust.ProjectFile, ask, yes bool) (open int, err error) {
	for _, f := range files {
		if !f.Approved {
			open++
		}
	}
	never := p.Guard.Store().IsRefused(p.Cwd)
	if open == 0 && !never {
		return 0, nil
	}
	answer := trust.AnswerNo
	if yes {
		answer = trust.AnswerAlways
	} else if ask {
		answer = app.Terminal().AskProject(ctx, trust.Question{Project: p.Cwd, Files: files})
	}
	if answer == trust.AnswerAlways {
		if err := fetchNamed(ctx, p, files); err != nil {
			return open, err
		}
	}
	switch answer {
	case trust.AnswerOnce:
		fmt.Println("once is for a run: pi --approve")
	case trust.AnswerAlways:
		if err := p.Guard.ApproveAlways(files); err != nil {
			return open, err
		}
		effect := ""
		if p.Guard.OthersAtWork() { // it takes the approval for a change by one of its tools
			effect = "; but tools of another pi are at work, so that one asks about it when they have ended"
		}
		fmt.Println("approved" + effect)
		return 0, nil
	case trust.AnswerNever:
		return 0, p.Guard.Refuse()
	}
	return open, nil
}
