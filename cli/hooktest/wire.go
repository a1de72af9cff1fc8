package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
)

// sentRequest is a request of a case: as the program made it, and as it went out.
type sentRequest struct {
	*llm.Request
	payload json.RawMessage // the body, as the handlers of before_provider_request left it
	header  http.Header
}

// errNoAnswer stands for an answer that does not come.
var errNoAnswer = errors.New("no answer")

// send sends a request of a case to receive instead of a network. It is written in the form of its
// API, one for the scripted model as chat completions, so that handlers see body and headers
// and can change them. receive returns the status of the answer; 0: there is no answer. It is called in the
// goroutine of send. The error says why the request was not sent, such as that a handler left no payload.
func send(ctx context.Context, r *llm.Request, receive func(ctx context.Context, r *sentRequest) (status int)) error {
	out, model, sent := *r, *r.Model, false
	out.Model = &model
	client := &http.Client{Transport: roundTrip(func(h *http.Request) (*http.Response, error) {
		sent = true
		body, err := io.ReadAll(h.Body)
		if err != nil {
			return nil, err
		}
		status := receive(ctx, &sentRequest{r, body, h.Header})
		if status == 0 {
			return nil, errNoAnswer
		}
		header := http.Header{"Content-Type": {"text/event-stream"}}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: h}, nil
	})}
	for _, err := range apiOf(&model, client).Stream(ctx, &out) {
		if err != nil && !sent {
			return err
		}
	}
	return nil
}

// apiOf is what writes requests for a model.
func apiOf(m *llm.Model, client *http.Client) llm.Provider {
	switch m.API {
	case "anthropic-messages":
		return anthropic.New(client)
	case "google-generative-ai":
		return google.New(client)
	case "openai-responses":
		return responses.New(client)
	case "openai-completions":
	default:
		m.BaseURL = "http://model.test/v1"
	}
	return openai.New(client)
}

// roundTrip is a transport that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip is that of [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
