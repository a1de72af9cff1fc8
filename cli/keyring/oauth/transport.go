package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pi/internal/printable"
)

// Bounds of one answer of an authorization server.
const (
	maxAnswer  = 1 << 20
	answerTime = 30 * time.Second
)

// Transport makes the requests to authorization servers: to https addresses and to this machine
// only, with an answer of at most 1 MiB within 30 seconds. The answer has been read when it returns.
type Transport struct {
	Base http.RoundTripper // nil: http.DefaultTransport
}

// RoundTrip is that of [http.RoundTripper].
func (t Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := CheckAddress(request.URL); err != nil {
		return nil, &OwnError{err}
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	ctx, cancel := context.WithTimeout(request.Context(), answerTime)
	defer cancel()
	response, err := base.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	response.Body.Close()
	if err == nil && len(body) > maxAnswer {
		err = &OwnError{fmt.Errorf("%s answers with more than %s", printable.URL(request.URL.String()), printable.Bytes(maxAnswer))}
	}
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// CheckRedirect is that of an [http.Client] that asks authorization servers: it follows redirects of
// questions only, since what is sent to a token address has codes and secrets in it.
func CheckRedirect(_ *http.Request, via []*http.Request) error {
	const most = 5
	switch {
	case via[0].Method != http.MethodGet:
		return &OwnError{fmt.Errorf("%s redirects what is for it alone; nothing was sent there", printable.URL(via[0].URL.String()))}
	case len(via) > most:
		return &OwnError{errors.New("the authorization server redirects again and again")}
	}
	return nil // where it leads is checked when it is asked
}

// WithFields returns a copy of a request whose form has these fields too, where it has none of the name.
func WithFields(request *http.Request, fields map[string]string) (*http.Request, error) {
	if request.Method != http.MethodPost || request.Body == nil || len(fields) == 0 {
		return request, nil
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, maxAnswer))
	request.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	for name, value := range fields {
		if !form.Has(name) {
			form.Set(name, value)
		}
	}
	text := form.Encode()
	changed := request.Clone(request.Context())
	changed.Body, changed.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	changed.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	return changed, nil
}
