package luahooks

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"pi/agent"
)

// Builtin returns a provider whose script is inside the program. It is run like
// any hook, in a VM of its own, but not before the first request, so that it
// costs nothing to those who use another model.
func (c *Chain) Builtin(name string, code []byte) agent.Provider {
	return &builtin{chain: c, name: name, code: code}
}

type builtin struct {
	chain *Chain
	name  string
	code  []byte

	mu     sync.Mutex
	stream agent.Provider
}

func (b *builtin) Stream(ctx context.Context, r *agent.Request) iter.Seq2[agent.Delta, error] {
	stream, err := b.load(ctx)
	if err != nil {
		return func(yield func(agent.Delta, error) bool) { yield(agent.Delta{}, err) }
	}
	return stream.Stream(ctx, r)
}

func (b *builtin) load(ctx context.Context) (agent.Provider, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stream != nil {
		return b.stream, nil
	}
	h := &hook{Source: Source{Name: b.name, Path: b.name + ".lua", Scope: ScopeBuiltin}}
	in, err := b.chain.run(ctx, h, b.code, nil)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", b.name, err)
	}
	for _, p := range in.providers {
		b.stream = p.Stream
	}
	if b.stream == nil {
		return nil, fmt.Errorf("load %s: it registers no model", b.name)
	}
	return b.stream, nil
}
