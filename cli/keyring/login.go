package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/keyring/oauth"
	"pi/internal/suggest"
)

// User is who is asked for a key, or signs in. ok is false if they do not answer.
type User interface {
	Choose(ctx context.Context, title string, options []string) (choice string, ok bool, err error)
	Ask(ctx context.Context, title string, secret bool) (text string, ok bool, err error) // secret: what is typed is not shown
	Confirm(ctx context.Context, title, message string) (bool, error)
	// Browser returns the user as one who signs in with a browser. If they leave, left is called with
	// [Left].
	Browser(left context.CancelCauseFunc) oauth.User
}

// Account is a provider that one can sign in to, or of which a key can be kept.
type Account struct {
	Name    string
	Aliases []string
	Title   string // for people
	From    string // where its key is now; "" for none
	Before  string // what has a key that comes before that of auth.json; "" for nothing
	Undo    string // how that is taken out
	Model   string // one to ask, "provider/id"; "" if none is known

	Login *llm.Login // how one signs in; nil: with a key
	Held  *Held      // what auth.json has; nil: nothing
}

// Login signs a user in to a provider, or asks them for a key, tries it, and keeps it.
type Login struct {
	Ring     *Ring
	User     User
	Accounts []Account

	// Try sends one request with the key. refused says that the server does not take it;
	// any other error, that it is not known whether it would.
	Try func(ctx context.Context, provider, key string) (refused bool, err error)

	// Begin goes on with a model of a provider whose key was kept, where the user has been
	// waiting for one, and returns that, as "provider/id"; "" where nothing changes.
	Begin func(ctx context.Context, provider string) (model string)

	How How // where a provider offers both
}

// How is which way is wanted where a provider takes a key and a browser.
type How uint8

// The ways.
const (
	AskHow     How = iota // the user is asked
	ByBrowser             // they sign in
	WithTheKey            // they type a key, also where only a sign-in is offered
)

// Run does it for the provider of that name; "" asks which. The status is what the user
// is told; neither it nor an error has the key in it. A key that was not taken by the
// server, or could not be tried, is kept only if the user says so.
func (l Login) Run(ctx context.Context, name string) (status string, err error) {
	account, ok, err := l.account(ctx, name)
	if err != nil || !ok {
		return "login: no key was changed", err
	}
	how, ok, err := l.how(ctx, account)
	switch {
	case err != nil || !ok:
		return "login: nothing was changed", err
	case how == ByBrowser:
		return l.signIn(ctx, account)
	}
	title := fmt.Sprintf("Key of %s (it is not shown)", account.Title)
	key, ok, err := l.User.Ask(ctx, title, true)
	if key = strings.TrimSpace(key); err != nil || !ok || key == "" {
		return "login: no key was changed", err
	}
	if err := l.Ring.checkKey(key); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	outcome, keep, err := l.try(ctx, account, key)
	if err != nil || !keep {
		return "login: the key was not kept", err
	}
	if err := l.Ring.Keep(account.Name, key); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	return l.told(ctx, account, outcome), nil
}

// how returns whether the user signs in or types a key; ok is false if they choose neither.
func (l Login) how(ctx context.Context, a Account) (how How, ok bool, err error) {
	switch {
	case l.How == WithTheKey || !a.HasSignIn():
		return WithTheKey, true, nil
	case l.How == ByBrowser || a.Login.Kind != LoginOpenRouter:
		return ByBrowser, true, nil
	}
	const browser, key = "Sign in with a browser", "Type a key"
	choice, ok, err := l.User.Choose(ctx, "How do you want to sign in to "+a.Title+"?", []string{browser, key})
	if choice == key {
		return WithTheKey, ok, err
	}
	return ByBrowser, ok && choice == browser, err
}

// account returns the provider that the user means; ok is false if they choose none.
func (l Login) account(ctx context.Context, name string) (a Account, ok bool, err error) {
	if name != "" {
		return l.named(name)
	}
	lines := l.lines()
	choice, ok, err := l.User.Choose(ctx, "Sign in to which provider?", lines)
	i := slices.Index(lines, choice)
	if err != nil || !ok || i < 0 {
		return Account{}, false, err
	}
	return l.Accounts[i], true, nil
}

// named returns the provider with that name. The error does not repeat the name, which
// might be a key.
func (l Login) named(name string) (Account, bool, error) {
	var names []string
	for _, a := range l.Accounts {
		if a.Name == name || slices.Contains(a.Aliases, name) {
			return a, true, nil
		}
		names = append(names, a.Name)
	}
	if len(strings.Fields(name)) > 1 {
		return Account{}, false, errors.New("/login takes the name of a provider; it asks for the key itself")
	}
	return Account{}, false, fmt.Errorf("login: there is no provider of that name%s", suggest.Hint(name, names))
}

// lines returns a line for each provider: its name, what it offers, and what is there.
func (l Login) lines() (lines []string) {
	width := 0
	for _, a := range l.Accounts {
		width = max(width, len(a.Name))
	}
	for _, a := range l.Accounts {
		line := fmt.Sprintf("%-*s  %s, with %s", width, a.Name, a.Title, a.Offers())
		if there := a.There(); there != "" {
			line += " (" + there + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// try tries the key and, if it does not work, asks whether to keep it all the same.
func (l Login) try(ctx context.Context, a Account, key string) (outcome string, keep bool, err error) {
	refused, err := l.Try(ctx, a.Name, key)
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case err == nil:
		return "works", true, nil
	}
	text := strings.ReplaceAll(err.Error(), key, "…")
	title, outcome := "The key could not be tried. Keep it all the same?", "was not tried"
	if refused {
		title, outcome = a.Title+" refuses the key. Keep it all the same?", "was refused"
	}
	keep, err = l.User.Confirm(ctx, title, text)
	return outcome, keep, err
}

// told returns what the user is told about a key that was kept.
func (l Login) told(ctx context.Context, a Account, outcome string) string {
	text := fmt.Sprintf("the key of %s %s and is kept in %s", a.Name, outcome, config.Tilde(l.Ring.auth.path))
	return l.after(ctx, a, text, outcome == "works")
}

// after adds to what the user is told what comes of it: what stands in the way, or the model that is
// asked now.
func (l Login) after(ctx context.Context, a Account, text string, works bool) string {
	if a.Before != "" {
		return text + "\nit has no effect yet: " + a.Before + " comes before it; " + a.Undo
	}
	if model := l.Begin(ctx, a.Name); model != "" {
		return text + "; the model is " + model + " now"
	}
	if a.Model != "" && works {
		text += "; /model " + a.Model + " asks it"
	}
	return text
}
