package mcplogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
)

// SignIn signs a user in to a server: by what it said to the last request that it did not let
// in, else by what it says of itself. The login is kept. The error says why there is none, and
// has no secrets in it.
func (l *Logins) SignIn(ctx context.Context, e mcp.Entry, user oauth.User) error {
	f, err := l.newFlow(ctx, e, user)
	if err != nil {
		return err
	}
	defer f.close()
	handler, err := auth.NewAuthorizationCodeHandler(f.config())
	if err != nil {
		return fmt.Errorf("sign in to %s: %w", e.Name, shown(err))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, nil)
	if err != nil {
		return err
	}
	refused := &http.Response{StatusCode: f.challenge.status, Header: f.challenge.header, Body: http.NoBody, Request: request}
	if err := handler.Authorize(ctx, request, refused); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("sign in to %s: %w", e.Name, shown(err))
	}
	l.mu.Lock()
	delete(l.wants, keyOf(e))
	l.mu.Unlock()
	return nil
}

// flow is one sign-in.
type flow struct {
	logins    *Logins
	entry     mcp.Entry
	user      oauth.User
	before    login // what is kept of the server; it may be empty
	challenge challenge
	back      *oauth.Loopback
	asks      *asker
	resource  string // that the token is for
}

func (l *Logins) newFlow(ctx context.Context, e mcp.Entry, user oauth.User) (*flow, error) {
	all, err := l.store.read()
	if err != nil {
		return nil, err
	}
	f := &flow{logins: l, entry: e, user: user, before: all[keyOf(e)], asks: l.newAsker(ctx, e)}
	l.mu.Lock()
	f.challenge = l.wants[keyOf(e)]
	l.mu.Unlock()
	if f.challenge.status == 0 {
		f.challenge = challenge{status: http.StatusUnauthorized, header: http.Header{}}
	}
	if f.back, err = f.listen(); err != nil {
		return nil, fmt.Errorf("sign in to %s: %w", e.Name, err)
	}
	if f.before.Redirect == f.back.RedirectURL() { // a registration is for one address
		f.asks.kept = f.before
	}
	return f, nil
}

func (f *flow) close() {
	f.back.Close()
	f.asks.close()
}

// listen opens the server for the answer: at the port that the entry names, at the one that pi
// is registered with, or at any.
func (f *flow) listen() (*oauth.Loopback, error) {
	if o := f.entry.OAuth; o != nil && o.Port != 0 {
		return oauth.Listen(o.Port, "")
	}
	if u, err := url.Parse(f.before.Redirect); err == nil && len(f.before.Registration) > 0 {
		if port, err := strconv.Atoi(u.Port()); err == nil {
			if back, err := oauth.Listen(port, u.Path); err == nil {
				return back, nil
			}
		}
	}
	return oauth.Listen(0, "")
}

// config is the sign-in as the SDK does it.
func (f *flow) config() *auth.AuthorizationCodeHandlerConfig {
	redirect := f.back.RedirectURL()
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, RequestRefreshToken: true, Client: &http.Client{Transport: f.asks, CheckRedirect: oauth.CheckRedirect},
		ScopeFilter: f.scopes, AuthorizationCodeFetcher: f.ask, NewTokenSource: f.keep,
	}
	o := f.entry.OAuth
	if o != nil && o.ClientMetadataURL != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.ClientMetadataURL}
	}
	if o != nil && o.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID}
		if o.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
		}
		if f.before.ClientID == o.ClientID {
			c.PreregisteredClient.Issuer = f.before.Issuer // its secret goes to nobody else
		}
		return c
	}
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "pi", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: "none",
	}}
	return c
}

// scopes chooses what is asked for: what the entry names, else what the server says that it
// needs. Where the user is signed in for too little, what was granted before is asked for again.
func (f *flow) scopes(needed []string) []string {
	asked := slices.Clone(needed)
	if o := f.entry.OAuth; o != nil && len(o.Scopes) > 0 {
		if asked = slices.Clone(o.Scopes); f.challenge.wantsScopes() {
			asked = append(asked, needed...)
		}
	}
	if f.challenge.wantsScopes() {
		asked = append(asked, f.before.Scopes...)
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// ask sends the user to the authorization server and returns its answer.
func (f *flow) ask(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if u, err := url.Parse(args.URL); err == nil {
		f.resource = u.Query().Get("resource")
	}
	needsIssuer := func() bool {
		f.asks.mu.Lock()
		defer f.asks.mu.Unlock()
		return f.asks.server.NamesItself
	}
	answer, err := f.back.SignIn(ctx, oauth.Request{Address: args.URL, NeedsIssuer: needsIssuer}, f.user)
	if err != nil {
		return nil, &oauth.OwnError{Err: err}
	}
	return &auth.AuthorizationResult{Code: answer.Code, State: answer.State, Iss: answer.Issuer}, nil
}

// keep writes the login down. It is what the SDK makes its source of tokens with.
func (f *flow) keep(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	at, err := url.Parse(c.Endpoint.TokenURL)
	if err != nil {
		return nil, errors.New("the address for tokens cannot be read")
	}
	if kind := token.Type(); kind != "Bearer" {
		return nil, errors.New("the authorization server gave a token that is no Bearer token")
	}
	f.asks.mu.Lock()
	have := login{Issuer: f.asks.issuerAt(at), TokenURL: c.Endpoint.TokenURL, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		AuthStyle: int(c.Endpoint.AuthStyle), Registration: f.asks.registered, Redirect: f.back.RedirectURL(), Scopes: c.Scopes, Resource: f.resource}
	f.asks.mu.Unlock()
	if granted, ok := token.Extra("scope").(string); ok && granted != "" {
		have.Scopes = slices.Sorted(slices.Values(strings.Fields(granted)))
	}
	have.put(token, f.logins.now())
	if err := f.logins.store.change(func(all map[string]login) error { all[keyOf(f.entry)] = have; return nil }); err != nil {
		return nil, &oauth.OwnError{Err: err}
	}
	return oauth2.StaticTokenSource(token), nil
}
