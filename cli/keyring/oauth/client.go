package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// Client is this program as an authorization server knows it, and where that server is.
type Client struct {
	AuthorizeURL string
	DeviceURL    string
	TokenURL     string
	ID           string
	Scopes       []string
	Redirect     string            // see [ListenAt]
	Extra        map[string]string // goes along with each request
	Base         http.RoundTripper // nil: http.DefaultTransport
	Now          func() time.Time  // nil: time.Now
}

// Token is what an authorization server gave.
type Token struct {
	Access  string
	Refresh string    // "": it cannot be renewed, or the one from before is good further on
	Expires time.Time // by this clock; zero: nobody knows
}

// PKCE signs a user in with a browser that comes back with a code.
func (c Client) PKCE(ctx context.Context, u User) (Token, error) {
	back, err := ListenAt(c.Redirect)
	if err != nil {
		return Token{}, err
	}
	defer back.Close()
	verifier, config := oauth2.GenerateVerifier(), c.config(back.RedirectURL())
	address := config.AuthCodeURL(rand.Text(), append(c.options(), oauth2.S256ChallengeOption(verifier))...)
	answer, err := back.SignIn(ctx, Request{Address: address}, u)
	if err != nil {
		return Token{}, err
	}
	given, err := config.Exchange(c.with(ctx, boundToken), answer.Code, oauth2.VerifierOption(verifier))
	return c.token(given, err)
}

// Renew returns another token for a refresh token. The error is a [*ServerError] if the server
// refuses.
func (c Client) Renew(ctx context.Context, refresh string) (Token, error) {
	given, err := c.config("").TokenSource(c.with(ctx, boundToken), &oauth2.Token{RefreshToken: refresh}).Token()
	t, err := c.token(given, err)
	if t.Refresh == refresh { // the library puts the old one where there is no new one
		t.Refresh = ""
	}
	return t, err
}

func (c Client) config(redirect string) *oauth2.Config {
	return &oauth2.Config{ClientID: c.ID, Scopes: c.Scopes, RedirectURL: redirect, Endpoint: oauth2.Endpoint{
		AuthURL: c.AuthorizeURL, DeviceAuthURL: c.DeviceURL, TokenURL: c.TokenURL,
		AuthStyle: oauth2.AuthStyleInParams, // to find out would send a code twice
	}}
}

// options are the extra fields for an address.
func (c Client) options() (all []oauth2.AuthCodeOption) {
	for name, value := range c.Extra {
		all = append(all, oauth2.SetAuthURLParam(name, value))
	}
	return all
}

// with returns a context in which the library asks by the rules of [Transport], with the extra
// fields, and gets what read makes of the answer. The context ends each request: the library does
// not see to that everywhere.
func (c Client) with(ctx context.Context, read func(*http.Request, *http.Response, error) (*http.Response, error)) context.Context {
	ask := func(request *http.Request) (*http.Response, error) {
		request, err := WithFields(request.WithContext(ctx), c.Extra)
		if err != nil {
			return nil, err
		}
		response, err := Transport{c.Base}.RoundTrip(request)
		return read(request, response, err)
	}
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: roundTrip(ask), CheckRedirect: CheckRedirect})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// token is what the library returned, checked.
func (c Client) token(given *oauth2.Token, err error) (Token, error) {
	switch {
	case err != nil:
		return Token{}, Cleaned(err)
	case given.Type() != "Bearer":
		return Token{}, errors.New("the authorization server gave a token that is no Bearer token")
	case !isToken(given.AccessToken) || given.RefreshToken != "" && !isToken(given.RefreshToken):
		return Token{}, errors.New("the authorization server gave a token that cannot be sent")
	}
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	return Token{given.AccessToken, given.RefreshToken, expiry(given, now())}, nil
}

// isToken reports whether a text can be sent in a header.
func isToken(text string) bool {
	const longest = 64 << 10
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

// expiry is the end of a token by this clock, since that of the server may be another; zero if the
// server says none that makes sense.
func expiry(given *oauth2.Token, now time.Time) time.Time {
	if given.ExpiresIn <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(given.ExpiresIn) * time.Second)
}

// CheckText is [CheckAddress] for an address in a setting.
func CheckText(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("that is no address")
	}
	if u.Fragment != "" {
		return errors.New("an address here has no # in it")
	}
	return CheckAddress(u)
}
