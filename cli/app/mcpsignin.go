package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/cli/mcplogin"
	"pi/internal/printable"
)

// SignInTo signs a user in to a server: it asks for the tools, signs in as the server wants it,
// and asks again. It returns what is to be said of the login. The error is a usage error for a server
// that has none.
func SignInTo(ctx context.Context, servers *mcp.Servers, logins *mcplogin.Logins, name string, user oauth.User) (state string, err error) {
	status, err := servers.Server(name)
	if err != nil {
		return "", UsageError{Err: err}
	}
	e := *status.Entry
	if !e.IsHTTP() {
		return "", UsageError{Err: fmt.Errorf("%s is started here, and there is nothing to sign in to; what it wants to know goes into env of its entry", name)}
	}
	if h, err := logins.Handler(e); err != nil || h == nil {
		return "", errors.Join(err, UsageError{Err: fmt.Errorf("%s has an Authorization header in its entry, which signs the requests", name)})
	}
	const most = 3 // it may want more when it knows who asks
	for round := 0; ; round++ {
		_, wants := logins.Wants(e)
		var refused error
		if !wants {
			_, _, _, refused = servers.Definitions(ctx, name)
		}
		isOpen := !wants && refused == nil // its list is for everybody: maybe its calls are not
		switch state := logins.State(e); {
		case isOpen && state != "":
			return state, nil
		case refused != nil && !errors.Is(refused, mcp.ErrSignIn):
			return "", refused
		case round == most:
			return "", fmt.Errorf("you have signed in %d times, and it is not enough: %w", most, cmp.Or(refused, mcp.ErrSignIn))
		}
		if err := logins.SignIn(ctx, e, user); err != nil {
			if isOpen && ctx.Err() == nil {
				return "", fmt.Errorf("%s lists its tools for everybody, and says of no way to sign in: %w", name, err)
			}
			return "", err
		}
		if err := servers.SignedIn(name); err != nil {
			return "", err
		}
	}
}

// signsInBy is the user of a front end who signs in: the address is told, and a dialog stands open for
// what is pasted until the browser comes back, or to copy a code that is typed elsewhere. Who leaves
// the dialog gives it up, by cancel.
func signsInBy(ui agent.UI, cancel context.CancelCauseFunc) oauth.User {
	copies := copierTo(ui)
	user := oauth.User{Tell: func(text string) { ui.Notify(text, agent.LevelInfo) }, Open: oauth.Browser{}.Open}
	if !ui.HasUI() {
		return user
	}
	user.Paste = func(ctx context.Context) (string, error) {
		text, ok, err := ui.Input(ctx, "Sign in in the browser, or paste the address that it ends at", "", agent.DialogOptions{})
		if err == nil && !ok {
			cancel(errGivenUp)
			err = errGivenUp
		}
		return text, err
	}
	user.Wait = func(ctx context.Context, code string) error {
		for { // Enter copies as often as somebody likes
			_, ok, err := ui.Input(ctx, "Waiting until the code "+code+" is typed; Enter copies it", "", agent.DialogOptions{Empty: true})
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil && !ok:
				cancel(errGivenUp)
				return errGivenUp
			case err != nil:
				return nil // it is waited for all the same
			}
			how, err := copies(ctx, code)
			if err != nil {
				ui.Notify("the code was not copied: "+printable.Line(err.Error()), agent.LevelWarning)
				continue
			}
			ui.Notify("the code is copied, by "+how, agent.LevelInfo)
		}
	}
	return user
}

// signInFor returns what asks the user, in the middle of a call, to sign in for more; see
// [mcp.Options]. Of several calls one asks, and the others wait for what comes of it.
func (s *runServers) signInFor(logins *mcplogin.Logins) func(ctx context.Context, e mcp.Entry, missing []string) bool {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, e mcp.Entry, missing []string) bool {
		ui := s.user()
		if !ui.HasUI() {
			return false
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return false
		}
		if _, wants := logins.Wants(e); !wants {
			return true // the call before signed in
		}
		answer, err := ui.Confirm(ctx, fmt.Sprintf("The MCP server %s wants more than you are signed in for. Sign in for that, in a browser?", e.Name),
			"It wants: "+printable.Short(printable.Line(strings.Join(missing, " "))), agent.DialogOptions{})
		if err != nil || answer == agent.No {
			return false
		}
		signing, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		err = logins.SignIn(signing, e, signsInBy(ui, cancel))
		if err != nil && !errors.Is(err, errGivenUp) && ctx.Err() == nil {
			ui.Notify(err.Error(), agent.LevelWarning)
		}
		return err == nil
	}
}

// errGivenUp is a sign-in that its user has left.
var errGivenUp = errors.New("nobody signed in")
