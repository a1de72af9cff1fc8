package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"pi/internal/printable"
)

// OpenRouter is the sign-in of OpenRouter, which any program may use: PKCE without a client and
// without a state, whose code is traded for a key.
type OpenRouter struct {
	AuthorizeURL string // https://openrouter.ai/auth
	KeysURL      string // https://openrouter.ai/api/v1/auth/keys
	Base         http.RoundTripper
}

// Key signs a user in and returns a key.
func (o OpenRouter) Key(ctx context.Context, u User) (string, error) {
	// The answer has no state: a path that nobody can guess takes its place. The host has to be
	// localhost.
	back, err := ListenAt("http://localhost:0/" + rand.Text())
	if err != nil {
		return "", err
	}
	defer back.Close()
	verifier := oauth2.GenerateVerifier()
	query := url.Values{"callback_url": {back.RedirectURL()}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"}}
	answer, err := back.SignIn(ctx, Request{Address: o.AuthorizeURL + "?" + query.Encode(), StateInPath: true}, u)
	if err != nil {
		return "", err
	}
	key, err := o.trade(ctx, answer.Code, verifier)
	if err != nil {
		return "", fmt.Errorf("sign in: %w", Cleaned(err))
	}
	return key, nil
}

// trade asks for the key that a code stands for.
func (o OpenRouter) trade(ctx context.Context, code, verifier string) (string, error) {
	body, err := json.Marshal(map[string]string{"code": code, "code_verifier": verifier, "code_challenge_method": "S256"})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.KeysURL, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: Transport{o.Base}, CheckRedirect: CheckRedirect}).Do(request)
	if err != nil {
		return "", err
	}
	answer, err := io.ReadAll(response.Body) // which is in memory
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", openRouterError(response, answer)
	}
	var given struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(answer, &given) != nil || !isToken(given.Key) {
		return "", &OwnError{errors.New("the server answers with what is no key")}
	}
	return given.Key, nil
}

// openRouterError is what the server says in its form of errors.
func openRouterError(response *http.Response, body []byte) error {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	e := &ServerError{Code: response.Status, Status: response.StatusCode}
	if json.Unmarshal(body, &said) == nil {
		e.Description = strings.TrimSpace(printable.Line(said.Error.Message))
	}
	return &OwnError{e}
}
