package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Discover asks the providers that can be used and can say what they have, all at
// once and for no longer than limit. What they name is listed from then on, and
// found by its name, until the provider is registered anew. The errors are those
// of providers that gave no answer.
func (m *Models) Discover(ctx context.Context, limit time.Duration) []error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var asking sync.WaitGroup
	var mu sync.Mutex
	var problems []error
	for _, s := range m.providers() {
		if s.Discover == nil || !s.usable() {
			continue
		}
		asking.Go(func() {
			found, err := s.Discover(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				err = silentFor{limit, err}
			}
			if err != nil {
				mu.Lock()
				problems = append(problems, fmt.Errorf("ask %s for its models: %w", s.Name, err))
				mu.Unlock()
				return
			}
			m.discovered(s, found)
		})
	}
	asking.Wait()
	return problems
}

// silentFor says in words that a time limit was over.
type silentFor struct {
	limit time.Duration
	error
}

func (e silentFor) Error() string { return "no answer within " + e.limit.String() }
func (e silentFor) Unwrap() error { return e.error }

// discovered keeps what a provider was found to have, if it is still there.
func (m *Models) discovered(s *ProviderSpec, found []*Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.index(s.Name); i < 0 || m.specs[i] != s {
		return
	}
	if m.found == nil {
		m.found = map[string][]*Model{}
	}
	m.found[s.Name] = found
}
