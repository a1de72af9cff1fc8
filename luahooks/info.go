package luahooks

import (
	"math/bits"
	"slices"
	"sort"
	"sync"
	"time"

	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// Info is the state of one hook, for a user.
type Info struct {
	Name, Path string
	Scope      trust.Scope
	Package    string // as whom the user knows it; "" for a hook of none
	State      string // active, failed, pending, disabled
	Events     []string
	Commands   []string
	Tools      []string
	Others     []string // providers, modes, flags, shortcuts and renderers, such as "provider acme"
	LastError  string
	LastErrors int    // how often its line has failed
	Rejected   string // why the version saved last does not run, where another does
	Shuts      bool   // most tools, because it never loaded
	Dropped    int    // telling events that came faster than the hook handled them

	Calls, Errors int // of handlers, since the program began
	P50, P99      time.Duration
	Stats         []EventStats // of each event, by name
}

// info describes a hook; its path is shown as seen from dir.
func (h *hook) info(dir workdir, guard *trust.Guard) Info {
	h.mu.Lock()
	i := Info{Name: h.Name, Path: dir.shown(h.Path), Scope: h.Scope, Package: h.Package, State: "active", LastError: h.lastError, LastErrors: h.lastCount, Rejected: h.rejected, Shuts: h.unloaded(), Dropped: h.queue.lost()}
	disabled := h.disabled
	h.mu.Unlock()
	var all EventStats
	i.Stats, all = h.stats.list()
	i.Calls, i.Errors, i.P50, i.P99 = all.Calls, all.Errors, all.P50, all.P99
	in := h.current()
	switch {
	case disabled || h.off.Load():
		i.State = "disabled"
	case in == nil:
		i.State = "failed"
	default:
		i.add(&in.script.Registered)
		if guard.IsPending(h.Path) || slices.ContainsFunc(in.files(), guard.IsPending) {
			i.State = "pending"
		}
	}
	return i
}

// add adds to i the names of what a hook registered.
func (i *Info) add(r *api.Registered) {
	i.Events = r.Handlers.Events()
	for _, c := range r.Commands.All() {
		i.Commands = append(i.Commands, c.Name)
	}
	for _, t := range r.Tools.All() {
		i.Tools = append(i.Tools, t.Spec().Name)
	}
	for _, p := range r.Providers.All() {
		i.Others = append(i.Others, "provider "+p.Settings.Name)
	}
	for _, m := range r.Modes.All() {
		i.Others = append(i.Others, "mode "+m.Name)
	}
	for _, f := range r.Flags.All() {
		i.Others = append(i.Others, "--"+f.Name)
	}
	for _, s := range r.Shortcuts.All() {
		i.Others = append(i.Others, "key "+s.Name)
	}
	for _, r := range r.Renderers.All() {
		i.Others = append(i.Others, "renderer "+r.Name())
	}
	for _, c := range r.Completions.All() {
		i.Others = append(i.Others, "completion "+c.Prefix)
	}
	if len(r.Resources.All()) > 0 {
		i.Others = append(i.Others, "skills or templates")
	}
}

// stats counts what the handlers of a hook did, per event. It outlives reloads.
type stats struct {
	mu     sync.Mutex // guards events
	events map[string]*eventStats
}

type eventStats struct {
	calls, errors int
	times         histogram
}

// EventStats is what the handlers of one event did, for a user. The times are
// from the call of a handler to its end, with what it waited for; they are exact
// to an eighth.
type EventStats struct {
	Event         string
	Calls, Errors int
	P50, P99      time.Duration
}

// add counts a handler of an event that ended.
func (s *stats) add(event string, took time.Duration, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.events[event]
	if e == nil {
		if s.events == nil {
			s.events = map[string]*eventStats{}
		}
		e = new(eventStats)
		s.events[event] = e
	}
	e.calls++
	if failed {
		e.errors++
	}
	e.times.add(took)
}

// list returns the events in the order of their names, and all together.
func (s *stats) list() (events []EventStats, all EventStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum eventStats
	for name, e := range s.events {
		events = append(events, e.info(name))
		sum.calls += e.calls
		sum.errors += e.errors
		for i, n := range e.times {
			sum.times[i] += n
		}
	}
	sort.Slice(events, func(i, j int) bool { return events[i].Event < events[j].Event })
	return events, sum.info("")
}

func (e *eventStats) info(name string) EventStats {
	return EventStats{Event: name, Calls: e.calls, Errors: e.errors, P50: e.times.at(50, e.calls), P99: e.times.at(99, e.calls)}
}

// histogram counts durations in buckets, four to each power of two nanoseconds;
// the last one is for everything from half an hour.
type histogram [4 * maxPower]uint32

const maxPower = 41

// add counts a duration.
func (h *histogram) add(d time.Duration) {
	n := uint64(max(d, 4))
	power, bucket := bits.Len64(n)-1, len(h)-1
	if power < maxPower {
		bucket = 4*power + int(n>>(power-2))&3
	}
	h[bucket]++
}

// at returns the duration that percent of the n counted ones do not exceed, as the middle of
// its bucket; 0 if there are none.
func (h *histogram) at(percent, n int) time.Duration {
	left := (n*percent + 99) / 100
	for i, count := range h {
		if left -= int(count); left <= 0 && count > 0 {
			power, quarter := i/4, i%4
			return time.Duration((uint64(8+2*quarter) + 1) << power >> 3)
		}
	}
	return 0
}
