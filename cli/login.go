package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"pi/cli/app"
	"pi/cli/keyring"
	"pi/cli/providers"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

func loginCommand(o *app.Options) *cobra.Command {
	var list, key bool
	c := &cobra.Command{
		Use: "login [NAME]", Short: "Sign in to a provider of models, or keep its key",
		Args: usageOf(cobra.MaximumNArgs(1)),
		Long: `Sign in to a provider as it offers it: in a browser, which is opened (BROWSER says
which) and comes back to this machine, or whose last address is pasted here; with a
code that is typed in any browser; or with a key. It needs no terminal: address and
code are printed and waited for, and a key is a line of standard input. What comes of
it is kept in auth.json, and a login is renewed by itself.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			if list {
				return listLogins(p)
			}
			how, name := keyring.AskHow, ""
			if key {
				how = keyring.WithTheKey
			}
			if len(args) > 0 {
				name = args[0]
			}
			return p.SignIn(cmd.Context(), name, how)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the providers with what each offers and what is there; no hook is run for that")
	c.Flags().BoolVar(&key, "key", false, "type a key, also where one can sign in")
	return c
}

// listLogins prints the providers that one can sign in to, and what else auth.json has.
func listLogins(p *app.Place) error {
	tell(providers.Problems(p.Config, p.Keys)...)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	known := []string{}
	for _, a := range providers.Accounts(p.Config, p.Keys) {
		known = append(append(known, a.Name), a.Aliases...)
		fmt.Fprintln(w, strings.TrimRight(printable.VisibleLine(a.Name)+"\t"+a.Offers()+"\t"+a.There(), "\t"))
	}
	for _, h := range p.Keys.Held() {
		if !slices.Contains(known, h.Name) {
			fmt.Fprintln(w, printable.VisibleLine(h.Name)+"\t\t"+h.String()+" in auth.json")
		}
	}
	return w.Flush()
}

func logoutCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget the login or key of a provider that is kept in auth.json", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			status, err := p.SignOut(args[0])
			if err == nil {
				fmt.Println(printable.Text(status))
			}
			return err
		},
	}
}
