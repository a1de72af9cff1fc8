package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"pi/agent/llm"
)

// ErrCut is the error of a Decoder whose stream ended before the answer did.
var ErrCut = errors.New("the answer was cut off")

// UnknownStop is told of an answer that ended for a reason which its API does not know;
// the reason stands in front of it.
const UnknownStop = "the server ended the answer for this reason, which is not known: it may not be whole"

// Said is an error that the server reports inside its stream: a JSON value in
// any of the shapes of an error body.
type Said struct{ Body json.RawMessage }

func (e *Said) Error() string { return string(e.Body) }

// Garbled is an event that cannot be decoded.
type Garbled struct {
	Event []byte
	Err   error
}

func (e *Garbled) Error() string { return e.Err.Error() }
func (e *Garbled) Unwrap() error { return e.Err }

// faults makes the errors of one call.
type faults struct {
	model   *llm.Model
	keyless bool // no key was sent
	secrets secrets
	hint    func(status int, message string) string // of the API, which knows better; may be nil
	off     bool                                    // the model was told not to think, though nobody knows that it can be
	request *llm.Request                            // of a call; nil: of something else
	sent    int                                     // bytes of the body
	proxy   *url.URL                                // through which the request goes; nil: none, or it is not known
}

// answer describes an answer that is an error: status and body, or the object
// that came in a stream (status 0 then).
func (f *faults) answer(status int, h http.Header, body []byte) *llm.ProviderError {
	said, _ := parseErrorBody(body)
	if status == 0 || status == http.StatusOK {
		status = said.Status
	}
	e := &llm.ProviderError{
		Provider: f.model.Provider, Status: status,
		Type: f.secrets.shown(said.Type), Code: f.secrets.shown(said.Code), Message: f.secrets.shown(said.Message),
		RetryAfter: retryAfter(h),
	}
	if e.RetryAfter == 0 {
		e.RetryAfter = cmp.Or(said.RetryAfter, findDelay(said.Message))
	}
	e.Overflow = isOverflow(e) || f.isOverflowUnsaid(e, said.HTML)
	e.Message = cmp.Or(e.Message, http.StatusText(status), "the server reported an error")
	e.Unfit = refusesThoughts(e)
	e.NoLevel = refusesLevel(e, f.off)
	e.Retryable = !e.Overflow && !e.Unfit && isRetryable(e, h)
	e.NextStep = f.hintFor(e, said.HTML)
	if to := h.Get("Location"); to != "" && status >= 300 && status < 400 {
		e.NextStep = f.setting("base_url") + ": the server sends us to " + f.secrets.shown(to)
	}
	return e
}

// stream turns the error that ended the reading of a stream into the one to report:
// that of ctx, one of the server, or one about the connection.
func (f *faults) stream(ctx context.Context, err error) error {
	var said *Said
	var garbled *Garbled
	switch {
	case ctx.Err() != nil:
		return canceled(ctx)
	case errors.As(err, &said):
		return f.answer(0, nil, said.Body)
	case errors.As(err, &garbled):
		e := f.cut("the answer holds something that cannot be read: "+clip([]byte(f.secrets.shown(string(garbled.Event)))), nil)
		e.Err = garbled.Err
		return e
	case errors.Is(err, ErrCut), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		// The connection was closed in order, or in the middle of the body, so the answer is at fault.
		return f.cut("the answer ended early", err)
	default:
		e := f.connection(ctx, err)
		var pe *llm.ProviderError
		if errors.As(e, &pe) {
			pe.Retryable = true
		}
		return e
	}
}

// cut is the error for an answer that ended before it was complete. Asking again may
// help.
func (f *faults) cut(message string, cause error) *llm.ProviderError {
	if errors.Is(cause, ErrCut) {
		cause = nil
	}
	return &llm.ProviderError{
		Provider: f.model.Provider, Message: message, Retryable: true, Err: f.clean(cause),
		NextStep: "the answer was cut off; ask again",
	}
}

// notAStream is the error for an answer with status 200 whose body is no event stream:
// the error in the body, or that another service may be answering there.
func (f *faults) notAStream(contentType string, h http.Header, body []byte) *llm.ProviderError {
	said, ok := parseErrorBody(body)
	if ok && !said.HTML {
		e := f.answer(0, h, body)
		if e.Status == 0 {
			e.Status = http.StatusOK
		}
		return e
	}
	e := f.answer(http.StatusOK, h, body)
	e.Status, e.Retryable = http.StatusOK, false
	if contentType == "" {
		contentType = "something else"
	}
	e.Message = fmt.Sprintf("answered with %s instead of an event stream: %s", contentType, f.secrets.shown(clip([]byte(e.Message))))
	if !said.HTML {
		e.NextStep = f.setting("base_url") + ": a gateway or another service may be answering there"
	}
	return e
}

// unreadableAddress describes a request that could not even be made. The address is not
// quoted: the part that is wrong may be a piece of a password.
func (f *faults) unreadableAddress() error {
	return &llm.ProviderError{Provider: f.model.Provider, Message: "the address of the server cannot be read",
		NextStep: f.setting("base_url") + ": it is such as \"http://localhost:8080/v1\", and a / or % in a password is written as %2F or %25"}
}

// clean returns a cause whose text is free of keys, and for another one its text without
// them.
func (f *faults) clean(cause error) error {
	if cause == nil {
		return nil
	}
	if text := cause.Error(); f.secrets.hide(text) != text {
		return errors.New(f.secrets.shown(text))
	}
	return cause
}

// setting is the beginning of a hint: to check a setting of the provider.
func (f *faults) setting(key string) string {
	return fmt.Sprintf("check %s of [providers.%s]", key, f.model.Provider)
}

// canceled is the error of a call that was given up, and why if that was said.
func canceled(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
