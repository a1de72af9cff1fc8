package app

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	"pi/internal/suggest"
)

// loginCommand returns /login, which asks the user for the key of a provider, tries it and
// keeps it. own are the providers that hooks bring, and may be nil; begin is that of
// [keyring.Login].
func (p *Place) loginCommand(ui agent.UI, own *hookAccounts, begin func(ctx context.Context, provider string) string) command.Command {
	return command.Command{
		Name: "login", Args: "[provider]", Help: "sign in to a provider, or ask for its key, try it, and keep it",
		More: "The list says what each provider offers, and what is there. A sign-in opens a browser, or shows a\ncode; a key is not shown as you type it, and one small request tries it. What comes of it is kept\nin auth.json, which only you may read, and other programs that use that file find it there.",
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

// logoutCommand returns /logout, which removes what auth.json has of a provider.
func (p *Place) logoutCommand(ui agent.UI, own *hookAccounts) command.Command {
	return command.Command{
		Name: "logout", Args: "[provider]", Help: "forget the login or key of a provider that is kept in auth.json",
		Complete: func(prefix string) (names []string) {
			for _, h := range p.Keys.Held() {
				if strings.HasPrefix(h.Name, prefix) {
					names = append(names, h.Name)
				}
			}
			return names
		},
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			name := strings.TrimSpace(args)
			if name == "" {
				held := p.Keys.Held()
				if len(held) == 0 {
					return command.Outcome{Status: "logout: nothing is kept in auth.json"}, nil
				}
				if !ui.HasUI() {
					return command.Outcome{}, errors.New("logout: of which provider? /logout NAME")
				}
				var choices []agent.Choice
				for _, h := range held {
					choices = append(choices, agent.Choice{Value: h.Name, Label: h.Name, Description: h.String()})
				}
				values, ok, err := ui.Select(ctx, "Forget the login of which provider?", choices, agent.DialogOptions{})
				if err != nil || !ok || len(values) == 0 {
					return command.Outcome{Status: "logout: nothing was changed", Left: true}, err
				}
				name = values[0]
			}
			status, err := p.logout(own.with(p), name)
			return command.Outcome{Status: status}, err
		},
	}
}

// SignOut removes what auth.json has of a provider, and says what comes of it.
func (p *Place) SignOut(name string) (status string, err error) {
	return p.logout((*hookAccounts)(nil).with(p), name)
}

// logout removes what auth.json has of the provider of that name; accounts are those that are known.
func (p *Place) logout(accounts []keyring.Account, name string) (status string, err error) {
	names, known := []string{name}, []string(nil)
	for _, a := range accounts {
		if a.Name == name || slices.Contains(a.Aliases, name) {
			names = append([]string{a.Name}, a.Aliases...)
		}
		known = append(known, a.Name)
	}
	was, err := p.Keys.Forget(names...)
	switch {
	case err != nil:
		return "", err
	case was:
		return printable.VisibleLine(names[0]) + ": what auth.json had is gone; the server still knows it until it runs out or you end it there" + p.stillFrom(names[0]), nil
	case len(names) == 1 && !slices.Contains(known, name):
		return "", UsageError{Err: fmt.Errorf("there is no provider of that name%s", suggest.Hint(name, known))}
	}
	return "auth.json has nothing of " + printable.VisibleLine(names[0]) + p.stillFrom(names[0]), nil
}

// stillFrom says where a key of a provider is found all the same; "" if there is none.
func (p *Place) stillFrom(name string) string {
	if from := providers.States(p.Config, p.Keys)[name].From; from != "" {
		return "; a key of it is found in " + from
	}
	return ""
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
func (p *Place) login(user keyring.User, own *hookAccounts, begin func(ctx context.Context, provider string) string) keyring.Login {
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

// signIn signs a user in in the terminal, or asks for a key, as an editor wants it where one is
// missing: it fails if none was kept, or it has no effect. No hook is loaded for that.
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

// SignIn signs a user in to a provider for a command of a shell, with a terminal or without; "" asks
// which. how says which way is wanted where a provider has several. Hooks are loaded, since one may
// say how.
func (p *Place) SignIn(ctx context.Context, name string, how keyring.How) error {
	if err := provider.CheckProxies(p.Env.getenv); err != nil {
		return UsageError{Err: err}
	}
	p.Session = SessionFlags{None: true}
	r := p.newRun()
	user := shellUser{terminal: Terminal(), isThere: p.Attended(), ask: early{user: User{in: os.Stdin, Out: os.Stderr}}}
	if name == "" && !user.isThere {
		return UsageError{Err: errors.New("pi login: to which provider? pi login NAME; pi login --list names them")}
	}
	if !user.isThere && how == keyring.AskHow {
		how = keyring.ByBrowser
	}
	return r.with(ctx, front{silent{}, agent.NoUI{Notices: func(text string, level agent.Level) {
		if level != agent.LevelInfo {
			user.ask.Notify(text, level)
		}
	}}}, "print", nil, func() error {
		kept := false
		l := p.login(user, &hookAccounts{r.chain.ProviderSettings, r.models}, func(context.Context, string) string { kept = true; return "" })
		l.How = how
		status, err := l.Run(ctx, name)
		if err != nil {
			return err
		}
		fmt.Println(printable.Text(status))
		if !kept && !strings.Contains(status, "it has no effect yet") {
			return ErrReported
		}
		return nil
	})
}

// silent is a listener that wants nothing.
type silent struct{}

func (silent) Wants(agent.Kind) bool                     { return false }
func (silent) Handle(context.Context, agent.Event) error { return nil }

// shellUser is who typed pi login. Without a terminal the key is a line of standard input.
type shellUser struct {
	terminal User
	isThere  bool
	ask      early
}

func (u shellUser) Choose(ctx context.Context, title string, options []string) (string, bool, error) {
	if !u.isThere {
		return "", false, nil
	}
	values, ok, err := u.ask.Select(ctx, title, agent.Choices(options...), agent.DialogOptions{})
	if err != nil || !ok || len(values) == 0 {
		return "", false, err
	}
	return values[0], true, nil
}

func (u shellUser) Ask(ctx context.Context, title string, secret bool) (string, bool, error) {
	return u.ask.Input(ctx, title, "", agent.DialogOptions{Secret: secret})
}

// Confirm is of a key that was refused or could not be tried: without a terminal it is not kept.
func (u shellUser) Confirm(ctx context.Context, title, message string) (bool, error) {
	if !u.isThere {
		return false, errors.New(strings.TrimSuffix(title, " Keep it all the same?") + " " + message)
	}
	answer, err := u.ask.Confirm(ctx, title, message, agent.DialogOptions{})
	return answer != agent.No, err
}

func (u shellUser) Browser(context.CancelCauseFunc) oauth.User {
	return oauth.User{
		Tell:  func(text string) { fmt.Fprintln(os.Stderr, printable.Text(text)) },
		Paste: func(ctx context.Context) (string, error) { return u.terminal.Ask(ctx, "") },
		Open:  oauth.Browser{}.Open,
	}
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
