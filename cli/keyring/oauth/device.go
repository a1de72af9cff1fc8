package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"pi/internal/printable"
)

// Device signs a user in who types a code at another device, or in a browser of this one.
func (c Client) Device(ctx context.Context, u User) (Token, error) {
	config := c.config("")
	code, err := config.DeviceAuth(c.with(ctx, boundDevice))
	if err != nil {
		if _, refused := errors.AsType[*oauth2.RetrieveError](err); !refused && ctx.Err() == nil && isUnreadable(err) {
			err = &OwnError{errors.New("the authorization server answers with what is no code for a device")}
		}
		return Token{}, Cleaned(orCause(ctx, err))
	}
	if err := showCode(ctx, code, u); err != nil {
		return Token{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if u.Wait != nil {
		over := make(chan struct{})
		defer func() { cancel(nil); <-over }()
		go func() {
			defer close(over)
			if err := u.Wait(ctx, code.UserCode); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		}()
	}
	toldOfIt := false
	waits := func(request *http.Request, response *http.Response, err error) (*http.Response, error) {
		answer, isDown, err := waitForNetwork(request, response, err)
		if isDown && !toldOfIt {
			toldOfIt = true
			u.Tell(request.URL.Host + " cannot be reached; it is asked again until the code runs out")
		}
		return answer, err
	}
	given, err := config.DeviceAccessToken(c.with(ctx, waits), code)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return Token{}, fmt.Errorf("sign in: %w", context.Cause(ctx))
	case errors.Is(err, context.DeadlineExceeded):
		return Token{}, errors.New("sign in: the code ran out before somebody typed it")
	}
	return c.token(given, err)
}

// orCause is err, or why ctx has ended.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// isUnreadable reports whether the library could not decode an answer.
func isUnreadable(err error) bool {
	_, asked := errors.AsType[*url.Error](err)
	return !asked
}

// showCode checks what a server says of a code, and tells the user where it is typed.
func showCode(ctx context.Context, code *oauth2.DeviceAuthResponse, u User) error {
	where, err := url.Parse(code.VerificationURI)
	switch {
	case code.DeviceCode == "" || code.UserCode == "" || code.VerificationURI == "":
		return errors.New("sign in: the authorization server answers with what is no code for a device")
	case err != nil:
		return errors.New("sign in: the address at which the code is typed cannot be read")
	}
	if err := CheckAddress(where); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	const longest = 64
	if code.UserCode = printable.Line(code.UserCode); code.UserCode == "" || len(code.UserCode) > longest {
		return errors.New("sign in: the code that the authorization server gives cannot be typed")
	}
	u.Tell("Open this address to sign in:\n" + printable.VisibleLine(code.VerificationURI) + "\nand type this code there: " + printable.VisibleLine(code.UserCode))
	if u.Open != nil {
		address := code.VerificationURI
		if whole, err := url.Parse(code.VerificationURIComplete); err == nil && code.VerificationURIComplete != "" && CheckAddress(whole) == nil {
			address = code.VerificationURIComplete
		}
		if err := u.Open(ctx, address); err != nil {
			u.Tell("no browser was opened: " + printable.Line(err.Error()))
		}
	}
	return nil
}

// waitForNetwork makes of a network that is down, and of a server that is, the answer to ask less
// often, as RFC 8628 wants it: the code is good as long as it is.
func waitForNetwork(request *http.Request, response *http.Response, failed error) (answer *http.Response, isDown bool, err error) {
	_, own := errors.AsType[*OwnError](failed)
	isDown = failed != nil && !own || failed == nil && (response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests)
	if !isDown || request.Context().Err() != nil {
		answer, err = boundToken(request, response, failed)
		return answer, false, err
	}
	return &http.Response{Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(`{"error":"slow_down"}`)))}, true, nil
}
