package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/keyring/oauth"
	"pi/internal/printable"
)

// A login is renewed where it came from, and nowhere else: at the address that the entry keeps, or by
// the hook that it names. One with neither, which another program wrote, is renewed as config.toml
// says, and never as a hook says: that would get the refresh token.

const (
	renewTime = 75 * time.Second // of a renewal, with the wait for another program that does it, or was killed while it did
	justNow   = time.Minute      // how old a login is that a server refuses for another reason than its age
	pause     = time.Minute      // from a renewal that failed to the next one of a login that still holds
)

// errNoRenewal says that a login cannot be renewed.
var errNoRenewal = errors.New("there is nothing to renew the login with")

// errGone says that somebody has removed a login meanwhile.
var errGone = errors.New("it is not there any more")

// signedIn returns what a request is let in with by a login, renewed if it is time.
func (k Key) signedIn(ctx context.Context, l login) (llm.Auth, login, error) {
	now := k.Ring.now()
	if l.due(now) && k.mayRenew(l) && (l.expired(now) || !k.Ring.hasFailed(l, now)) {
		renewed, err := k.renew(ctx, l.name, l.Access)
		switch {
		case err == nil:
			l = renewed
		case ctx.Err() != nil:
			return llm.Auth{}, l, ctx.Err()
		case l.expired(k.Ring.now()):
			return llm.Auth{}, l, fmt.Errorf("renew the login of %s: %w", k.Provider, err)
		default: // it is as good as it was
			k.Ring.noteFailed(l, now)
		}
	}
	if l.expired(k.Ring.now()) {
		return llm.Auth{}, l, fmt.Errorf("read key: the login in auth.json ran out at %s", l.expiry().Format(time.DateTime))
	}
	auth, err := k.authOf(ctx, l)
	return auth, l, err
}

// authOf returns what a login that holds lets requests in with.
func (k Key) authOf(ctx context.Context, l login) (llm.Auth, error) {
	switch script := k.scriptOf(l); {
	case l.Type == "api_key":
		key, err := k.Ring.Resolve(ctx, l.spec(k.Ring.getenv))
		return llm.Auth{Key: key}, err
	case l.Hook == nil:
		return llm.Auth{Key: l.Access}, nil
	case script == nil:
		return llm.Auth{}, fmt.Errorf("read key: the login in auth.json is of the hook %s, which is not there or signs in no more", printable.Line(config.Tilde(l.Hook.Path)))
	default:
		return script.Auth(ctx, l.credential())
	}
}

// scriptOf returns the functions of the hook that a login is of; nil if they are not there.
func (k Key) scriptOf(l login) llm.LoginScript {
	if l.Hook == nil || k.Script == nil || k.Script.Hook != *l.Hook {
		return nil
	}
	return k.Script.Script
}

// mayRenew reports whether there is something to renew a login with.
func (k Key) mayRenew(l login) bool {
	if script := k.scriptOf(l); script != nil && script.Refreshes() {
		return true
	}
	return l.Refresh != "" && k.clientOf(l) != nil
}

// clientOf returns how a token of a login is asked for; nil if nobody says.
func (k Key) clientOf(l login) *oauth.Client {
	switch {
	case l.TokenURL != "" && (l.Hook == nil || k.scriptOf(l) != nil):
		return &oauth.Client{TokenURL: l.TokenURL, ID: l.ClientID, Extra: l.Extra, Base: k.Ring.transport, Now: k.Ring.now}
	case l.Hook == nil && l.TokenURL == "" && k.Login != nil && k.Login.TokenURL != "" && k.Login.ClientID != "":
		return &oauth.Client{TokenURL: k.Login.TokenURL, ID: k.Login.ClientID, Extra: k.Login.Extra, Base: k.Ring.transport, Now: k.Ring.now}
	}
	return nil
}

// renew puts another login in place of the one of that name whose token is old. Of several programs,
// and several requests of this one, the first does, and the others read what it wrote. A refusal
// takes nothing away.
func (k Key) renew(ctx context.Context, name, old string) (login, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, renewTime, errLocked)
	defer cancel()
	select {
	case k.Ring.renewing <- struct{}{}:
	case <-ctx.Done():
		return login{}, context.Cause(ctx)
	}
	lock, err := lockFolder(ctx, k.Ring.auth.path)
	if err != nil {
		<-k.Ring.renewing
		return login{}, fmt.Errorf("lock %s: %w", config.Tilde(k.Ring.auth.path), err)
	}
	type outcome struct {
		login login
		err   error
	}
	ended := make(chan outcome, 1)
	go func() { // goes on when whoever asked has left: the server may have taken the refresh token already
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
		defer cancel()
		l, err := k.replace(ctx, name, old)
		lock.release()
		<-k.Ring.renewing
		ended <- outcome{l, err}
	}()
	select {
	case o := <-ended:
		return o.login, o.err
	case <-ctx.Done():
		return login{}, context.Cause(ctx)
	}
}

// replace is [Key.renew] for who has the lock.
func (k Key) replace(ctx context.Context, name, old string) (login, error) {
	auth := k.Ring.auth
	auth.forget()
	have, found := auth.find(name)
	switch {
	case !found:
		return login{}, errGone
	case have.Type != "oauth" || have.Access != old: // somebody was faster
		return have, nil
	case !k.mayRenew(have):
		return login{}, errNoRenewal
	}
	entry, err := k.renewed(ctx, have)
	if err != nil {
		return login{}, err
	}
	err = auth.write(func(text []byte) ([]byte, error) {
		return withEntry(text, name, func(now []byte) []byte {
			if string(now) != string(have.whole) { // somebody who knows no lock
				return now
			}
			return entry
		})
	})
	if err != nil { // the old one may be worth nothing now
		return login{}, fmt.Errorf("write %s: %w", config.Tilde(auth.path), err)
	}
	if have, found = auth.find(name); !found {
		return login{}, errGone
	}
	return have, nil
}

// renewed asks for what is to stand in place of an entry.
func (k Key) renewed(ctx context.Context, l login) ([]byte, error) {
	if script := k.scriptOf(l); script != nil && script.Refreshes() {
		c, err := script.Refresh(ctx, l.credential())
		if err != nil {
			return nil, err
		}
		return credentialEntry(*l.Hook, c, k.Ring.now())
	}
	token, err := k.clientOf(l).Renew(ctx, l.Refresh)
	if err != nil {
		return nil, err
	}
	if token.Refresh == "" {
		token.Refresh = l.Refresh
	}
	return entryOf(tokenFields(token, k.Ring.now()), l.whole, tokenFieldNames()), nil
}

// tokenFields are the fields of a login that change when it is renewed.
func tokenFields(t oauth.Token, now time.Time) []field {
	fields := []field{{"type", encoded("oauth")}, {"access", encoded(t.Access)}}
	if t.Refresh != "" {
		fields = append(fields, field{"refresh", encoded(t.Refresh)})
	}
	return append(fields, field{"expires", encoded(milliseconds(t.Expires))}, field{"obtained", encoded(milliseconds(now))})
}

func tokenFieldNames() []string { return []string{"type", "access", "refresh", "expires", "obtained"} }

// milliseconds is a time as the file has it; 0 for none.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// tokenEntry is the entry of a login that was got just now, with where it is renewed.
func tokenEntry(t oauth.Token, l llm.Login, now time.Time) []byte {
	fields := append(tokenFields(t, now), field{"token_url", encoded(l.TokenURL)}, field{"client_id", encoded(l.ClientID)})
	if len(l.Extra) > 0 {
		fields = append(fields, field{"extra", encoded(l.Extra)})
	}
	return entryOf(fields, nil, nil)
}

// hostFields are those of an entry that are not the business of a hook.
func hostFields() []string { return []string{"type", "hook", "obtained"} }

// credential is a login as its hook sees it.
func (l login) credential() llm.Credential {
	return llm.Credential(entryOf(nil, l.whole, hostFields()))
}

// credentialEntry is the entry of what a hook returned. Its tokens have to be such.
func credentialEntry(hook llm.LoginHook, c llm.Credential, now time.Time) ([]byte, error) {
	if _, ok := membersOf(c); !ok {
		return nil, errors.New("the hook returned no table with the fields of a login")
	}
	entry := entryOf([]field{{"type", encoded("oauth")}, {"hook", encoded(hook)}, {"obtained", encoded(milliseconds(now))}}, c, hostFields())
	if l, why := parseLogin(entry); why != "" || !isOneLine(l.Access+l.Refresh) {
		return nil, errors.New("the hook returned a login that cannot be kept: access and refresh are texts of one line, and expires is a number of milliseconds")
	}
	if !json.Valid(entry) {
		return nil, errors.New("the hook returned a login that cannot be kept")
	}
	return entry, nil
}

// hasFailed reports whether a renewal of a login failed a moment ago.
func (r *Ring) hasFailed(l login, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, failed := r.failed[l.Access]
	return failed && now.Sub(at) < pause
}

func (r *Ring) noteFailed(l login, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[l.Access] = now
}

// Again gets what a request is let in with in place of a key that a server refused. again is false
// where the key is from no login, or the login is as new as it can be: asking the same once more is
// of no use.
func (r *Ring) Again(ctx context.Context, provider, key string) (auth llm.Auth, again bool, err error) {
	r.mu.Lock()
	renew := r.from[sentKey{provider, key}].again
	r.mu.Unlock()
	if renew == nil {
		return llm.Auth{}, false, nil
	}
	return renew(ctx)
}

// again is [Ring.Again] for the token of a login.
func (k Key) again(ctx context.Context, l login) (llm.Auth, bool, error) {
	now, have := k.Ring.now(), l
	if found, ok := k.Ring.auth.find(l.name); ok {
		have = found
	}
	isNew := have.Obtained > 0 && now.Sub(time.UnixMilli(int64(have.Obtained))) < justNow
	if have.Access == l.Access && (isNew || !k.mayRenew(have)) {
		return llm.Auth{}, false, nil
	}
	renewed, err := k.renew(ctx, l.name, l.Access)
	if err != nil {
		return llm.Auth{}, false, fmt.Errorf("renew the login of %s: %w", k.Provider, err)
	}
	auth, err := k.authOf(ctx, renewed)
	if err != nil {
		return llm.Auth{}, false, err
	}
	k.note(auth, keyPlace{name: authName, login: &renewed})
	return auth, true, nil
}

// mayPass reports whether what failed may go well the next time.
func mayPass(err error) bool {
	if _, unreachable := errors.AsType[*oauth.UnreachableError](err); unreachable {
		return true
	}
	said, refused := errors.AsType[*oauth.ServerError](err)
	return refused && !said.IsFinal() && (said.Status == 429 || said.Status >= 500)
}

// Held is what auth.json has of a provider, for people.
type Held struct {
	Name    string
	IsLogin bool      // else a key
	Until   time.Time // of a login; zero: nobody knows
	Renewed bool      // by itself, where the entry says by whom
	From    string    // who is asked for that: an address, a hook; "": the settings decide
}

// Held lists the entries of auth.json in the order of their names. Nothing secret is in it.
func (r *Ring) Held() (all []Held) {
	for _, l := range r.auth.all() {
		h := Held{Name: l.name, IsLogin: l.Type == "oauth"}
		if h.IsLogin && l.Expires > 0 {
			h.Until = l.expiry()
		}
		switch {
		case l.Hook != nil:
			h.From, h.Renewed = "the hook "+config.Tilde(l.Hook.Path), true
		case l.TokenURL != "":
			h.From, h.Renewed = printable.URL(l.TokenURL), l.Refresh != ""
		}
		all = append(all, h)
	}
	return all
}

// Forget removes what auth.json has of a provider, by any of its names; was is false if it has
// nothing.
func (r *Ring) Forget(names ...string) (was bool, err error) {
	if _, found := r.auth.find(names...); !found && len(r.auth.unusable()) == 0 {
		return false, nil // no file is made for that
	}
	err = r.auth.change(func(text []byte) ([]byte, error) {
		members, _ := membersOf(text)
		for _, name := range names {
			if !slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
				continue
			}
			was = true
			var err error
			if text, err = withEntry(text, name, func([]byte) []byte { return nil }); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	return was, err
}
