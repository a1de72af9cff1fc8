package api

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Registered is what a hook's file registered with pi.
type Registered struct {
	Handlers  Handlers
	Commands  List[*Command]
	Shortcuts List[*Command]
	Tools     List[*Tool]
	Flags     List[Flag]
	Renderers List[Renderer]
	Providers List[Provider]

	Completions List[*Completion]
	Resources   List[Resources]
	Modes       List[*Mode]

	Settings atomic.Pointer[[]Setting] // that are declared; nil: none are
}

// Named is what is registered under a name.
type Named interface{ id() string }

// List has things of one kind, at most one of each name, in the order in which they
// were registered. It may be used from any goroutine.
type List[T Named] struct {
	mu    sync.Mutex
	items []T // replaced, never changed
}

// All lists the items; the caller must not change the list.
func (l *List[T]) All() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items
}

// Find returns the item of a name.
func (l *List[T]) Find(name string) (item T, ok bool) {
	for _, item := range l.All() {
		if item.id() == name {
			return item, true
		}
	}
	return item, false
}

// put adds an item at the end and removes one that has its name.
func (l *List[T]) put(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.without(item.id()), item)
}

// replace is put, but leaves an item in the place of the one that had its name.
func (l *List[T]) replace(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.items, func(have T) bool { return have.id() == item.id() }); i >= 0 {
		l.items = slices.Clone(l.items)
		l.items[i] = item
		return
	}
	l.items = append(slices.Clip(l.items), item)
}

// remove reports whether there was an item of that name.
func (l *List[T]) remove(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.items)
	l.items = l.without(name)
	return len(l.items) < before
}

// drop removes an item, unless another one has its name by now.
func (l *List[T]) drop(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = slices.DeleteFunc(slices.Clone(l.items), func(have T) bool { return any(have) == any(item) })
}

func (l *List[T]) without(name string) []T {
	return slices.DeleteFunc(slices.Clone(l.items), func(have T) bool { return have.id() == name })
}

// Handlers are the functions that a hook's file gave to pi.on, by event. They may be
// used from any goroutine.
type Handlers struct {
	// count is called when n handlers of an event come into force, or go if n is
	// negative. It must not call back.
	count func(event string, n int)

	mu      sync.Mutex            // guards what follows
	byEvent map[string][]*Handler // lists are replaced, never changed
	inForce bool                  // between Enter and Exit
}

// Handler is one pi.on.
type Handler struct {
	Fn    *lua.LFunction
	Group *Group // nil: it is in none
	gone  atomic.Bool
}

// Group are handlers, of one hook or of several, whose answers to an event go together by a
// rule of their own. For all other handlers they are handlers like any.
type Group struct {
	Name string
	Rule GroupRule
	Keys []string // of a result, that the rule is about; none: all
}

// GroupRule says which answers of a group count.
type GroupRule string

// The rules of a group.
const (
	GroupFirst GroupRule = "first" // the first answer; the later handlers are asked, for nothing
	GroupLast  GroupRule = "last"  // the last answer, as if those before it had not been given
	GroupStop  GroupRule = "stop"  // the first answer; no later handler is asked
)

// IsGone reports whether the hook has removed the handler.
func (h *Handler) IsGone() bool { return h.gone.Load() }

// IsCopyOf reports whether h is what another VM that ran the same file registered as
// other.
func (h *Handler) IsCopyOf(other *Handler) bool {
	mine, its := luavm.SourceOf(h.Fn), luavm.SourceOf(other.Fn)
	if mine.IsG || its.IsG {
		return mine.IsG == its.IsG
	}
	a, b := mine.Proto, its.Proto
	return a.SourceName == b.SourceName && a.LineDefined == b.LineDefined && a.LastLineDefined == b.LastLineDefined
}

// Of lists the handlers of an event in the order of their registration.
func (h *Handlers) Of(event string) []*Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byEvent[event]
}

// Events lists the events that have handlers, by name.
func (h *Handlers) Events() (events []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for event, list := range h.byEvent {
		if len(list) > 0 {
			events = append(events, event)
		}
	}
	sort.Strings(events)
	return events
}

// on registers a handler for an event and returns the function that removes it.
func (h *Handlers) on(event string, r *Handler) (off func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byEvent == nil {
		h.byEvent = map[string][]*Handler{}
	}
	h.byEvent[event] = append(slices.Clip(h.byEvent[event]), r)
	if h.inForce {
		h.count(event, 1)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if r.gone.Swap(true) {
			return
		}
		h.byEvent[event] = slices.DeleteFunc(slices.Clone(h.byEvent[event]), func(have *Handler) bool { return have == r })
		if h.inForce {
			h.count(event, -1)
		}
	}
}

// Enter puts the handlers in force, and with them everything that the file
// registered: what it registers from now on takes effect at once.
func (h *Handlers) Enter() { h.setInForce(true) }

// Exit ends that. Without an Enter before it does nothing.
func (h *Handlers) Exit() { h.setInForce(false) }

// setInForce puts the handlers in force or out of it, and has their number counted; false
// after false, or true after true, does nothing.
func (h *Handlers) setInForce(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inForce == on {
		return
	}
	h.inForce = on
	for event, list := range h.byEvent {
		if on {
			h.count(event, len(list))
		} else {
			h.count(event, -len(list))
		}
	}
}

// isInForce reports whether what is registered now takes effect at once.
func (h *Handlers) isInForce() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inForce
}

// hasNameCharacters reports whether a name is made of letters, digits, _ and -.
func hasNameCharacters(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	})
}
