package app

import (
	"context"

	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/provider/catalogue"
	"pi/cli/keyring"
	"pi/cli/providers"
)

// loginCommand returns /login, which asks the person for the key of a provider, tries it and
// keeps it.
func (p *Place) loginCommand(ui agent.UI) command.Command {
	return command.Command{
		Name: "login", Args: "[provider]", Help: "ask for the key of a provider, try it, and keep it",
		More: "The key is not shown as you type it. One small request tries it; it is kept in auth.json,\nwhich only you may read, and other programs that use that file find it there.",
		Complete: func(prefix string) (names []string) {
			for _, a := range providers.Accounts(p.Config, p.Keys) {
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
			status, err := p.login(ui).Run(ctx, args)
			return command.Outcome{Status: status}, err
		},
	}
}

// login returns what asks a person for a key.
func (p *Place) login(ui agent.UI) keyring.Login {
	return keyring.Login{
		Ring: p.Keys, Person: asking{ui}, Accounts: providers.Accounts(p.Config, p.Keys),
		Try: func(ctx context.Context, provider, key string) (bool, error) {
			return providers.TryKey(ctx, p.Config, p.Keys, catalogue.Models, provider, key)
		},
	}
}

// errNobodyToAsk is a /login without a person.
type errNobodyToAsk struct{}

func (errNobodyToAsk) Error() string { return "login: there is nobody to ask for a key" }

// Hint is the next step.
func (errNobodyToAsk) Hint() string {
	return "run pi in a terminal and type /login there, or export the variable of the provider (`pi models --all` names it)"
}

// asking asks for keys through a front end.
type asking struct{ ui agent.UI }

func (a asking) Choose(ctx context.Context, title string, options []string) (string, bool, error) {
	values, ok, err := a.ui.Select(ctx, title, agent.Choices(options...), agent.DialogOptions{})
	if !ok || err != nil || len(values) == 0 {
		return "", false, err
	}
	return values[0], true, nil
}

func (a asking) AskSecret(ctx context.Context, title string) (string, bool, error) {
	return a.ui.Input(ctx, title, "", agent.DialogOptions{Secret: true})
}

func (a asking) Confirm(ctx context.Context, title, message string) (bool, error) {
	answer, err := a.ui.Confirm(ctx, title, message, agent.DialogOptions{})
	return answer != agent.No, err
}
