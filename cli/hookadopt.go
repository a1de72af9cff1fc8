package cli

import (
	"errors"
	"fmt"
	"os"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func hooksAdopt(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "adopt NAME", Short: "Make a hook of a draft, after a look at the whole difference",
		ValidArgsFunction: firstOnly(draftValues(o)),
		Long: "Shows how the draft NAME in the drafts of the agent directory, and its test, differ from the hook of that\n" +
			"name, and asks once. What was shown is what becomes the hook. It wants a terminal, and is refused while\n" +
			"tools of the agent are at work and where one of them started it. In a session it is /hooks adopt NAME.",
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			d, err := p.Guard.ReadDraft(p.Places(), args[0])
			if err != nil {
				return err
			}
			if !term.IsTerminal(int(os.Stdin.Fd())) {
				return errors.New("a user has to look at the difference, and there is no terminal; in a session it is /hooks adopt " + printable.VisibleLine(d.Name))
			}
			if !app.Terminal().AskAdopt(cmd.Context(), d) {
				fmt.Fprintln(cmd.OutOrStdout(), "not adopted; the draft stays as it is")
				return nil
			}
			if err := p.Guard.Adopt(d); err != nil {
				return fmt.Errorf("adopt %s: %w", d.Name, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "adopted: "+printable.VisibleLine(config.Tilde(d.Hook())))
			return nil
		},
	}
}
