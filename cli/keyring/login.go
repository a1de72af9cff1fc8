package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/cli/config"
	"pi/internal/suggest"
)

// User is who is asked for a key. ok is false if they do not answer.
type User interface {
	Choose(ctx context.Context, title string, options []string) (choice string, ok bool, err error)
	AskSecret(ctx context.Context, title string) (text string, ok bool, err error) // what is typed is not shown
	Confirm(ctx context.Context, title, message string) (bool, error)
}

// Account is a provider of which a key can be kept.
type Account struct {
	Name    string
	Aliases []string
	Title   string // for people
	From    string // where its key is now; "" for none
	Before  string // what has a key that comes before that of auth.json; "" for nothing
	Undo    string // how that is taken out
	Model   string // one to ask, "provider/id"; "" if none is known
}

// Login asks a user for the key of a provider, tries it, and keeps it.
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
}

// Run does it for the provider of that name; "" asks which. The status is what the user
// is told; neither it nor an error has the key in it. A key that was not taken by the
// server, or could not be tried, is kept only if the user says so.
func (l Login) Run(ctx context.Context, name string) (status string, err error) {
	account, ok, err := l.account(ctx, name)
	if err != nil || !ok {
		return "login: no key was changed", err
	}
	title := fmt.Sprintf("Key of %s (it is not shown)", account.Title)
	key, ok, err := l.User.AskSecret(ctx, title)
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

// account returns the provider that the user means; ok is false if they choose none.
func (l Login) account(ctx context.Context, name string) (a Account, ok bool, err error) {
	if name != "" {
		return l.named(name)
	}
	lines := l.lines()
	choice, ok, err := l.User.Choose(ctx, "Key of which provider?", lines)
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

// lines returns a line for each provider: its name, and where its key is.
func (l Login) lines() (lines []string) {
	width := 0
	for _, a := range l.Accounts {
		width = max(width, len(a.Name))
	}
	for _, a := range l.Accounts {
		line := fmt.Sprintf("%-*s  %s", width, a.Name, a.Title)
		if a.From != "" {
			line += " (has a key: " + a.From + ")"
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
	if a.Before != "" {
		return text + "\nit has no effect yet: " + a.Before + " comes before it; " + a.Undo
	}
	if model := l.Begin(ctx, a.Name); model != "" {
		return text + "; the model is " + model + " now"
	}
	if a.Model != "" && outcome == "works" {
		text += "; /model " + a.Model + " asks it"
	}
	return text
}
