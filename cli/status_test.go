package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/cli/app"
)

func TestTheStatusSaysWhetherAnotherTimeMayBeBetter(t *testing.T) {
	for want, errs := range map[int][]error{
		exitProvider: {
			&llm.ProviderError{Status: http.StatusRequestTimeout, Retryable: true},
			&llm.ProviderError{Status: http.StatusTooManyRequests, Retryable: true},
			&llm.ProviderError{Status: 529, Retryable: true},
			&llm.ProviderError{Status: http.StatusInternalServerError}, // the server says not to try at once
			&llm.ProviderError{Retryable: true, Err: errors.New("reset")},
			&llm.ProviderError{Err: fmt.Errorf("dial: %w", syscall.ECONNREFUSED)}, // nobody listens yet
		},
		exitDenied: {
			&llm.ProviderError{Status: http.StatusUnauthorized},
			&llm.ProviderError{Status: http.StatusForbidden},
			&llm.ProviderError{Status: http.StatusTooManyRequests}, // no credit is left
			&llm.ProviderError{Status: http.StatusTooManyRequests, Retryable: true, Overflow: true},
			&llm.ProviderError{Status: http.StatusNotFound},
			&llm.ProviderError{Err: errors.New("the certificate is for another name")},
			&app.NoKeyError{},
		},
		exitUsage:       {llm.ErrNoModel},
		exitTimeLimit:   {&agent.TimeError{}, errors.Join(&agent.TimeError{}, errors.New("not saved"))},
		exitInterrupted: {agent.ErrAborted, context.Canceled},
	} {
		for _, err := range errs {
			if got := exitStatus(fmt.Errorf("run: %w", err)); got != want {
				t.Errorf("%T %v: status %d, want %d", err, err, got, want)
			}
		}
	}
}
