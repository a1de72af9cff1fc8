package providers

import (
	"context"
	"errors"
	"time"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/session/message"
)

// Accounts returns the providers of which a key can be kept: those that want one, with what
// the settings say of them.
func Accounts(cfg config.Config, ring *keyring.Ring) (accounts []keyring.Account) {
	defer ring.Freeze()()
	for _, p := range sources(cfg, ring) {
		key := p.key()
		if p.unusable() != "" || len(p.KeyVars) == 0 && p.section == "" {
			continue
		}
		a := keyring.Account{Name: p.Name, Aliases: p.Aliases, Title: p.Title}
		if a.Title == "" {
			a.Title = p.Name
		}
		if key.Present() {
			a.From = key.Place()
		}
		if p.set.APIKey != "" {
			a.Before = "api_key of [providers." + p.section + "] in config.toml"
		}
		if id := p.defaultModel(); id != "" {
			a.Model = p.Name + "/" + id
		}
		accounts = append(accounts, a)
	}
	return accounts
}

// tryTime is how long a server has to say what it thinks of a key.
const tryTime = 20 * time.Second

// TryKey asks the server of a provider one small question with a key, and stops reading when
// the answer begins; where no model is known, it asks for the list of models. refused says
// that the server does not take the key. decode is that of [New].
func TryKey(ctx context.Context, cfg config.Config, ring *keyring.Ring, decode func(provider string) []*llm.Model, name, key string) (refused bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tryTime, errors.New("no answer within "+tryTime.String()))
	defer cancel()
	for _, p := range sources(cfg, ring) {
		if p.Name != name {
			continue
		}
		p.decode = decode
		err := p.try(ctx, key)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		return err != nil && provider.RefusesKey(err), err
	}
	return false, errors.New("there is no such provider")
}

// try makes one request with the key.
func (p *source) try(ctx context.Context, key string) error {
	client := provider.NewClient()
	model := byID(p.models(), p.defaultModel())
	if model == nil && p.defaultModel() != "" {
		model = p.unlisted(p.defaultModel())
	}
	if model == nil {
		auth, _ := p.set.Compat["auth"].(string)
		_, err := provider.Discover(ctx, client, provider.Server{Provider: p.Name, API: p.api(), BaseURL: p.address(), Key: key, Auth: auth, Headers: p.set.Headers})
		if _, long := errors.AsType[*llm.LongList](err); long {
			return nil // it answers
		}
		return err
	}
	const enough = 16 // tokens; some servers refuse fewer
	r := &llm.Request{
		Model: model, APIKey: key, MaxTokens: enough, Thinking: llm.Clamp(model, "off"),
		Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("Say ok.")}, Timestamp: time.Now().UnixMilli()}},
	}
	for d, err := range wireClients(client)[model.API].Stream(ctx, r) {
		if err != nil {
			return err
		}
		if d.Kind != llm.DeltaPing {
			break
		}
	}
	return nil
}
