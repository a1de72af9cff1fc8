package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pi/agent/mcp"
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
			return m.signInTo(ctx, args[0])
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

// signInTo asks the server for its tools, signs the user in as it wants it, and asks again.
func (m *mcpPlace) signInTo(ctx context.Context, name string) error {
	e, err := m.entry(name)
	if err != nil {
		return err
	}
	if !e.IsHTTP() {
		return app.UsageError{Err: fmt.Errorf("%s is started here, and there is nothing to sign in to; what it wants to know goes into env of its entry", name)}
	}
	if h, err := m.logins.Handler(e); err != nil || h == nil {
		return errors.Join(err, app.UsageError{Err: fmt.Errorf("%s has an Authorization header in its entry, which signs the requests", name)})
	}
	const most = 3 // it may want more when it knows who asks
	for range most {
		if _, _, _, err = m.servers.Definitions(ctx, name); err == nil && m.logins.State(e) != "" {
			fmt.Println(printable.Line(name + ": " + m.logins.State(e)))
			return nil
		} else if err != nil && !errors.Is(err, mcp.ErrSignIn) {
			return err
		}
		open := err == nil // its list is for everybody: maybe its calls are not
		if err = m.logins.SignIn(ctx, e, signer()); err != nil {
			if open && ctx.Err() == nil {
				return fmt.Errorf("%s lists its tools for everybody, and says of no way to sign in: %w", name, err)
			}
			return err
		}
		if err := m.servers.SignedIn(name); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s still wants a sign-in after %d: %w", name, most, err)
}

func mcpLogout(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget what you are signed in to a server with", Args: exactly(1),
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
