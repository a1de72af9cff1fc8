// Package session keeps a conversation: what was said, in which order, on which
// branch, and what of it a model sees. What is said is of package message.
//
// A session is a file of lines. The first is a header; every other one is an
// [Entry] with an id and the id of its parent, so the entries form a tree. The
// leaf is the entry that the next one hangs on; after opening it is the last
// line. The way from the root to the leaf is the branch, and from the branch
// the context is built ([Session.Context]): messages, with what a compaction
// replaced left out and later edits applied. [ForModel] makes of it what is
// sent.
//
//	s := session.New(session.Options{Dir: root, Cwd: cwd})
//	s.AppendMessage(&message.Message{Role: message.RoleUser, …})
//	request := session.ForModel(s.Context())
//
// When a context becomes too long, package compaction says which part of it a summary can
// replace. The caller that makes the summary appends it as a compaction entry.
//
// [Session.MoveTo] goes on from another entry, in the same file;
// [Session.CopyPath] makes a session of its own of the way to one.
//
// Reading never changes a file. Writing only adds whole lines at its end, one
// write each, under a lock that only one process has ([Open], [OpenWait]);
// showing takes none ([Read]). Lines that another program adds without asking are read
// before the next write; a file that was removed, shortened or written anew is not
// added to. If writing fails for whatever reason, the entry is still part of the
// session, and the error is a *[SaveError].
//
// Inside, a loader makes entries of lines (load.go), a tree knows how they hang together
// (tree.go), and a journal (journal.go) writes lines through a store, which is the open and
// locked file (store.go, lock.go). A [Session] has one of each and the mutex that guards them.
// An entry is in entry.go, what it says in body.go; context.go makes of a branch what the model
// sees. A session is opened in open.go and grows in append.go.
//
// Entries and messages are immutable, keep the bytes they came from, and are
// decoded when they are first looked at: a large session opens about as fast
// as its file is read. Fields and entry types that nobody here knows survive.
package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/session/message"
	"pi/session/rawjson"
)

// Options say where and how a session is kept.
type Options struct {
	Dir      string           // root of all sessions; "" = a new session is never saved
	LockDir  string           // where hints about lock holders are left; "" = nowhere
	Cwd      string           // working directory, for the header and the folder
	ID       string           // of a new session, see [ValidID]; "": a fresh one
	Parent   string           // path of the session that this one is forked from
	Agent    AgentMark        // of a new session of an agent that another one uses
	Now      func() time.Time // nil: time.Now
	SyncEach bool             // sync after each entry

	// GitBranch returns the branch of git that Cwd is on now, "" if it is on none; nil: that
	// is not recorded.
	GitBranch func() string

	seams
}

// Session is a tree of entries and the file it lives in.
//
// One goroutine appends, moves the leaf, syncs and closes; any goroutine may
// read meanwhile. Lists that it returns are cut to length and capacity and
// never change, so a reader keeps what it saw.
type Session struct {
	opts Options
	path string // of the file; "" if the session is never saved

	// mu guards all that follows: an entry is in the tree and among the lines to be
	// written at the same moment.
	mu       sync.Mutex
	readOnly bool
	tree     tree
	loader   loader
	journal  journal
	problems problems

	watcher atomic.Pointer[func()] // see Watch
}

// Watch has f called after each change that added entries: they are in, nothing is
// locked, and the call is on the goroutine that added them. A call may also come where
// nothing was added. f takes the place of an earlier one; nil is none. Copies of the
// session are not watched.
func (s *Session) Watch(f func()) {
	if f == nil {
		s.watcher.Store(nil)
		return
	}
	s.watcher.Store(&f)
}

// tellWatcher is called, without the lock, when entries may have been added.
func (s *Session) tellWatcher() {
	if f := s.watcher.Load(); f != nil {
		(*f)()
	}
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.Header().ID }

// Cwd returns the directory the session was started in.
func (s *Session) Cwd() string { return s.Header().Cwd }

// Header returns the first line of the file.
func (s *Session) Header() Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loader.header
}

// File returns the path of the file, which may not exist yet; "" if the
// session is never saved.
func (s *Session) File() string { return s.path }

// ReadOnly reports whether appending is refused.
func (s *Session) ReadOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

// Leaf returns the id of the entry that the next one will hang on; "" in an
// empty session.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree.leaf == nil {
		return ""
	}
	return s.tree.leaf.ID
}

// Began returns when the conversation began: the time of its first entry, which copies of
// it keep, else that of the header. It is the zero time if neither can be read.
func (s *Session) Began() time.Time {
	if entries := s.Entries(); len(entries) > 0 {
		if at, err := time.Parse(time.RFC3339, entries[0].Timestamp); err == nil {
			return at
		}
	}
	at, _ := time.Parse(time.RFC3339, s.Header().Timestamp) // the zero time with an error
	return at
}

// Entry returns the entry with an id, or nil.
func (s *Session) Entry(id string) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.find(id)
}

// Entries returns all entries in the order of the file.
func (s *Session) Entries() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clipped(s.tree.entries)
}

// Branch returns the entries from the root to the leaf.
func (s *Session) Branch() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.path()
}

// Path returns the entries from the root to the one with the given id; nil if
// there is none.
func (s *Session) Path(id string) []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pathTo(s.tree.find(id))
}

// Unreached returns the entries that the conversation does not come by because the
// entry that it begins with lacks its parent, in the order of the file.
func (s *Session) Unreached() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, hidden := s.tree.unreached()
	return hidden
}

// Children returns the entries that hang on each one, in the order of the
// file, by the id of that one; "" has the roots.
func (s *Session) Children() map[string][]*Entry {
	entries := s.Entries()
	children := make(map[string][]*Entry, len(entries))
	for _, e := range entries {
		children[e.ParentID] = append(children[e.ParentID], e)
	}
	return children
}

// CommonAncestor returns the id of the last entry that lies on the paths to both
// a and b, "" if that is the root. An entry lies on the path to itself.
func (s *Session) CommonAncestor(a, b string) string {
	one, other := s.Path(a), s.Path(b)
	common := ""
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			break
		}
		common = one[i].ID
	}
	return common
}

// Labels returns the names of the entries that have one. Labels stand anywhere
// in the tree: the last one of the file that names an entry counts, and an
// empty one takes the name away.
func (s *Session) Labels() map[string]string {
	names := labelsIn(s.Entries())
	for id, name := range names {
		if name == "" {
			delete(names, id)
		}
	}
	return names
}

// labelsIn returns what entries say about names, "" for one that was taken away.
func labelsIn(entries []*Entry) map[string]string {
	names := map[string]string{}
	for _, e := range entries {
		if e.Type != TypeLabel {
			continue
		}
		if l, err := Body[Label](e); err == nil {
			names[l.TargetID] = l.Label
		}
	}
	return names
}

// Model returns the model that the branch used last: that of the last
// model_change or assistant message. Both are "" if there was none.
func (s *Session) Model() (provider, id string) {
	path := s.Branch()
	for i := len(path) - 1; i >= 0; i-- {
		switch e := path[i]; e.Type {
		case TypeModelChange:
			if c, err := Body[ModelChange](e); err == nil {
				return c.Provider, c.ModelID
			}
		case TypeMessage:
			if m := e.Message(); m != nil && m.Role == message.RoleAssistant && m.Model != "" {
				return m.Provider, m.Model
			}
		}
	}
	return "", ""
}

// ThinkingLevel returns the level set last on the branch, "" if none was.
func (s *Session) ThinkingLevel() string { return s.Thinking().ThinkingLevel }

// Thinking returns how the level was set last on the branch; the zero value if it never was.
func (s *Session) Thinking() ThinkingLevelChange {
	return lastBody[ThinkingLevelChange](s.Branch(), TypeThinkingLevelChange)
}

// Name returns the name given last, on whatever branch; "" if there is none.
func (s *Session) Name() string {
	return strings.TrimSpace(lastBody[SessionInfo](s.Entries(), TypeSessionInfo).Name)
}

// lastBody decodes the last entry of a type that can be decoded; the zero value if
// there is none.
func lastBody[T any](entries []*Entry, typ string) T {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Type != typ {
			continue
		}
		if body, err := Body[T](entries[i]); err == nil {
			return *body
		}
	}
	return *new(T)
}

// Problems returns what was wrong with the file, one sentence each, and forgets
// it: every problem is reported once. Bodies are read late, so building the
// context may bring up more.
func (s *Session) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems.take()
}

// noteUnreadable adds entries whose bodies turned out to be broken to the problems.
func (s *Session) noteUnreadable(path []*Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.problems
	for _, e := range path {
		if err, _ := e.decoded().(error); err != nil && !p.broken[e] {
			if p.broken == nil {
				p.broken = map[*Entry]bool{}
			}
			p.broken[e] = true
			p.add("line %d: the %s entry %s cannot be used: %v", e.line, e.Type, e.ID, err)
		}
	}
}

// UnknownTypes returns the line that tells of entries that are neither the core's nor of a type
// that is known, or "". known may be nil.
func (s *Session) UnknownTypes(known func(typ string) bool) string {
	counts := map[string]int{}
	var order []string
	for _, e := range s.Entries() {
		if Reserved(e.Type) || known != nil && known(e.Type) {
			continue
		}
		if counts[e.Type]++; counts[e.Type] == 1 {
			order = append(order, e.Type)
		}
	}
	if len(order) == 0 {
		return ""
	}
	for i, typ := range order {
		order[i] = fmt.Sprintf("%s (%d)", typ, counts[typ])
	}
	return "Session has entries of unknown types: " + strings.Join(order, ", ")
}

// GitBranch returns the branch of git that the conversation was on last, as far as its
// branch records it; "" if it does not.
func (s *Session) GitBranch() string {
	for _, e := range slices.Backward(s.Branch()) {
		if name, ok := e.OnGitBranch(); ok {
			return name
		}
	}
	return ""
}

// OnGitBranch returns the name of the branch of git that the entry records; false if it
// records none.
func (e *Entry) OnGitBranch() (name string, ok bool) {
	if !e.isOwn(GitBranch) {
		return "", false
	}
	body, err := Body[struct{ Data OnGitBranch }](e)
	if err != nil {
		return "", false
	}
	return body.Data.Name, true
}

// RecordGitBranch appends which branch of git the directory is on, unless it is on none or
// the branch of the session says so already.
func (s *Session) RecordGitBranch() error {
	if s.opts.GitBranch == nil {
		return nil
	}
	name := s.opts.GitBranch()
	if name == "" || name == s.GitBranch() {
		return nil
	}
	data, err := json.Marshal(OnGitBranch{name})
	if err == nil {
		_, err = s.Append(TypeCustom, Custom{CustomType: GitBranch, Data: data})
	}
	return err
}

// Show returns the session as one JSON object for people and programs that
// want to see what a model would: version, id, cwd, leaf, name, model
// ("provider/id"), thinking_level, the number of entries, and the context as
// messages, camelCase. A value that is not known is null.
func (s *Session) Show() ([]byte, error) {
	h := s.Header()
	provider, model := s.Model()
	if provider != "" {
		model = provider + "/" + model
	}
	context, err := s.showContext()
	if err != nil {
		return nil, err
	}
	var o rawjson.Object
	o.Int("version", int64(h.Version))
	o.Text("id", h.ID)
	o.Text("cwd", h.Cwd)
	o.Nullable("leaf", s.Leaf())
	o.Nullable("name", s.Name())
	o.Nullable("model", model)
	o.Nullable("thinking_level", s.ThinkingLevel())
	o.Int("entries", int64(len(s.Entries())))
	o.Put("context", context)
	return o.Bytes(), nil
}

// showContext returns the context as a JSON array of messages.
func (s *Session) showContext() ([]byte, error) {
	out := []byte{'['}
	for i, it := range s.Context() {
		if i > 0 {
			out = append(out, ',')
		}
		b, err := it.Message.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}
