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
// answer.
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
			if err == nil {
				m.storeFound(s, found)
				return
			}
			if errors.Is(err, context.DeadlineExceeded) {
				err = &silentFor{limit, err}
			}
			mu.Lock()
			defer mu.Unlock()
			problems = append(problems, fmt.Errorf("ask %s for its models: %w", s.Name, err))
		})
	}
	asking.Wait()
	return problems
}

// silentFor says in words that a time limit was over.
type silentFor struct {
	limit time.Duration
	cause error
}

func (e *silentFor) Error() string { return "no answer within " + e.limit.String() }
func (e *silentFor) Unwrap() error { return e.cause }

// storeFound stores the models that s was found to have. If the provider was registered
// anew since it was asked, they are dropped.
func (m *Models) storeFound(s *ProviderSpec, found []*Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.specs, s) {
		now := *s
		now.found = found
		m.put(now)
	}
}
