package mcplogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/internal/safefile"
)

// renewTime bounds the renewal of a token, with the wait for another program that does it.
const renewTime = 40 * time.Second

// tokens are the tokens of a server, one after the other.
type tokens struct {
	logins *Logins
	entry  mcp.Entry
}

// Token is that of [oauth2.TokenSource]: a token that holds, renewed if it is time, or nil if
// there is none that could be let in.
func (t tokens) Token() (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), renewTime)
	defer cancel()
	have, found, err := t.logins.store.find(t.entry)
	if err != nil || !found {
		return nil, err
	}
	if have.due(t.logins.now()) && have.Refresh != "" {
		renewed, err := t.logins.renew(ctx, t.entry, have.Access)
		switch {
		case err == nil:
			have = renewed
		case have.isOver(t.logins.now()) && !isRefused(err):
			return nil, err // a network that is down: the login is as good as it was
		}
	}
	if have.isOver(t.logins.now()) {
		return nil, nil // the server says what it wants
	}
	return &oauth2.Token{AccessToken: have.Access, TokenType: "Bearer"}, nil
}

// errNoRenewal says that a token cannot be renewed.
var errNoRenewal = errors.New("there is nothing to renew the login with")

// justNow is how old a token is that a server refuses for another reason than its age.
const justNow = time.Minute

// replace gets another token in place of one that a server refused, if that is possible without
// the user. One that was got just now is not replaced: the server wants something else.
func (l *Logins) replace(ctx context.Context, e mcp.Entry, refused string) error {
	have, _, err := l.store.find(e)
	if err != nil {
		return err
	}
	if have.Access == refused && l.now().Sub(time.UnixMilli(have.Obtained)) < justNow {
		return errNoRenewal
	}
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	_, err = l.renew(ctx, e, refused)
	return err
}

// renew gets another token in place of old. Of several programs, and several requests of this
// one, the first does, and the others read what it wrote. A refusal takes nothing away.
func (l *Logins) renew(ctx context.Context, e mcp.Entry, old string) (renewed login, err error) {
	l.mu.Lock()
	turn := l.renewing[keyOf(e)]
	if turn == nil {
		turn = new(sync.Mutex)
		l.renewing[keyOf(e)] = turn
	}
	l.mu.Unlock()
	turn.Lock()
	defer turn.Unlock()
	for { // another program may hold the file as long as its own renewal takes
		err = l.store.change(func(all map[string]login) error {
			have, found := all[keyOf(e)]
			switch {
			case !found:
				return errNoRenewal
			case have.Access != old: // somebody was faster
				renewed = have
				return nil
			}
			if renewed, err = l.refresh(ctx, e, have); err == nil {
				all[keyOf(e)] = renewed
			}
			return err
		})
		if !errors.Is(err, safefile.ErrBusy) || ctx.Err() != nil {
			return renewed, err
		}
	}
}

// refresh asks for a new token, where the old one came from.
func (l *Logins) refresh(ctx context.Context, e mcp.Entry, have login) (login, error) {
	if have.Refresh == "" {
		return have, errNoRenewal
	}
	asks := l.newAsker(ctx, e)
	defer asks.close()
	asks.resource = have.Resource
	client := &http.Client{Transport: asks, CheckRedirect: oauth.CheckRedirect}
	config := oauth2.Config{ClientID: have.ClientID, ClientSecret: have.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: have.TokenURL, AuthStyle: oauth2.AuthStyle(have.AuthStyle)}}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: have.Refresh}).Token()
	if err != nil {
		return have, fmt.Errorf("renew the login of %s: %w", e.Name, shown(err))
	}
	have.put(token, l.now())
	return have, nil
}

// put takes over what came with a token. A refresh token stays the one it was unless there is
// another.
func (l *login) put(token *oauth2.Token, now time.Time) {
	l.Access, l.Expires, l.Obtained = token.AccessToken, 0, now.UnixMilli()
	if token.RefreshToken != "" {
		l.Refresh = token.RefreshToken
	}
	if seconds := token.ExpiresIn; seconds > 0 { // by this clock: that of the server may be another
		l.Expires = now.Add(time.Duration(min(seconds, maxLife)) * time.Second).UnixMilli()
	} else if !token.Expiry.IsZero() {
		l.Expires = token.Expiry.UnixMilli()
	}
}

// maxLife is a year: a longer life is no number of seconds.
const maxLife = 365 * 24 * 60 * 60
