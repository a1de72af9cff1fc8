package luahooks

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"pi/agent/llm"
	"pi/luahooks/trust"
)

// Builtin returns a provider whose script is inside the program. It is run like
// any hook, in a VM of its own, but not before the first request, so that it
// costs nothing to those who use another model. It is called before the chain is
// used.
func (l *loader) Builtin(name string, code []byte) llm.Provider {
	b := &builtin{loader: l, name: name, code: code}
	l.builtins = append(l.builtins, b)
	return b
}

type builtin struct {
	loader *loader
	name   string
	code   []byte

	mu sync.Mutex // guards in
	in *instance
}

func (b *builtin) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	stream, err := b.load(ctx)
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return stream.Stream(ctx, r)
}

// load returns the script's provider, from a fresh VM if there is none that
// lives.
func (b *builtin) load(ctx context.Context) (llm.Provider, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in == nil || b.in.vm.Dead() {
		h := &hook{Source: trust.Source{Name: b.name, Path: b.name + ".lua", Scope: trust.ScopeBuiltin}}
		in, err := b.loader.run(ctx, h, b.code, nil)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", b.name, err)
		}
		b.in = in
	}
	for _, p := range b.in.script.Registered.Providers.All() {
		if model, ok := p.Script(); ok {
			return model, nil
		}
	}
	return nil, fmt.Errorf("load %s: it registers no model", b.name)
}

func (b *builtin) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in != nil {
		b.in.vm.Close()
		b.in.end()
	}
}
