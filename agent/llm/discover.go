package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Discover asks the servers of all usable providers for the models that they have, all at
// once and for no longer than limit. The models found are listed and can be found by name
// until the provider is registered anew. The errors are those of providers that gave no
// answer, and a [LongList] of each that has more models than are read.
func (m *Models) Discover(ctx context.Context, limit time.Duration) []error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var asking sync.WaitGroup
	var mu sync.Mutex
	var problems []error
	for _, s := range m.now() {
		if s.Discover == nil || s.isUnusable() {
			continue
		}
		asking.Go(func() {
			found, err := s.Discover(ctx)
			long, isLong := errors.AsType[*LongList](err)
			switch {
			case isLong:
				m.storeFound(s, found, true)
				err = long
			case err == nil:
				m.storeFound(s, found, false)
				return
			case errors.Is(err, context.DeadlineExceeded):
				err = fmt.Errorf("ask %s for its models: %w", s.Name, &silentFor{limit, err})
			default:
				err = fmt.Errorf("ask %s for its models: %w", s.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			problems = append(problems, err)
		})
	}
	asking.Wait()
	return problems
}

// LongList says that a server has more models than are read of its list. The others are
// found by their whole name.
type LongList struct {
	Provider  string
	Read, All int
}

func (e *LongList) Error() string {
	return fmt.Sprintf("%s has %d models in its list: the first %d were read, the other %d can be named", e.Provider, e.All, e.Read, e.All-e.Read)
}

// silentFor says in words that a time limit was over.
type silentFor struct {
	limit time.Duration
	cause error
}

func (e *silentFor) Error() string { return "no answer within " + e.limit.String() }
func (e *silentFor) Unwrap() error { return e.cause }

// storeFound stores the models that s was found to have; more says that these are not all.
// If the provider was registered anew since it was asked, they are dropped.
func (m *Models) storeFound(s *ProviderSpec, found []*Model, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.specs, s) {
		now := *s
		now.found, now.more = found, more
		m.put(now)
	}
}
