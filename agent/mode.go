package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pi/internal/suggest"
	"pi/session"
)

// Modes turn ways to work on and off, such as planning before anything is changed. A change
// holds from the next request on, also while a prompt runs.
//
// The mode stays when the conversation moves in its tree, branches or begins anew, as the
// model does: only a user, a hook or a client turns it off. It is written into the
// session, by an entry of the branch, so that a session that is resumed is in the mode that
// it was left in.
//
// If nobody offers the mode that is on, because its hook is not there or does not have it
// any more, only tools that look are active until a user chooses: what is not known may
// have been a gate.

// Mode is a way to work that hooks offer. While it is on, its tools are the active ones, its
// section stands in the system prompt, and its thinking level is in force; the hook asks its
// gate before all others.
type Mode struct {
	Name, Description string

	By       string // the hook that offers it
	Tools    []Tool // the active ones, in the order of the model; nil: those without a mode
	Section  string // "" for none
	Thinking string // "" leaves the level as it is
}

// NoMode is how people and clients name that no mode is on. No mode has that name.
const NoMode = "default"

// IsNoMode reports whether a name says that no mode is on: "", "default" or "off", whatever the
// case.
func IsNoMode(name string) bool {
	switch strings.ToLower(name) {
	case "", NoMode, "off":
		return true
	}
	return false
}

// Where a change comes from, as mode_select tells it.
const (
	ModeByFlag    = "flag"
	ModeByKey     = "key"
	ModeByCommand = "command"
	ModeByHook    = "hook"
	ModeByClient  = "client"
	modeRestored  = "restore" // the session was in it
	modeOfParent  = "parent"  // the agent that uses this one is in it
)

// ModeTools are those that the model has.
type ModeTools interface {
	Restrict(only []Tool) // makes these the active ones, whatever is chosen meanwhile
	Lift()                // ends that
}

// ModeThinking is how much the model thinks.
type ModeThinking interface {
	Wish() string                // the level that was chosen
	InForce(level string) string // what of a level the model offers
	// Use makes a level the chosen one; tell is called later to tell listeners, and to record
	// it in the session.
	Use(level string) (tell func(ctx context.Context))
}

// ModeOptions are what modes work on.
type ModeOptions struct {
	Tools    ModeTools
	Thinking ModeThinking
	Session  func() *session.Session // the current one
	IsIdle   func() bool             // no prompt runs
	Emit     func(ctx context.Context, name, previous, source string)
	Warn     func(ctx context.Context, text string) // tells the user
}

// Modes are the modes that there are, and the one that is on. All methods may be called from
// any goroutine.
type Modes struct {
	o ModeOptions

	records sync.Mutex // held while an entry is appended, so that the last one is the newest

	mu         sync.Mutex // guards what follows
	offered    []Mode
	looking    []Tool // what is active where nobody offers the mode that is on
	started    bool   // the listeners are told what happens, and the user what is wrong
	from       string // before Start: where the mode that is on comes from; "" for the session
	on         modeState
	unrecorded bool   // the branch of the session does not say so yet
	told       string // the mode of which the user was told that nobody offers it
}

// NewModes returns modes of which none is on.
func NewModes(o ModeOptions) *Modes { return &Modes{o: o} }

// List returns the modes that can be turned on, in the order of the hooks that have them.
func (m *Modes) List() []Mode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.offered)
}

// Current returns the name of the mode that is on, "" if none is. It may be one that nobody
// offers, see [Modes.IsMissing].
func (m *Modes) Current() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on.Mode
}

// IsMissing reports whether a mode is on that nobody offers.
func (m *Modes) IsMissing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isMissing()
}

func (m *Modes) isMissing() bool { return m.on.Mode != "" && m.find(m.on.Mode) == nil }

// Section returns the section of the system prompt that the mode has which is on; "" for
// none.
func (m *Modes) Section() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mode := m.find(m.on.Mode); mode != nil {
		return mode.Section
	}
	return ""
}

// find returns the offered mode of a name, or nil. The caller has the lock.
func (m *Modes) find(name string) *Mode {
	if i := slices.IndexFunc(m.offered, func(o Mode) bool { return o.Name == name }); i >= 0 {
		return &m.offered[i]
	}
	return nil
}

// Set is Select for the client of a program.
func (m *Modes) Set(ctx context.Context, name string) error { return m.Select(ctx, name, ModeByClient) }

// Select turns a mode on, and the one before it off; a name that is [IsNoMode] turns that off
// only. source is where the wish comes from, see ModeByFlag and its like. The listeners get
// mode_select if the mode is another one than before; of what is selected before Start they
// are told there. The error says that nobody offers the
// mode, with the name that was probably meant.
func (m *Modes) Select(ctx context.Context, name, source string) error {
	m.mu.Lock()
	var next *Mode
	if !IsNoMode(name) {
		if next = m.find(name); next == nil {
			defer m.mu.Unlock()
			return m.unknown(name)
		}
	}
	was, tell := m.turn(next)
	is, started := m.on.Mode, m.started
	if !started && was != is {
		m.from = source
	}
	m.mu.Unlock()
	if was == is {
		return nil
	}
	if started {
		m.o.Emit(ctx, is, was, source)
	}
	m.RecordAtRest(ctx)
	if started {
		tell(ctx)
	}
	return nil
}

// Follow makes the mode of the agent that uses this one the one that is on here, also if nobody
// offers it. It is for a child, whose mode nothing else changes.
func (m *Modes) Follow(ctx context.Context, name string) {
	m.mu.Lock()
	var next *Mode
	if name != "" {
		if next = m.find(name); next == nil {
			next = &Mode{Name: name}
		}
	}
	was, tell := m.turn(next)
	is, started := m.on.Mode, m.started
	if !started && was != is {
		m.from = modeOfParent
	}
	m.mu.Unlock()
	if was == is || !started {
		return
	}
	m.o.Emit(ctx, is, was, modeOfParent)
	m.RecordAtRest(ctx)
	tell(ctx)
}

// turn makes next the mode that is on, nil for none, and returns what was on before; tell is
// called later. The caller has the lock.
func (m *Modes) turn(next *Mode) (was string, tell func(context.Context)) {
	on, level := modeState{}, m.levelWithout()
	if next != nil {
		on.Mode = next.Name
		if next.Thinking != "" {
			on.Before, on.Thinking, level = level, next.Thinking, next.Thinking
		}
	}
	was, tell = m.on.Mode, func(context.Context) {}
	if on.Mode == was {
		return was, tell
	}
	m.on, m.unrecorded = on, true
	m.apply()
	if level != m.o.Thinking.Wish() {
		tell = m.o.Thinking.Use(level)
	}
	return was, tell
}

// levelWithout returns the thinking level that would be chosen without the mode that is on. A
// level that somebody has chosen since stays.
func (m *Modes) levelWithout() string {
	now := m.o.Thinking.Wish()
	if m.on.Thinking != "" && m.o.Thinking.InForce(m.on.Thinking) == m.o.Thinking.InForce(now) {
		return m.on.Before
	}
	return now
}

// apply makes the tools of the mode that is on the active ones. Before the first Offer it
// is not known what there is, so that a session in a mode has no tools. The caller has the
// lock.
func (m *Modes) apply() {
	switch mode := m.find(m.on.Mode); {
	case m.on.Mode != "" && mode == nil:
		m.o.Tools.Restrict(m.looking)
	case mode != nil && mode.Tools != nil:
		m.o.Tools.Restrict(mode.Tools)
	default:
		m.o.Tools.Lift()
	}
}

// unknown is the error for a mode that nobody offers. The caller has the lock.
func (m *Modes) unknown(name string) error {
	var names []string
	for _, o := range m.offered {
		names = append(names, o.Name)
	}
	switch hint := suggest.Hint(name, names); {
	case hint != "":
		return fmt.Errorf("no mode %q%s", name, hint)
	case len(names) > 0:
		return fmt.Errorf("no mode %q; there are %s", name, strings.Join(names, ", "))
	}
	return fmt.Errorf("no mode %q; no hook has a mode", name)
}

// Offer replaces the modes that can be turned on. looking are the tools that stay active
// where nobody offers the mode that is on; after Start the user is told of that.
func (m *Modes) Offer(ctx context.Context, modes []Mode, looking []Tool) {
	m.mu.Lock()
	m.offered, m.looking = slices.Clone(modes), looking
	m.apply()
	m.mu.Unlock()
	m.tellMissing(ctx)
}

// Start tells the listeners the mode that is on: the one that the session was left in, or
// that was selected since.
func (m *Modes) Start(ctx context.Context) {
	m.mu.Lock()
	m.started = true
	name, from := m.on.Mode, cmp.Or(m.from, modeRestored)
	m.mu.Unlock()
	if name != "" {
		m.o.Emit(ctx, name, "", from)
	}
	m.tellMissing(ctx)
}

// tellMissing tells the user, once, that nobody offers the mode that is on.
func (m *Modes) tellMissing(ctx context.Context) {
	m.mu.Lock()
	if !m.started {
		m.mu.Unlock()
		return
	}
	name, known := "", m.told
	if m.isMissing() {
		name = m.on.Mode
	}
	m.told = name
	m.mu.Unlock()
	if name != "" && name != known {
		m.o.Warn(ctx, fmt.Sprintf("the session is in the mode %q, which no hook has here; only tools that look work until you choose one: /mode NAME, or /mode off", name))
	}
}

// modeState is which mode is on: the data of the entry that records it.
type modeState struct {
	Mode     string `json:"mode"`               // "": none is on
	Thinking string `json:"thinking,omitempty"` // the level that the mode has set
	Before   string `json:"before,omitempty"`   // the level that was chosen before, to which the end of the mode leads back
}

// Restore makes the mode that a session was left in the one that is on, and returns the names
// of the one before and of this. The listeners are not told; Changed does that.
func (m *Modes) Restore(s *session.Session) (was, is string) {
	on := stateOf(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	was = m.on.Mode
	m.on, m.unrecorded = on, false
	m.apply()
	return was, on.Mode
}

// Changed tells the listeners what Restore did, and the user if nobody offers the mode.
func (m *Modes) Changed(ctx context.Context, was, is string) {
	if was != is {
		m.o.Emit(ctx, is, was, modeRestored)
	}
	m.tellMissing(ctx)
}

// Stay keeps the mode that is on for the present branch of the session s, which may say
// something else: then Record is due.
func (m *Modes) Stay(s *session.Session) {
	says := stateOf(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unrecorded = says.Mode != m.on.Mode
}

// stateOf returns what the branch of a session says of its mode.
func stateOf(s *session.Session) modeState {
	for _, e := range slices.Backward(s.Branch()) {
		if e.IsModeChange() {
			if body, err := session.Body[struct{ Data modeState }](e); err == nil {
				return body.Data
			}
		}
	}
	return modeState{}
}

// RecordAtRest records the mode in the session. It does nothing while a prompt runs, whose
// next turn records it, and in a session without entries, where the next prompt does.
func (m *Modes) RecordAtRest(ctx context.Context) {
	s := m.o.Session()
	if !m.o.IsIdle() || s.ReadOnly() || s.Leaf() == "" {
		return
	}
	if err := m.Record(); err != nil {
		m.o.Warn(ctx, err.Error())
	}
}

// Record appends an entry to the session for the mode that is on, unless the branch says so
// already.
func (m *Modes) Record() error {
	m.records.Lock()
	defer m.records.Unlock()
	m.mu.Lock()
	on, due := m.on, m.unrecorded
	m.unrecorded = false
	m.mu.Unlock()
	if !due {
		return nil
	}
	data, err := json.Marshal(on)
	if err == nil {
		_, err = m.o.Session().Append(session.TypeCustom, session.Custom{CustomType: session.ModeChange, Data: data})
	}
	return err
}
