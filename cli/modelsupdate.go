package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/cli/app"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/internal/safefile"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// publicList is where catwalk publishes its list of models.
const publicList = "https://catwalk.charm.land/v2/providers"

// fetchTime is how long a server has to send a list.
const fetchTime = 30 * time.Second

func modelsUpdate(o *app.Options) *cobra.Command {
	var u modelUpdate
	c := &cobra.Command{
		Use: "update [URL|FILE]", Short: "Take a newer list of models, after a question", Args: usageOf(cobra.MaximumNArgs(1)),
		ValidArgsFunction: firstOnly(files),
		Long: `Fetch a list of providers and models in the form of charm.land/catwalk, from its
public service unless another address or a file is given, show what is new, gone,
dearer and smaller, and ask. The list is used where it is newer than that of the
program. It has models and prices only: no address and no key comes from it.

It is kept in catalogue.json of the agent directory, the one before it beside it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			u.place, u.user, u.asks = p, app.Terminal(), term.IsTerminal(int(os.Stdin.Fd()))
			if u.reset {
				return u.restore(args)
			}
			return u.run(cmd.Context(), strings.Join(args, ""))
		},
	}
	c.Flags().BoolVarP(&u.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&u.reset, "reset", false, "go back to the list of the program")
	return c
}

// modelUpdate is one pi models update.
type modelUpdate struct {
	place      *app.Place
	user       app.User
	asks       bool // a user can be asked
	yes, reset bool
}

// restore goes back to the list of the program.
func (u *modelUpdate) restore(args []string) error {
	if len(args) > 0 {
		return app.UsageError{Err: errors.New("models update: --reset takes no list")}
	}
	was, err := u.place.Catalogue.Reset()
	switch {
	case err != nil:
		return err
	case was:
		fmt.Println("the list of the program is used again; the fetched one is " + catalogue.FileName + ".before")
	default:
		fmt.Println("the list of the program is used already")
	}
	return nil
}

// run gets a list, shows what it would change, and keeps it if the user agrees. Nothing
// is changed by a list that is not good.
func (u *modelUpdate) run(ctx context.Context, from string) error {
	if !u.asks && !u.yes {
		return app.UsageError{Err: errors.New("models update asks first, and there is nobody to answer: --yes takes the list without")}
	}
	data, from, err := getList(ctx, from)
	if err != nil {
		return err
	}
	known := func(name string) bool {
		_, ok := u.place.Config.Providers[name]
		return ok
	}
	list, err := catalogue.Read(data, from, time.Now(), known)
	if err != nil {
		return fmt.Errorf("%s: %w\nnothing was changed", from, err)
	}
	if err := u.place.Catalogue.Problem(); err != nil {
		tell("pi: " + err.Error())
	}
	changes := u.place.Catalogue.Compare(list)
	u.show(changes, list)
	question := fmt.Sprintf("Use the list of %s? [y/N] ", from)
	if len(changes) == 0 {
		question = "It has nothing new. Note that it is of today? [y/N] "
	}
	if !u.yes {
		answer, err := u.user.Ask(ctx, question)
		if err != nil || !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
			fmt.Println("nothing was changed")
			return nil
		}
	}
	if err := u.place.Catalogue.Keep(list); err != nil {
		return err
	}
	fmt.Println("the list is used from the next start on; --reset goes back")
	return nil
}

// show prints what a list would change: with names for the providers that can be used, as
// sums for the others.
func (u *modelUpdate) show(changes []catalogue.Changes, list *catalogue.Update) {
	states := providers.States(u.place.Config, u.place.Keys)
	others := catalogue.Changes{}
	count := 0
	for _, c := range changes {
		if state, ok := states[c.Provider]; ok && state.Missing == "" {
			showChanges(c)
			continue
		}
		count++
		others.New, others.Gone = append(others.New, c.New...), append(others.Gone, c.Gone...)
		others.Dearer, others.Smaller = append(others.Dearer, c.Dearer...), append(others.Smaller, c.Smaller...)
	}
	if count > 0 {
		fmt.Printf("%s without a key: %d new, %d gone, %d dearer, %d smaller\n", printable.Count(count, "provider"), len(others.New), len(others.Gone), len(others.Dearer), len(others.Smaller))
	}
	if len(list.Left) > 0 {
		fmt.Printf("left out, since this pi does not know the provider ([providers.NAME] in config.toml describes one), or has it by another name: %s\n", few(list.Left))
	}
	if list.Wrong > 0 {
		fmt.Printf("left out, since their ids are not usable: %s\n", printable.Count(list.Wrong, "model"))
	}
}

func showChanges(c catalogue.Changes) {
	fmt.Println(printable.Line(c.Provider))
	for _, row := range []struct {
		name string
		ids  []string
	}{{"new", c.New}, {"gone", c.Gone}, {"dearer", c.Dearer}, {"smaller", c.Smaller}} {
		if len(row.ids) > 0 {
			fmt.Printf("  %-8s%s\n", row.name, few(row.ids))
		}
	}
	if len(c.New)+len(c.Gone)+len(c.Dearer)+len(c.Smaller) == 0 {
		fmt.Println("  other facts are different, and nothing is dearer or smaller")
	}
}

// few lists the first of many.
func few(ids []string) string {
	const shown = 12
	more := ""
	if n := len(ids) - shown; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
		ids = ids[:shown]
	}
	return printable.Line(strings.Join(ids, ", ") + more)
}

// getList reads the list at an address or in a file; "" is the public one. from is what
// people are told of where it came from.
func getList(ctx context.Context, ref string) (data []byte, from string, err error) {
	if ref == "" {
		ref = publicList
	}
	u, err := url.Parse(ref)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		data, err = safefile.Read(ref, catalogue.MaxList)
		if err != nil {
			return nil, "", app.UsageError{Err: fmt.Errorf("read the list of models: %w\nit is a file or an address, which begins with https://", err)}
		}
		return data, printable.Line(ref), nil
	}
	isHere := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme == "http" && !isHere {
		return nil, "", app.UsageError{Err: fmt.Errorf("the list at %s would come over an open line; use https://", printable.URL(ref))}
	}
	if err := provider.CheckProxies(os.Getenv); err != nil {
		return nil, "", app.UsageError{Err: err}
	}
	data, err = fetchList(ctx, ref)
	if err != nil {
		check := "the network and HTTPS_PROXY"
		if isHere { // no proxy is asked for this machine
			check = "that its server runs"
		}
		return nil, "", fmt.Errorf("fetch the list of models from %s: %w\nnothing was changed; check %s, or give a file or another address", printable.URL(ref), err, check)
	}
	return data, printable.URL(ref), nil
}

// fetchList gets a list from a server; what is too long is an error.
func fetchList(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("no list within %v", fetchTime))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "pi")
	answer, err := provider.NewClient().Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address, which is said already
		}
		return nil, cmpCause(ctx, err)
	}
	defer answer.Body.Close()
	if elsewhere, err := answer.Location(); err == nil {
		return nil, fmt.Errorf("the server says %s and points to %s, which is another one; name that address if you mean it", printable.Line(answer.Status), printable.URL(elsewhere.String()))
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server says %s", printable.Line(answer.Status))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, catalogue.MaxList+1))
	if err != nil {
		return nil, cmpCause(ctx, err)
	}
	return data, nil
}

// cmpCause returns why ctx ended, if it did, else err.
func cmpCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
