package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/cli/mcplogin"
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
// what is pasted until the browser comes back. Who leaves the dialog gives it up, by cancel.
func signsInBy(ui agent.UI, cancel context.CancelCauseFunc) oauth.User {
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
	return user
}

// errGivenUp is a sign-in that its user has left.
var errGivenUp = errors.New("nobody signed in")
