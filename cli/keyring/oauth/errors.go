package oauth

import (
	"context"
	"errors"
	"net/url"

	"golang.org/x/oauth2"

	"pi/internal/printable"
)

// The library puts the body of an answer into its errors, in which a server may have written
// anything, tokens and commands for a terminal too. So of an answer only the code and its
// description are shown.

// ServerError is what an authorization server says to a request for a token.
type ServerError struct {
	Code        string // such as invalid_grant; else the HTTP status
	Description string
	Status      int // of HTTP; 0: there was no answer that can be read
}

func (e *ServerError) Error() string {
	text := "the authorization server says " + printable.Short(printable.Line(e.Code))
	if e.Description != "" {
		text += ": " + printable.Short(printable.Line(e.Description))
	}
	return text
}

// IsFinal reports whether asking the same again is of no use.
func (e *ServerError) IsFinal() bool {
	switch e.Code {
	case "invalid_grant", "invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope", "access_denied":
		return true
	}
	return false
}

// OwnError is a failure in words of this program, that may be shown as they are.
type OwnError struct{ Err error }

func (e *OwnError) Error() string { return e.Err.Error() }
func (e *OwnError) Unwrap() error { return e.Err }

// UnreachableError is a network that is down, or a server.
type UnreachableError struct{ text string }

func (e *UnreachableError) Error() string { return e.text }

// Cleaned returns what of an error of the library, or of a request, may be shown.
func Cleaned(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		e := &ServerError{Code: failed.ErrorCode, Description: failed.ErrorDescription}
		if failed.Response != nil {
			e.Status = failed.Response.StatusCode
		}
		if e.Code == "" {
			e.Description = ""
			if e.Code = "nothing that can be read"; failed.Response != nil {
				e.Code = failed.Response.Status
			}
		}
		return e
	}
	if own, ok := errors.AsType[*OwnError](err); ok {
		return own
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, ours := range []error{errNoAnswer, errOtherState, errNeedsAll} {
		if errors.Is(err, ours) {
			return err
		}
	}
	if _, refused := errors.AsType[*RefusedError](err); refused {
		return err
	}
	if failed, ok := errors.AsType[*url.Error](err); ok { // its address may have secrets in its query
		return &UnreachableError{printable.Short(printable.Line(failed.Err.Error()))}
	}
	return errors.New(printable.Short(printable.Line(err.Error())))
}
