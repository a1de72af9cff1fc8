package llm

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrAnswerTooLong ends a stream whose answer is longer than [Request].MaxAnswer. A
// provider yields it where it keeps what has not become deltas yet; whoever reads
// the stream counts the deltas.
var ErrAnswerTooLong = errors.New("the answer is longer than the request allows")

// ProviderError is a failed model call: what the server or the connection said,
// and what to do about it. Its text never holds a key.
type ProviderError struct {
	Provider   string
	Status     int    // HTTP status, also of an error inside a stream that names one; 0: no answer
	Type, Code string // the provider's own words; may be empty
	Message    string
	NextStep   string // the next step for the user; may be empty
	RetryAfter time.Duration
	Retryable  bool
	Overflow   bool  // the context does not fit the model's window
	NoLevel    bool  // the model does not take the level of thinking that the request asks for: it may be made without
	Unfit      bool  // thoughts of earlier answers do not fit this request: it may be made without them
	Refused    bool  // the model itself, or a filter of its provider, does not want to answer
	Err        error // the cause, if it was not the server's answer
}

func (e *ProviderError) Error() string {
	parts := []string{}
	if e.Status != 0 {
		parts = append(parts, fmt.Sprintf("HTTP %d", e.Status))
	}
	if e.Type != "" {
		parts = append(parts, e.Type)
	} else if e.Code != "" && e.Code != strconv.Itoa(e.Status) {
		parts = append(parts, e.Code)
	}
	head := strings.Join(parts, " ")
	if head != "" && e.Message != "" {
		head += ": "
	}
	return e.Provider + ": " + head + e.Message
}

func (e *ProviderError) Unwrap() error { return e.Err }

// MayPass reports whether the same request may succeed another time, as scripts want to know
// that try again later: the server was busy or broken, or the network was. That nobody listens
// passes when somebody starts the server, though it is not worth a further attempt at once.
func (e *ProviderError) MayPass() bool {
	return !e.Overflow && (e.Retryable || e.Status >= http.StatusInternalServerError || errors.Is(e.Err, syscall.ECONNREFUSED))
}

// Hint is the next step for the user; "" if nobody knows one.
func (e *ProviderError) Hint() string { return e.NextStep }
