package providers

import (
	"context"
	"errors"
	"slices"
	"time"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/session/message"
)

// Accounts returns the providers that one can sign in to or of which a key can be kept: those that
// want one, with what the settings say of them.
func Accounts(cfg config.Config, ring *keyring.Ring) (accounts []keyring.Account) {
	defer ring.Freeze()()
	held := ring.Held()
	for _, p := range sources(cfg, ring) {
		key := p.key()
		if p.unusable() != "" || len(p.KeyVars) == 0 && p.section == "" {
			continue
		}
		a := keyring.Account{Name: p.Name, Aliases: p.Aliases, Title: p.Title, Login: p.login(), Held: heldOf(held, p.Name, p.Aliases...)}
		if a.Title == "" {
			a.Title = p.Name
		}
		if key.Present() {
			a.From = key.Place()
		}
		if p.set.APIKey != "" {
			a.Before = "api_key of [providers." + p.section + "] in config.toml"
			a.Undo = "`pi config unset providers." + p.section + ".api_key` removes that"
		}
		if id := p.defaultModel(); id != "" {
			a.Model = p.Name + "/" + id
		}
		accounts = append(accounts, a)
	}
	return accounts
}

// heldOf returns what auth.json has of a provider; nil if it has nothing.
func heldOf(all []keyring.Held, name string, aliases ...string) *keyring.Held {
	for _, name := range append([]string{name}, aliases...) {
		if i := slices.IndexFunc(all, func(h keyring.Held) bool { return h.Name == name }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// WithHooks adds to accounts the providers of hooks that want a key, which can be kept for them
// as for those of the settings, and notes whose key comes from a hook. Of a provider that
// several hooks change, the last one that says something of its key counts.
func WithHooks(accounts []keyring.Account, ring *keyring.Ring, hooks []llm.ProviderSettings) []keyring.Account {
	defer ring.Freeze()()
	held := ring.Held()
	for _, set := range hooks {
		i := slices.IndexFunc(accounts, func(a keyring.Account) bool { return a.Name == set.Name })
		if i < 0 && set.Stream != nil && set.APIKey == "" && set.Login == nil {
			continue // a script needs no key unless it says so
		}
		p := source{Provider: catalogue.Provider{Name: set.Name}, set: set, ring: ring}
		if i < 0 {
			a := keyring.Account{Name: set.Name, Title: set.Name + ", of the hook " + set.Hook, Held: heldOf(held, set.Name)}
			if set.APIKey == "" {
				a.From = p.key().Place()
			}
			if len(set.Models) > 0 {
				a.Model = set.Name + "/" + set.Models[0].ID
			}
			accounts, i = append(accounts, a), len(accounts)
		}
		if set.Login != nil {
			accounts[i].Login = set.Login
		}
		if set.APIKey != "" {
			accounts[i].From, accounts[i].Before, accounts[i].Undo = "the hook "+set.Hook, "api_key of the hook "+set.Hook, "take it out of the hook"
		}
	}
	return accounts
}

// tryTime is how long a server has to say what it thinks of a key.
const tryTime = 20 * time.Second

// TryKey asks the server of a provider one small question with a key, and stops reading when
// the answer begins; where no model is known, it asks for the list of models. refused says
// that the server does not take the key. decode is that of [New].
func TryKey(ctx context.Context, cfg config.Config, ring *keyring.Ring, decode func(provider string) []*llm.Model, name, key string) (refused bool, err error) {
	for _, p := range sources(cfg, ring) {
		if p.Name == name {
			p.decode = decode
			return tryWithin(ctx, func(ctx context.Context) error { return p.try(ctx, key) })
		}
	}
	return false, errors.New("there is no such provider")
}

// TryKeyOfHook is TryKey for a provider that a hook brought or changed, as it is in models: the
// key goes where the hook says, and nowhere else.
func TryKeyOfHook(ctx context.Context, models *llm.Models, name, key string) (refused bool, err error) {
	spec, ok := models.Lookup(name)
	if !ok {
		return false, errors.New("there is no such provider any more")
	}
	var listed []*llm.Model
	if spec.Models != nil {
		listed = spec.Models()
	}
	model := byID(listed, spec.Default)
	switch {
	case model == nil && len(listed) > 0:
		model = listed[0]
	case model == nil && spec.Default != "" && spec.Open != nil:
		model = spec.Open(spec.Default)
	}
	if model == nil {
		return false, errors.New("no model of it is known that could be asked")
	}
	client, err := models.Client(model)
	if err != nil {
		return false, err
	}
	return tryWithin(ctx, func(ctx context.Context) error { return tryModel(ctx, client, model, key) })
}

// tryWithin calls try, with as long as a server has, and says whether its error refuses the key.
func tryWithin(ctx context.Context, try func(context.Context) error) (refused bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tryTime, errors.New("no answer within "+tryTime.String()))
	defer cancel()
	err = try(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	return err != nil && provider.RefusesKey(err), err
}

// try makes one request with the key.
func (p *source) try(ctx context.Context, key string) error {
	client := provider.NewClient()
	model := byID(p.models(), p.defaultModel())
	if model == nil && p.defaultModel() != "" {
		model = p.unlisted(p.defaultModel())
	}
	if model == nil {
		_, err := provider.Discover(ctx, client, p.server(key))
		if _, long := errors.AsType[*llm.LongList](err); long {
			return nil // it answers
		}
		return err
	}
	api, _ := wire.Find(model.API)
	return tryModel(ctx, api.New(client), model, key)
}

// tryModel asks a model one small question with the key.
func tryModel(ctx context.Context, client llm.Provider, model *llm.Model, key string) error {
	const enough = 16 // tokens; some servers refuse fewer
	r := &llm.Request{
		Model: model, APIKey: key, MaxTokens: enough, Thinking: llm.Clamp(model, "off"),
		Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("Say ok.")}, Timestamp: time.Now().UnixMilli()}},
	}
	for d, err := range client.Stream(ctx, r) {
		if err != nil {
			return err
		}
		if d.Kind != llm.DeltaPing {
			break
		}
	}
	return nil
}
