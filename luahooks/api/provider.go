package api

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Provider is one pi.provider.
type Provider struct {
	Settings llm.ProviderSettings
	script   *scriptModel // Settings.Stream, if there is one
}

func (p Provider) id() string { return p.Settings.Name }

// Script returns the model that a script is, if the provider is one.
func (p Provider) Script() (model llm.Provider, ok bool) { return p.script, p.script != nil }

// providers are the providers of models that a hook registers.
type providers struct{ *bridge }

func (p *providers) part() part {
	return part{"provider": p.provider, "remove_provider": p.remove}
}

// provider is pi.provider(name, {base_url?, api?, api_key?, headers?, compat?, models?,
// stream?, login?}): it adds a provider, or changes one that is known under the name. With stream
// a function of the hook answers in place of a server. Misuse raises.
func (p *providers) provider(L *lua.LState) int {
	n := Provider{Settings: llm.ProviderSettings{Name: L.CheckString(1), Hook: p.Hook.Name}}
	o := &n.Settings
	var models, compat, login *lua.LTable
	var stream *lua.LFunction
	luavm.Unpack(L, 2, "provider", luavm.Opt("base_url", &o.BaseURL), luavm.Opt("api", &o.API), luavm.Opt("api_key", &o.APIKey),
		luavm.Opt("headers", &o.Headers), luavm.Opt("compat", &compat), luavm.Opt("models", &models), luavm.Opt("stream", &stream), luavm.Opt("login", &login))
	if o.Name == "" || strings.ContainsAny(o.Name, "/ \t\n") {
		luavm.RaiseArg(L, 1, "provider", "%q is no name of a provider: one word without /", o.Name)
	}
	p.mustSpeak(L, o.API)
	if stream != nil {
		n.script = &scriptModel{p, o.Name, stream}
		o.API, o.Stream = "lua", n.script
	}
	if stream == nil && (o.API == "" || o.BaseURL == "") {
		known := false
		if p.Models != nil {
			_, known = p.Models.Lookup(o.Name)
		}
		if !known {
			luavm.Raise(L, "provider: it needs api and base_url, or a stream function")
		}
	}
	if variable, ok := strings.CutPrefix(o.APIKey, "$"); ok {
		o.APIKey = "env:" + variable
	}
	o.Compat = p.switches(L, o.API, compat)
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	o.Models = modelSettings(L, models)
	o.Login = p.loginOptions(L, o.Name, login)
	p.registered.Providers.put(n)
	if p.registered.Handlers.isInForce() {
		p.ProvidersChanged()
	}
	return 0
}

// remove is pi.remove_provider(name); it reports whether the hook had registered it.
func (p *providers) remove(name string) bool {
	had := p.registered.Providers.remove(name)
	if had && p.registered.Handlers.isInForce() {
		p.ProvidersChanged()
	}
	return had
}

// switches reads compat, the settings of the wire API that the provider speaks, and raises
// for one that the API does not have.
func (p *providers) switches(L *lua.LState, api string, t *lua.LTable) (switches map[string]any) {
	if t == nil {
		return nil
	}
	raw, err := luavm.EncodeJSON(L, t, luavm.JSON{})
	if err == nil {
		err = json.Unmarshal(raw, &switches)
	}
	if err == nil && p.CheckSwitches != nil {
		err = p.CheckSwitches(api, switches)
	}
	must(L, "provider: compat", err)
	return switches
}

// mustSpeak raises for an api that no client speaks.
func (p *providers) mustSpeak(L *lua.LState, api string) {
	if p.Models == nil {
		return
	}
	apis := p.Models.APIs()
	if api == "" || len(apis) == 0 || slices.Contains(apis, api) {
		return
	}
	near := ""
	if n := suggest.Nearest(api, apis); n != "" {
		near = fmt.Sprintf(" (did you mean %q?)", n)
	}
	luavm.Raise(L, "provider: unknown api %q%s; there are %s", api, near, strings.Join(apis, ", "))
}

// modelSettings reads the list of models: ids, or tables that describe them. It returns nil
// without a list, and raises for an element that is neither.
func modelSettings(L *lua.LState, list *lua.LTable) []llm.ModelSettings {
	if list == nil {
		return nil
	}
	n, err := luavm.ListLen(L, list)
	must(L, "provider: models", err)
	models := make([]llm.ModelSettings, 0, n)
	for i := 1; i <= n; i++ {
		switch v := list.RawGetInt(i).(type) {
		case lua.LString:
			models = append(models, llm.ModelSettings{ID: string(v)})
		case *lua.LTable:
			models = append(models, readModel(L, v))
		default:
			luavm.Raise(L, "provider: model %d must be an id or a table, not a %s", i, v.Type())
		}
		if models[i-1].ID == "" {
			luavm.Raise(L, "provider: model %d has an empty id", i)
		}
	}
	return models
}

// readModel reads a model that a hook describes: {id, name?, context_window?, …}. It raises
// for an unknown key or thinking level. An empty list of inputs stands for text.
func readModel(L *lua.LState, t *lua.LTable) llm.ModelSettings {
	var o llm.ModelSettings
	var cost *lua.LTable
	luavm.UnpackTable(L, t, "provider", luavm.Opt("id", &o.ID).Required(), luavm.Opt("name", &o.Name),
		luavm.Opt("context_window", &o.ContextWindow), luavm.Opt("max_tokens", &o.MaxTokens), luavm.Opt("reasoning", &o.Reasoning),
		luavm.Opt("levels", &o.Levels), luavm.Opt("input", &o.Input), luavm.Opt("cost", &cost))
	known := llm.ThinkingLevels()
	for _, level := range o.Levels {
		if !slices.Contains(known, level) {
			luavm.Raise(L, "provider: unknown thinking level %q%s; levels are %s", level, suggest.Hint(level, known), strings.Join(known, ", "))
		}
	}
	if o.Input != nil && len(o.Input) == 0 {
		o.Input = []string{"text"}
	}
	if cost != nil {
		o.Cost = readPrice(L, cost)
	}
	return o
}

// readPrice reads {input?, output?, cache_read?, cache_write?, above?}, dollars for a million
// tokens; what is left out is not known. above is a list of the same with tokens.
func readPrice(L *lua.LState, t *lua.LTable) *llm.Price {
	var given givenPrices
	var above *lua.LTable
	luavm.UnpackTable(L, t, "provider: cost", luavm.Opt("input", &given.input), luavm.Opt("output", &given.output),
		luavm.Opt("cache_read", &given.read), luavm.Opt("cache_write", &given.write), luavm.Opt("above", &above))
	price := given.price(L)
	if above == nil {
		return price
	}
	n, err := luavm.ListLen(L, above)
	must(L, "provider: cost: above", err)
	if n == 0 {
		luavm.Raise(L, "provider: cost: above must be a list of tables with tokens and prices, as in { { tokens = 200000, input = 2 } }")
	}
	var steps []llm.Step
	for i := 1; i <= n; i++ {
		one, ok := above.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "provider: cost: above %d must be a table with tokens and prices", i)
		}
		steps = append(steps, readStep(L, one))
	}
	priced, err := price.WithSteps(steps)
	must(L, "provider: cost", err)
	return priced
}

// readStep reads {tokens, input?, output?, cache_read?, cache_write?}.
func readStep(L *lua.LState, t *lua.LTable) llm.Step {
	var given givenPrices
	var tokens int
	luavm.UnpackTable(L, t, "provider: cost: above", luavm.Opt("tokens", &tokens).Required(), luavm.Opt("input", &given.input),
		luavm.Opt("output", &given.output), luavm.Opt("cache_read", &given.read), luavm.Opt("cache_write", &given.write))
	return llm.Step{Tokens: tokens, Price: *given.price(L)}
}

// givenPrices are those of a table, nil where it has none.
type givenPrices struct{ input, output, read, write *float64 }

// price raises an error for one below zero.
func (g givenPrices) price(L *lua.LState) *llm.Price {
	for _, given := range []*float64{g.input, g.output, g.read, g.write} {
		if given != nil && !(*given >= 0) {
			luavm.Raise(L, "provider: cost: a price is never below zero; one that is left out is not known")
		}
	}
	return llm.NewPrice(g.input, g.output, g.read, g.write)
}

// scriptModel is a model that a script is.
type scriptModel struct {
	home   *providers
	name   string
	stream *lua.LFunction
}

// Stream runs the script in a job of its own and yields what it emits. An error of the
// script comes last. It does not return before the script has ended.
func (p *scriptModel) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		deltas := make(chan llm.Delta, 64)
		ended := make(chan error, 1)
		go func() { ended <- p.run(ctx, r, deltas) }()
		if err, stopped := relay(deltas, ended, yield); stopped {
			cancel()
			<-ended
		} else if err != nil {
			yield(llm.Delta{}, &llm.ProviderError{Provider: p.name, Message: err.Error(), Err: err})
		}
	}
}

// relay yields deltas until the script has ended, and returns its error; or until the
// consumer wants no more while the script still runs, which is stopped.
func relay(deltas <-chan llm.Delta, ended <-chan error, yield func(llm.Delta, error) bool) (err error, stopped bool) {
	for {
		select {
		case d := <-deltas:
			if !yield(d, nil) {
				return nil, true
			}
		case err := <-ended:
			for len(deltas) > 0 {
				if !yield(<-deltas, nil) {
					return nil, false
				}
			}
			return err, false
		}
	}
}

// run runs the script, or if its VM was replaced before it began, the one of the same name
// in the newer version of the hook. The hook is told of an error, the user is not.
func (p *scriptModel) run(ctx context.Context, r *llm.Request, deltas chan<- llm.Delta) error {
	p, err := latest(ctx, p, func(p *scriptModel) error { return p.call(ctx, r, deltas) })
	if err != nil {
		p.owner().Failed(ctx, "stream "+p.name, nil, err, NobodyElse)
	}
	return err
}

func (p *scriptModel) owner() Owner { return p.home.Owner }

func (p *scriptModel) successor(now *Registered) (*scriptModel, bool) {
	next, _ := now.Providers.Find(p.name)
	return next.script, next.script != nil
}

// call runs the script once and sends what it emits to deltas while it runs. A script that
// ends without a stop gets one.
func (p *scriptModel) call(ctx context.Context, r *llm.Request, deltas chan<- llm.Delta) error {
	e := &emitter{bridge: p.home.bridge, deltas: deltas, gone: ctx.Done(), price: r.Model.Cost}
	return p.home.jobs.run(ctx, "stream "+p.name, func(L *lua.LState) error {
		defer func() { e.isOver = true }()
		callLua(L, p.stream, p.home.requestTable(L, r), p.home.vm.GFunc("emit", e.emit))
		if !e.stopped {
			e.send(L, llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: e.defaultStop()}})
		}
		return nil
	})
}

// requestTable is the first argument of a script.
func (p *providers) requestTable(L *lua.LState, r *llm.Request) *lua.LTable {
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "model", p.records.Model(r.Model))
	luavm.Set(t, "system", lua.LString(r.System))
	luavm.Set(t, "messages", p.records.Messages(L, record.ItemsOf(r.Messages)))
	luavm.Set(t, "thinking_level", lua.LString(r.Thinking))
	luavm.SetText(t, "session_id", r.SessionID)
	luavm.Set(t, "tools", luavm.NewList(L, len(r.Tools), func(i int) lua.LValue {
		s := r.Tools[i]
		tool := luavm.NewRecord(L, 3)
		luavm.Set(tool, "name", lua.LString(s.Name))
		luavm.Set(tool, "description", lua.LString(s.Description))
		luavm.Set(tool, "parameters", p.records.JSON(s.Parameters))
		return tool
	}))
	return t
}

// emitter turns emit{…} into deltas. Text and thinking that follow each other
// are one block; each call is one of its own.
type emitter struct {
	*bridge
	deltas chan<- llm.Delta
	gone   <-chan struct{} // nobody reads any more
	price  *llm.Price      // of the model

	// Only while the VM is held.
	index   int
	last    llm.DeltaKind
	calls   int
	stopped bool // the script has emitted a stop
	isOver  bool // the script has ended
}

// emit is what the script calls: {type = "text"|"thinking"|"tool_call"|"usage"|
// "stop", …}.
func (e *emitter) emit(L *lua.LState) int {
	if e.isOver {
		luavm.Raise(L, "emit: the answer has ended")
	}
	var kind, text, signature, id, name, reason, failure string
	var arguments lua.LValue
	var input, output, cacheRead, cacheWrite int
	var retryable bool
	luavm.Unpack(L, 1, "emit", luavm.Opt("type", &kind).Required(), luavm.Opt("text", &text), luavm.Opt("thinking_signature", &signature), luavm.Opt("id", &id),
		luavm.Opt("name", &name), luavm.Opt("arguments", &arguments), luavm.Opt("reason", &reason), luavm.Opt("message", &failure),
		luavm.Opt("input", &input), luavm.Opt("output", &output), luavm.Opt("cache_read", &cacheRead), luavm.Opt("cache_write", &cacheWrite), luavm.Opt("retryable", &retryable))
	switch kind {
	case "text":
		e.send(L, e.block(llm.DeltaText, text))
	case "thinking":
		d := e.block(llm.DeltaThinking, text)
		e.send(L, d)
		if signature != "" { // it ends the block
			e.last = llm.DeltaSignature
			e.send(L, llm.Delta{Kind: llm.DeltaSignature, Index: d.Index, Text: signature})
		}
	case "tool_call":
		e.send(L, e.call(L, id, name, arguments))
	case "usage":
		e.send(L, llm.Delta{Kind: llm.DeltaUsage, Usage: e.price.Of(message.Usage{Input: input, Output: output, CacheRead: cacheRead,
			CacheWrite: cacheWrite})})
	case "stop":
		e.send(L, e.stop(L, llm.Stop{Reason: message.StopReason(reason), Raw: reason, Message: failure, Retryable: retryable}))
	default:
		luavm.Raise(L, "emit: unknown type %q; types are text, thinking, tool_call, usage and stop", kind)
	}
	return 0
}

// block makes a delta of text or thinking.
func (e *emitter) block(kind llm.DeltaKind, text string) llm.Delta {
	if kind != e.last {
		e.index++
		e.last = kind
	}
	return llm.Delta{Kind: kind, Index: e.index, Text: text}
}

// call makes a delta of a whole tool call.
func (e *emitter) call(L *lua.LState, id, name string, arguments lua.LValue) llm.Delta {
	if name == "" {
		luavm.Raise(L, "emit: a tool_call needs a name")
	}
	e.index++
	e.calls++
	e.last = llm.DeltaToolCall
	if id == "" {
		id = fmt.Sprintf("call_%d", e.calls)
	}
	raw := json.RawMessage(`{}`)
	if arguments != nil && arguments != lua.LNil {
		var err error
		raw, err = e.records.InputFrom(name, arguments)
		must(L, "emit", err)
	}
	return llm.Delta{Kind: llm.DeltaToolCall, Index: e.index, ID: id, Name: name, Text: string(raw)}
}

// stop returns the delta that ends an answer, and raises for a reason that is none. A stop
// without a reason gets that of defaultStop.
func (e *emitter) stop(L *lua.LState, stop llm.Stop) llm.Delta {
	switch stop.Reason {
	case message.StopEnd, message.StopLength, message.StopToolUse, message.StopError:
	case "":
		stop.Reason = e.defaultStop()
	default:
		luavm.Raise(L, "emit: unknown stop reason %q; reasons are stop, length, toolUse and error", stop.Raw)
	}
	if stop.Retryable && stop.Reason != message.StopError {
		luavm.Raise(L, "emit: only a stop with the reason error is retryable")
	}
	e.stopped = true
	return llm.Delta{Kind: llm.DeltaStop, Stop: stop}
}

// defaultStop is the reason of an answer whose script gives none.
func (e *emitter) defaultStop() message.StopReason {
	if e.calls > 0 {
		return message.StopToolUse
	}
	return message.StopEnd
}

// send hands a delta to relay. While that is behind, other jobs may use the VM. A delta that
// nobody reads any more is dropped.
func (e *emitter) send(L *lua.LState, d llm.Delta) {
	select {
	case e.deltas <- d:
		return
	default:
	}
	_ = e.wait(L, "emit", func(ctx context.Context) error {
		select {
		case e.deltas <- d:
		case <-e.gone:
		case <-ctx.Done():
		}
		return nil
	})
}
