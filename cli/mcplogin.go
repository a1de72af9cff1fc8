package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pi/cli/app"
	"pi/cli/keyring/oauth"
	"pi/cli/mcplogin"
	"pi/internal/printable"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
)

func mcpLogin(o *app.Options) *cobra.Command {
	var patience time.Duration
	c := &cobra.Command{
		Use: "login NAME", Short: "Sign in to a server, in a browser", Args: exactly(1),
		ValidArgsFunction: firstOnly(serverValues(o)),
		Long: `Sign in to a server that is reached over HTTP and asks for it. An address is opened
in a browser (BROWSER says in which) and shown; the answer comes back to this machine,
or the address that the browser ended at is pasted here. It needs no terminal. The
status is 0 only if the server lets its tools be listed then.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := openMCP(o)
			if err != nil {
				return err
			}
			defer m.servers.Close()
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), patience, fmt.Errorf("nobody signed in within %v", patience))
			defer cancel()
			state, err := app.SignInTo(ctx, m.servers, m.logins, args[0], signer())
			if err != nil {
				return err
			}
			fmt.Println(printable.Line(args[0] + ": " + state))
			return nil
		},
	}
	c.Flags().DurationVar(&patience, "timeout", 5*time.Minute, "give up after this `TIME`")
	return c
}

// signer is the user of this command: the address is told, what is typed is pasted, and a browser
// is opened.
func signer() oauth.User {
	terminal := app.Terminal()
	return oauth.User{
		Tell:  func(text string) { tell(text) },
		Paste: func(ctx context.Context) (string, error) { return terminal.Ask(ctx, "") },
		Open:  oauth.Browser{}.Open,
	}
}

func mcpLogout(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget what you are signed in to a server with", Args: exactly(1),
		ValidArgsFunction: firstOnly(serverValues(o)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			was, err := p.Logins("").SignOut(args[0])
			if err != nil {
				return err
			}
			if !was {
				fmt.Println("you are not signed in to " + printable.VisibleLine(args[0]))
				return nil
			}
			fmt.Println(printable.VisibleLine(args[0]) + ": the login is gone from " + mcplogin.FileName + "; the server still knows it until it runs out")
			return nil
		},
	}
}

// hintOf is a suggestion for a name that there is not, or the names that there are.
func hintOf(name string, names []string) string {
	if hint := suggest.Hint(name, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return ", and no other"
	}
	return "; there are " + printable.VisibleLine(strings.Join(names, ", "))
}
