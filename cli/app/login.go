package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/agent/provider"
	"pi/cli/keyring"
	"pi/cli/keyring/oauth"
	"pi/cli/providers"
	"pi/internal/printable"
)

// loginCommand returns /login, which asks the user for the key of a provider, tries it and
// keeps it. own are the providers that hooks bring, and may be nil; begin is that of
// [keyring.Login].
func (p *Place) loginCommand(ui agent.UI, own *hookAccounts, begin func(ctx context.Context, provider string) string) command.Command {
	return command.Command{
		Name: "login", Args: "[provider]", Help: "ask for the key of a provider, try it, and keep it",
		More: "The key is not shown as you type it. One small request tries it; it is kept in auth.json,\nwhich only you may read, and other programs that use that file find it there.",
		Complete: func(prefix string) (names []string) {
			for _, a := range own.with(p) {
				if strings.HasPrefix(a.Name, prefix) {
					names = append(names, a.Name)
				}
			}
			return names
		},
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			if !ui.HasUI() {
				return command.Outcome{}, errNobodyToAsk{}
			}
			user := &asking{ui: ui}
			status, err := p.login(user, own, begin).Run(ctx, args)
			return command.Outcome{Status: status, Left: user.left}, err
		},
	}
}

// hookAccounts are the providers that hooks of a run bring or change. nil: there is no run.
type hookAccounts struct {
	settings func() []llm.ProviderSettings
	models   *llm.Models
}

// with returns the accounts of p with those of the hooks.
func (h *hookAccounts) with(p *Place) []keyring.Account {
	accounts := providers.Accounts(p.Config, p.Keys)
	if h == nil {
		return accounts
	}
	return providers.WithHooks(accounts, p.Keys, h.settings())
}

// bring reports whether a hook brings or changes the provider of that name.
func (h *hookAccounts) bring(name string) bool {
	return h != nil && slices.ContainsFunc(h.settings(), func(s llm.ProviderSettings) bool { return s.Name == name })
}

// login returns what asks a user for a key.
func (p *Place) login(user *asking, own *hookAccounts, begin func(ctx context.Context, provider string) string) keyring.Login {
	return keyring.Login{
		Begin: begin, Ring: p.Keys, User: user, Accounts: own.with(p),
		Try: func(ctx context.Context, name, key string) (bool, error) {
			if own.bring(name) {
				return providers.TryKeyOfHook(ctx, own.models, name, key)
			}
			return providers.TryKey(ctx, p.Config, p.Keys, p.Catalogue.Models, name, key)
		},
	}
}

// signIn asks in the terminal for the key of a provider, as an editor wants it where one is
// missing. It fails if none was kept, or it has no effect.
func (p *Place) signIn(ctx context.Context) error {
	if err := provider.CheckProxies(p.Env.getenv); err != nil { // before the key is asked for, which is tried
		return UsageError{Err: err}
	}
	if !p.hasDialogs() {
		return UsageError{Err: errNobodyToAsk{}}
	}
	kept := false
	status, err := p.login(&asking{ui: p.newRun().hooksUser()}, nil, func(context.Context, string) string { kept = true; return "" }).Run(ctx, "")
	if err != nil {
		return err
	}
	fmt.Println(printable.Text(status))
	if !kept {
		return ErrReported
	}
	return nil
}

// errNobodyToAsk is a /login without a user.
type errNobodyToAsk struct{}

func (errNobodyToAsk) Error() string { return "login: there is nobody to ask for a key" }

// Hint is the next step.
func (errNobodyToAsk) Hint() string {
	return "run pi in a terminal and type /login there, or export the variable of the provider (`pi models --all` names it)"
}

// asking asks for keys through a front end.
type asking struct {
	ui   agent.UI
	left bool // the list of providers, with nothing chosen
}

func (a *asking) Choose(ctx context.Context, title string, options []string) (string, bool, error) {
	values, ok, err := a.ui.Select(ctx, title, agent.Choices(options...), agent.DialogOptions{})
	if a.left = !ok || err != nil || len(values) == 0; a.left {
		return "", false, err
	}
	return values[0], true, nil
}

func (a *asking) Ask(ctx context.Context, title string, secret bool) (string, bool, error) {
	return a.ui.Input(ctx, title, "", agent.DialogOptions{Secret: secret})
}

func (a *asking) Browser(left context.CancelCauseFunc) oauth.User {
	return signsInBy(a.ui, func(error) { left(keyring.Left()) })
}

func (a *asking) Confirm(ctx context.Context, title, message string) (bool, error) {
	answer, err := a.ui.Confirm(ctx, title, message, agent.DialogOptions{})
	return answer != agent.No, err
}

// beginWith goes on with the first model of a provider, if the demo has been standing in for
// one, and returns it as [keyring.Login] wants it. That somebody has named the demo makes no
// difference: who gives a key has seen enough of it.
func (r *run) beginWith(ctx context.Context, provider string) string {
	spec, ok := r.models.Lookup(provider)
	if !ok || r.agent.Model().Ref() != TourModel().Ref() {
		return ""
	}
	m := defaultOf(r.models, spec)
	if m == nil {
		return ""
	}
	r.agent.SetModel(ctx, m, "set")
	return m.Ref()
}
