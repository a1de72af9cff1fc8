package mcplogin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"pi/cli/keyring/oauth"
	"pi/internal/printable"
)

// The libraries put the body of an answer into their errors, in which a server may have written
// anything, tokens and commands for a terminal too. So of an answer only the code and its
// description are shown.

// refusedError is what an authorization server says to a request.
type refusedError struct{ code, description string }

func (e *refusedError) Error() string {
	text := "the authorization server says " + printable.Short(printable.Line(e.code))
	if e.description != "" {
		text += ": " + printable.Short(printable.Line(e.description))
	}
	return text
}

// shown returns what of an error may be shown.
func shown(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if failed.ErrorCode != "" {
			return &refusedError{failed.ErrorCode, failed.ErrorDescription}
		}
		status := "no answer that can be read"
		if failed.Response != nil {
			status = failed.Response.Status
		}
		return &refusedError{code: status}
	}
	if failed, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return fmt.Errorf("register pi: %w", &refusedError{failed.ErrorCode, failed.ErrorDescription})
	}
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isOurs(err):
		return err
	case strings.HasPrefix(text, "failed to register client"):
		return errors.New("the authorization server does not register programs by itself, or answers with what cannot be read; oauth.clientId in the entry names a client that you registered there")
	case strings.HasPrefix(text, "no configured client registration"):
		return errors.New("the authorization server registers no programs by itself; oauth.clientId in the entry names a client that you registered there")
	}
	return errors.New(printable.Short(printable.Line(text)))
}

// isOurs reports whether an error has words of this program alone.
func isOurs(err error) bool {
	_, refused := errors.AsType[*oauth.RefusedError](err)
	_, plain := errors.AsType[*oauth.OwnError](err)
	return refused || plain
}

// isRefused reports whether an authorization server said no, so that asking again is of no use.
func isRefused(err error) bool {
	_, ok := errors.AsType[*refusedError](err)
	return ok || errors.Is(err, errNoRenewal)
}
